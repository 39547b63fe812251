package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// entry is one command, with what the frame around it has to know. Help, pages, completions and tests read this table.
type entry struct {
	// path is the command's name below coregate, such as "pin verify".
	path string
	// group is the heading that help lists it under; empty for a command below another.
	group string
	make  func() *cobra.Command
	// exits says what its exit codes mean, in their order.
	exits []exit
	// stdin names the argument that may be "-", standard input; empty if none may.
	stdin string
	// stdinFlags are flags whose file may be standard input too.
	stdinFlags []string
	// document says that standard output is one document in a form of its own, so that there is no --json.
	document bool
	// cleans says that the command itself ends when its context does: it has processes to stop or files to finish. Any other is
	// ended at once.
	cleans bool
	// talks says that the command hands the terminal to another program, which says how far it is.
	talks bool
	// examples are command lines, each of which a test parses.
	examples []string
}

// exit is an exit code and its meaning.
type exit struct {
	code  string
	means string
}

// The groups of help, in their order.
const (
	groupRuns     = "Runs and their evidence:"
	groupEncoders = "Models and encoders:"
	groupReceipts = "Receipts:"
	groupUpstream = "whisper.cpp, its patch and its programs:"
	groupMeasure  = "Time and memory:"
	groupProgram  = "This program:"
)

var groups = []string{groupRuns, groupEncoders, groupReceipts, groupUpstream, groupMeasure, groupProgram}

var (
	exitNotJudged = exit{"2", "could not judge: usage, input or output"}
	exitNotDone   = exit{"2", "could not do it: usage, input or output"}
	exitStopped   = exit{"130", "stopped by Ctrl-C (143: by SIGTERM)"}

	judges = []exit{{"0", "pass"}, {"1", "fail"}, exitNotJudged, {"3", "inconclusive"}, exitStopped}
	works  = []exit{{"0", "done"}, exitNotDone, exitStopped}
)

// table is every command, in the order of help. A file that adds a command adds a row.
var table []entry

// The table is filled here since commands that describe others read it, which would be a cycle.
func init() {
	table = rows()
}

