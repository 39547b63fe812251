package runner

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// CheckArguments holds extra arguments for whisper-cli against the contract.
func CheckArguments(arguments []string) error {
	for _, v := range whispercpp.CheckArguments(arguments) {
		return reason.Errorf(reason.ForbiddenArgument, fmt.Sprintf("argument %d, %q", v.Index+1, arguments[v.Index]), v.Expected, "%s", v.Found)
	}
	return nil
}

// argv returns the whole argument list of a run, the program's name first. All paths are staged
// names: the working directory is the staging directory.
func (s *Spec) argv(audioName string) []string {
	return slices.Concat(
		[]string{stagedCLI, "-m", stagedModel, "-f", audioName, "-l", s.language(), "-t", strconv.Itoa(s.Threads),
			"--no-timestamps", "--temperature", "0", "--temperature-inc", "0"},
		s.Arguments)
}

func (s *Spec) language() string {
	if s.Language == "" {
		return "en"
	}
	return s.Language
}

// Check holds the spec against the contract before anything is read or started.
func (s *Spec) Check() error {
	refuse := func(where, expected, found string) error {
		return reason.Errorf(reason.SpecRefused, where, expected, "%s", found)
	}
	switch {
	case s.Schema != 1:
		return refuse("schema", "1", strconv.Itoa(s.Schema))
	case !slices.Contains([]evidence.Kind{evidence.KindCoreML, evidence.KindCanary, evidence.KindContrast}, s.Kind):
		return refuse("kind", "coreml, canary or contrast", strconv.Quote(string(s.Kind)))
	case s.Lane != evidence.LanePhysical && s.Lane != evidence.LaneEmulated:
		return refuse("lane", "physical or emulated", strconv.Quote(string(s.Lane)))
	case !slices.Contains(whispercpp.Flavours, s.Flavour):
		return refuse("flavour", strings.Join(whispercpp.Flavours, ", "), strconv.Quote(s.Flavour))
	case s.Kind == evidence.KindCoreML && s.Encoder == "":
		return refuse("encoder", "the path of a .mlmodelc directory for a coreml run", "none")
	case s.Kind != evidence.KindCoreML && s.Encoder != "":
		return refuse("encoder", fmt.Sprintf("none: a %s run has no encoder beside the model", s.Kind), s.Encoder)
	case !strings.HasSuffix(s.Model, ".bin"):
		return reason.Errorf(reason.ModelName, "model", "a file name that ends in .bin: the encoder's path is derived by cutting at the last dot of the whole path", "%s", s.Model)
	case s.Threads < 1 || s.Threads > 512:
		return refuse("threads", "1 to 512", strconv.Itoa(s.Threads))
	case s.DeadlineSeconds < 1 || s.DeadlineSeconds > 24*3600:
		return refuse("deadline_seconds", "1 to 86400", strconv.Itoa(s.DeadlineSeconds))
	case s.Lane == evidence.LanePhysical && s.Fault != "" && s.Fault != "none":
		return refuse("fault", "none: only the emulated lane's double has faults", s.Fault)
	case s.HeapFill < 0 || s.HeapFill > 255 || s.HeapFill != 0 && s.Lane != evidence.LaneEmulated:
		return refuse("heap_fill", "0, or on the emulated lane a byte from 1 to 255", strconv.Itoa(s.HeapFill))
	case s.WarmUp && (s.Kind != evidence.KindCoreML || s.Lane != evidence.LanePhysical):
		return refuse("warm_up", "a physical coreml run: a canary is never warmed", fmt.Sprintf("a run of kind %s on lane %s", s.Kind, s.Lane))
	case s.Attempt < 0 || s.Attempt > 1<<20 || s.Attempt != 0 && s.Kind != evidence.KindCoreML:
		return refuse("attempt", "none, or for a coreml run a number up to 1048576: a canary is never asked for again", strconv.Itoa(s.Attempt))
	case s.AttemptLedger != "" && (s.AttemptToken != "" || !filepath.IsAbs(s.AttemptLedger)):
		return refuse("attempt_ledger", "an absolute folder, and no attempt_token beside it", s.AttemptLedger)
	case s.Lane == evidence.LaneEmulated && s.Flavour != "ggml" && s.Evaluator == "":
		return refuse("evaluator", "the path of gate_evaluator: the emulated lane's double starts it", "none")
	case s.language() == "auto" || !validLanguage(s.language()):
		return refuse("language", "a language code or name in lower case, such as en", strconv.Quote(s.Language))
	}
	return CheckArguments(s.Arguments)
}

func validLanguage(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && r != ' ' {
			return false
		}
	}
	return s != ""
}
