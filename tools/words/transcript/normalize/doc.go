// Package normalize standardises transcripts the way Whisper's published evaluation does, so that an error rate counts
// words and not punctuation, casing or spelling habits.
//
// The rules are those of appendix C of "Robust Speech Recognition via Large-Scale Weak Supervision". [English]:
//
//  1. lower case (full Unicode mapping, final sigma included);
//  2. drop what is between matching brackets ("[…]", "<…>") and parentheses;
//  3. drop the fillers hmm, mm, mhm, mmm, uh, um; close up white space before an apostrophe;
//  4. spell out contractions and titles ("won't", "'ve", "mr");
//  5. drop commas between digits and full stops that no digit follows;
//  6. NFKD; drop combining marks and map the letters that NFKD leaves joined (ø, ß, …); other marks, symbols and
//     punctuation become spaces, save the signs that belong to numbers (. % $ ¢ € £);
//  7. write spelled-out numbers in digits ("twenty twenty five" is 2025, "five dollars and two cents" is $5.02);
//  8. British spellings become American ones (spellings.txt);
//  9. drop the number signs that are at no number; collapse white space.
//
// [Basic] is for every other language: lower case, the bracketed parts dropped, symbols made spaces after NFKC (or
// diacritics dropped after NFKD), optionally one grapheme cluster a word, white space collapsed.
//
// Rules apply one after another over the whole text, and patterns match leftmost first without overlap, as a regular
// expression substitution does; the results are equal, leading and trailing spaces included, to those of the port
// whisper-normalizer 0.1.15 (tools/dev/peers/run wer). Word characters, digits and white space are Unicode's. Known and
// kept on purpose, since published error rates contain them: "ninth" stays a word, a lone digit 1 becomes "one" even
// in "1.5", and typographic apostrophes do not mark contractions.
//
// Differences by design: invalid UTF-8 counts as U+FFFD, and a digit string of more than 4,300 digits stays a word
// where the port's integer conversion stops. Unicode tables are those of the Go release.
package normalize
