// Package editdist aligns two sequences with the fewest edits (Levenshtein distance, every edit costs one).
//
// The matrix is computed 64 cells at a time, as vertical differences in bit vectors (Myers 1999 in Hyyrö's 2003 form),
// inside the band of diagonals that a path of the known or guessed distance can reach (Ukkonen 1985). Memory is bounded:
// a problem whose band needs more than one mebibyte of stored bits is divided at the middle of the hypothesis
// (Hirschberg 1975), so even 100,000 against 100,000 elements need a few megabytes.
//
// Ties are broken the same way every time, and as rapidfuzz 3 does, whose alignments jiwer reports. Backwards from the
// end: a deletion if one is optimal, else an insertion, else a match or substitution. A division takes the smallest
// position in the reference that lies on an optimal path; common prefixes and suffixes are matched first. Which of
// several optimal alignments is taken decides how a distance divides into substitutions, insertions and deletions, so
// this order is part of the package's contract.
package editdist
