package whispercpp

// Exit codes of examples/cli/cli.cpp.
const (
	ExitArguments = 1
	ExitNoInput   = 2
	ExitNoContext = 3
	ExitGrammar   = 4
	ExitFailed    = 10
)

// ExitCauses says in words what an exit code other than 0 of whisper-cli stands for. 0 is a run, and also audio that
// cannot be decoded, an output that cannot be written, and most faults of the command line.
var ExitCauses = map[int]string{
	ExitArguments: "a missing response file",
	ExitNoInput:   "no input file",
	ExitNoContext: "no context, or an unknown --dtw preset",
	ExitGrammar:   "a grammar that does not parse",
	ExitFailed:    "whisper_full failed",
}
