// Package upstreamtest checks the derived encoder path of package whispercpp against upstream's own C++ function.
// It has tests only: they cut whisper_get_coreml_path_encoder out of the pinned
// src/whisper.cpp, compile it, and compare the two over hand-made and random
// arguments.
//
// The file is named by the environment variable WHISPER_CPP_SOURCE: a path, or,
// under Bazel, a runfiles path. The compiler is CXX, else c++. A missing file or
// compiler fails the test: it never skips.
package upstreamtest
