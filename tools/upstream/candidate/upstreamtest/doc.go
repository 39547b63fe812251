// Package upstreamtest asks package candidate about upstream's real source: the pinned src/whisper.cpp as it was
// fetched, and variants made from it in memory, as later revisions may look. It has tests only.
//
// The file is named by the environment variable WHISPER_CPP_SOURCE: a path, or, under Bazel, a runfiles path. A
// missing file fails the test: it never skips.
package upstreamtest