func rows() []entry {
	return []entry{
		{path: "run", group: groupRuns, make: newRunCmd, exits: judges, cleans: true, examples: []string{
			"coregate run --cli whisper-cli --model ggml-tiny.en.bin --encoder ggml-tiny.en-encoder.mlmodelc --audio jfk.wav --pin pin.json --evaluator gate_evaluator --evidence evidence.json",
			"coregate run --kind canary --cli whisper-cli --model ggml-tiny.en.bin --audio jfk.wav --pin pin.json --evaluator gate_evaluator",
		}},
		{path: "judge", group: groupRuns, make: newJudgeCmd, exits: judges, stdin: "EVIDENCE.json", stdinFlags: []string{"log", "coreml", "canary", "contrast", "reference"}, examples: []string{
			"coregate judge evidence.json",
			"coregate judge --log run.log --exit 0",
			"coregate judge --log - --kind canary --exit 3",
			"coregate judge --coreml coreml.json --canary canary.json --contrast contrast.json --reference words.txt",
		}},
		{path: "transcripts", group: groupRuns, make: newTranscriptsCmd, exits: judges, cleans: true, examples: []string{"coregate transcripts bazel-bin/gate/words"}},

		{path: "inspect", group: groupEncoders, make: newInspectCmd, exits: judges, examples: []string{
			"coregate inspect ggml-tiny.en.bin ggml-tiny.en-encoder.mlmodelc",
			"coregate inspect models/",
		}},
		{path: "derive", group: groupEncoders, make: newDeriveCmd, exits: works, examples: []string{"coregate derive models/ggml-small.en-q5_1.bin"}},
		{path: "parity", group: groupEncoders, make: newParityCmd, exits: judges, cleans: true, examples: []string{
			"coregate parity --model ggml-tiny.en.bin --encoder ggml-tiny.en-encoder.mlmodelc",
			"coregate parity --model ggml-tiny.en.bin --encoder ggml-tiny.en-encoder.mlmodelc --policy fp16_v1 --bisect",
		}},
		{path: "predict", group: groupEncoders, make: newPredictCmd, exits: works, cleans: true, examples: []string{
			"coregate predict --model ggml-tiny.en.bin --encoder ggml-tiny.en-encoder.mlmodelc --out out.npy",
		}},
		{path: "repeat", group: groupEncoders, make: newRepeatCmd, exits: judges, cleans: true, examples: []string{
			"coregate repeat --probe coremlprobe --model ggml-tiny.en.bin --encoder ggml-tiny.en-encoder.mlmodelc",
		}},
		{path: "placement", group: groupEncoders, make: newPlacementCmd, exits: judges, cleans: true, stdinFlags: []string{"plan", "power", "power-control"}, examples: []string{
			"coregate placement --encoder ggml-tiny.en-encoder.mlmodelc --probe ./coremlprobe --record plan.json",
			"coregate placement --encoder ggml-tiny.en-encoder.mlmodelc --plan plan.json",
		}},
		{path: "placement record", make: newPlacementRecordCmd, exits: works, cleans: true, examples: []string{
			"coregate placement record --cli whisper-cli --model ggml-tiny.en.bin --audio jfk.wav --out recording",
		}},
		{path: "mel", group: groupEncoders, make: newMelCmd, exits: works, examples: []string{"coregate mel --model ggml-tiny.en.bin --audio jfk.wav --out mel.npy"}},
		{path: "mil", group: groupEncoders, make: newMilCmd},
		{path: "mil ops", make: newMilOpsCmd, exits: works, examples: []string{"coregate mil ops"}},
		{path: "mil check", make: newMilCheckCmd, exits: judges, examples: []string{"coregate mil check ggml-tiny.en-encoder.mlmodelc"}},
		{path: "mil hard", make: newMilHardCmd, exits: judges, cleans: true, examples: []string{"coregate mil hard"}},

		{path: "verify", group: groupReceipts, make: newVerifyCmd, stdin: "SIGNED",
			exits: []exit{{"0", "verified"}, {"1", "not verified"}, exitNotJudged, {"3", "stale, made by a newer version, or inconclusive"}, exitStopped},
			examples: []string{
				"coregate verify --key P.pem signed.json",
				"coregate verify --key P.pem --lane physical --max-age 720h --cli whisper-cli --model ggml-tiny.en.bin signed.json",
			}},
		{path: "sign", group: groupReceipts, make: newSignCmd, exits: works, stdin: "RECEIPT", document: true, examples: []string{
			"coregate sign --key K.pem --time now receipt.json",
		}},
		{path: "diff", group: groupReceipts, make: newDiffCmd, stdin: "A or B",
			exits:    []exit{{"0", "nothing changed"}, {"1", "something changed"}, exitNotDone, {"3", "one of them was made by a newer version"}, exitStopped},
			examples: []string{"coregate diff old.json receipt.json"}},
		{path: "report", group: groupReceipts, make: newReportCmd, stdin: "RECEIPT", document: true,
			exits:    []exit{{"0", "written"}, exitNotDone, {"3", "the receipt was made by a newer version"}, exitStopped},
			examples: []string{"coregate report --out receipt.html receipt.json", "coregate report --format text receipt.json"}},
		{path: "audit", group: groupReceipts, make: newAuditCmd, exits: judges, stdin: "RECEIPT", cleans: true, talks: true, examples: []string{
			"coregate audit --workspace checkout receipt.json",
		}},

		{path: "binary", group: groupUpstream, make: newBinaryCmd, exits: judges, stdin: "WHISPER-CLI", examples: []string{"coregate binary --flavour coreml --lane physical whisper-cli"}},
		{path: "pin", group: groupUpstream, make: newPinCmd},
		{path: "pin verify", make: newPinVerifyCmd, exits: judges, examples: []string{"coregate pin verify --source whisper.cpp"}},
		{path: "pin make", make: newPinMakeCmd, exits: works, examples: []string{"coregate pin make --source whisper.cpp --commit HEAD --name ours --out whisper"}},
		{path: "pin manifest", make: newPinManifestCmd, exits: works, examples: []string{"coregate pin manifest --source whisper.cpp --like third_party/whisper_cpp/pins/97c56f1d.manifest"}},
		{path: "pin candidate", make: newPinCandidateCmd, exits: judges, cleans: true, examples: []string{"coregate pin candidate --source whisper.cpp --commit HEAD"}},
		{path: "patch", group: groupUpstream, make: newPatchCmd},
		{path: "patch verify", make: newPatchVerifyCmd, exits: judges, examples: []string{"coregate patch verify --source whisper.cpp"}},
		{path: "ab", group: groupUpstream, make: newABCmd, exits: judges, cleans: true, examples: []string{
			"coregate ab --unpatched whisper-cli-unpatched --patched whisper-cli --model ggml-tiny.en.bin --audio jfk.wav",
		}},
		{path: "sanitize", group: groupUpstream, make: newSanitizeCmd, exits: judges, cleans: true, examples: []string{
			"coregate sanitize --build plain=whisper-cli-unpatched,whisper-cli --model ggml-tiny.en.bin --audio jfk.wav",
		}},

		{path: "bench", group: groupMeasure, make: newBenchCmd, cleans: true,
			exits: []exit{{"0", "every arm passed the filter"}, {"1", "a rate is implausible, or the submission is refused"}, exitNotJudged, {"3", "runs were kept but excluded"}, exitStopped},
			examples: []string{
				"coregate bench --arm coreml=ggml-tiny.en-encoder.mlmodelc --cli whisper-cli --model ggml-tiny.en.bin --audio jfk.wav --evaluator gate_evaluator --out session.json",
			}},
		{path: "bench report", make: newBenchReportCmd, stdin: "SUBMISSION.json", document: true,
			exits:    []exit{{"0", "written"}, {"1", "the submissions are refused, or cannot be compared"}, exitNotDone, exitStopped},
			examples: []string{"coregate bench report --out bench.html session.json"}},
		{path: "bench merge", make: newBenchMergeCmd, stdin: "SUBMISSION.json",
			exits:    []exit{{"0", "merged"}, {"1", "the submissions are refused, or cannot be compared"}, exitNotDone, exitStopped},
			examples: []string{"coregate bench merge --out all.json session.json other.json"}},
		{path: "bench claim", make: newBenchClaimCmd, exits: judges, stdin: "SUBMISSION.json", examples: []string{
			"coregate bench claim --claim faster --arm coreml --than ggml session.json",
		}},
		{path: "fit", group: groupMeasure, make: newFitCmd, stdinFlags: []string{"measured"},
			exits:    []exit{{"0", "it fits"}, {"1", "it does not fit"}, exitNotJudged, {"3", "that cannot be told"}, exitStopped},
			examples: []string{"coregate fit --model ggml-large-v3.bin --encoder ggml-large-v3-encoder.mlmodelc"}},

		{path: "explain", group: groupProgram, make: newExplainCmd, exits: works, examples: []string{"coregate explain LOAD_MARKER_ABSENT"}},
		{path: "version", group: groupProgram, make: newVersionCmd, exits: works, examples: []string{"coregate version --json"}},
		{path: "completion", group: groupProgram, make: newCompletionCmd, exits: works, document: true, examples: []string{
			"coregate completion bash",
			"coregate completion zsh",
			"coregate completion fish",
		}},
		{path: "man", group: groupProgram, make: newManCmd, exits: works, document: true, examples: []string{"coregate man pin verify", "coregate man --out man1"}},
	}
}

// readers names what may be standard input, for help; empty if nothing may.
func (e entry) readers() string {
	var names []string
	if e.stdin != "" {
		names = append(names, e.stdin)
	}
	for _, name := range e.stdinFlags {
		names = append(names, "--"+name)
	}
	return strings.Join(names, ", ")
}

// entryOf finds the row of a command; a group of commands and coregate itself have no exit codes of their own.
func entryOf(cmd *cobra.Command) entry {
	path := pathOf(cmd)
	if i := slices.IndexFunc(table, func(e entry) bool { return e.path == path }); i >= 0 {
		return table[i]
	}
	return entry{path: path}
}
