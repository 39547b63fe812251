// Package transcript compares what three sides heard in the same recordings: the source model, whisper.cpp with ggml's
// own encoder, and whisper.cpp with the Core ML encoder.
//
// Texts are standardised first (package normalize), aligned by words or by characters (package editdist), and counted
// as substitutions, insertions and deletions. Two deltas are kept apart: hybrid against source ("is the answer right")
// and hybrid against ggml ("did Core ML change it"), so that a fault of the conversion to ggml is not blamed on Core
// ML. [Judge] applies a frozen [Policy] to what [Compare] counted; both are pure functions.
//
// Unless a fixture is declared public, a [Comparison] holds digests and counts but no word of a transcript.
package transcript
