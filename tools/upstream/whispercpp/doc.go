// Package whispercpp states what is true of upstream whisper.cpp at the supported pin: what the gates
// read, pass or rely on. It imports nothing of ours.
//
//	options.go      the command line of whisper-cli and what the contract says of each option
//	decoding.go     decoding defaults, and how a command line decodes
//	lines.go        the log lines that a judge reads
//	exit.go         exit codes and their causes
//	encodername.go  where the runtime looks for a model's encoder
//	clauses.go      the places in upstream's source on which all of this rests
//	flavours.go     the ways in which whisper-cli is built, and the macros of each
//	program.go      texts and symbols by which a built program is recognised
//
// A new pin changes this folder and third_party/whisper_cpp/pins, and no other.
package whispercpp
