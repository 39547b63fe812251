package mutants

import (
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
)

// texts are logs that someone has at hand and takes for a run's.
func texts() []Mutant {
	text := func(id, made, code, log string) Mutant {
		return Mutant{ID: "text-" + id, Fakes: "the log of a run", Made: made, Code: code, Answer: func() (*verdict.Findings, error) {
			r, err := judge.ParseLog([]byte(log))
			if err != nil {
				return refusal(err)
			}
			return &judge.Judge(r).Findings, nil
		}}
	}
	return []Mutant{
		text("no-exit", "nothing says how the program ended", reason.ExitMissing, evidencetest.Stderr(evidence.KindCoreML)),
		text("dtw", "a refusal for want of an alignment preset", reason.DTWPreset, "exit: 3\nerror: unknown DTW preset 'tiny.xx'\n"),
		text("not-started", "the shell's refusal to start the program", reason.ProgramNotStarted, "exit: 126\nbash: ./whisper-cli: Permission denied\n"),
		text("build-failed", "Bazel's, of a build that failed", reason.BuildFailed, "exit: 1\nERROR: /w/gate/BUILD.bazel:7:9: Compiling src/whisper.cpp failed: (Exit 1): clang failed: error executing CppCompile command\n"),
		text("remote-failed", "Bazel's, of a service that could not be reached", reason.RemoteFailed, "exit: 34\nERROR: /w/gate/BUILD.bazel:7:9: GateRun gate/coreml_run.evidence.json failed: (Exit 34): Exec failed due to IOException: UNAVAILABLE: io exception\n"),
		text("coremlc-missing", "the shell's, where there is no coremlc", reason.CoremlcMissing, "exit: 72\nxcrun: error: unable to find utility \"coremlc\", not a developer tool or in PATH\n"),
		text("coremlc-failed", "coremlc's, of a model that it cannot read", reason.CoremlcFailed, "exit: 1\ncoremlc: error: Error reading protobuf spec. validator error: Unable to parse ML Program\n"),
		text("converter-failed", "the converter's own error", reason.ConverterFailed, "exit: 1\nNotImplementedError: PyTorch convert function for op 'scaled_dot' not implemented.\n"),
		text("plan-failed", "the compute-plan reader's error", reason.ComputePlanFailed, "exit: 1\nError while loading the compute plan: no such file\n"),
		text("power", "a reading of power that is zero", reason.PowerSaysNothing, "exit: 0\nANE Power: 0 mW\n"),
	}
}
