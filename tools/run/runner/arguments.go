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

// clause is one demand of the contract on a member of a spec.
type clause struct {
	member   string
	expected string
	// broken returns what was found where the demand is not met, or "".
	broken func(*Spec) string
}

const compiledEncoder = "a compiled encoder, which the runtime can load: compile a .mlpackage first"

// clauses are checked in this order, and the first broken one is told.
var clauses = []clause{
	{"schema", "1", found(func(s *Spec) (string, bool) { return strconv.Itoa(s.Schema), s.Schema == 1 })},
	{"kind", "coreml, canary or contrast", found(func(s *Spec) (string, bool) {
		return strconv.Quote(string(s.Kind)), slices.Contains([]evidence.Kind{evidence.KindCoreML, evidence.KindCanary, evidence.KindContrast}, s.Kind)
	})},
	{"lane", "physical or emulated", found(func(s *Spec) (string, bool) {
		return strconv.Quote(string(s.Lane)), s.Lane == evidence.LanePhysical || s.Lane == evidence.LaneEmulated
	})},
	{"flavour", strings.Join(whispercpp.Flavours, ", "), found(func(s *Spec) (string, bool) {
		return strconv.Quote(s.Flavour), slices.Contains(whispercpp.Flavours, s.Flavour)
	})},
	{"encoder", "the path of a .mlmodelc directory for a coreml run, and none for a canary or a contrast run", found(func(s *Spec) (string, bool) {
		return fmt.Sprintf("%q for a %s run", s.Encoder, s.Kind), (s.Kind == evidence.KindCoreML) == (s.Encoder != "")
	})},
	{"encoder", compiledEncoder, found(func(s *Spec) (string, bool) {
		ext := filepath.Ext(filepath.Clean(s.Encoder))
		return strconv.Quote(s.Encoder), !strings.EqualFold(ext, ".mlpackage") && !strings.EqualFold(ext, ".mlmodel")
	})},
	{"threads", "1 to 512", found(func(s *Spec) (string, bool) { return strconv.Itoa(s.Threads), s.Threads >= 1 && s.Threads <= 512 })},
	{"deadline_seconds", "1 to 86400", found(func(s *Spec) (string, bool) {
		return strconv.Itoa(s.DeadlineSeconds), s.DeadlineSeconds >= 1 && s.DeadlineSeconds <= 24*3600
	})},
	{"fault", "none: only the emulated lane's double has faults", found(func(s *Spec) (string, bool) {
		return s.fault(), s.Lane == evidence.LaneEmulated || s.fault() == "none"
	})},
	{"heap_fill", "0, or on the emulated lane a byte from 1 to 255", found(func(s *Spec) (string, bool) {
		return strconv.Itoa(s.HeapFill), s.HeapFill == 0 || s.HeapFill > 0 && s.HeapFill <= 255 && s.Lane == evidence.LaneEmulated
	})},
	{"warm_up", "a physical coreml run: a canary is never warmed", found(func(s *Spec) (string, bool) {
		return fmt.Sprintf("a run of kind %s on lane %s", s.Kind, s.Lane), !s.WarmUp || s.Kind == evidence.KindCoreML && s.Lane == evidence.LanePhysical
	})},
	{"attempt", "none, or for a coreml run a number up to 1048576: a canary is never asked for again", found(func(s *Spec) (string, bool) {
		return strconv.Itoa(s.Attempt), s.Attempt == 0 || s.Attempt > 0 && s.Attempt <= 1<<20 && s.Kind == evidence.KindCoreML
	})},
	{"attempt_ledger", "an absolute folder, and no attempt_token beside it", found(func(s *Spec) (string, bool) {
		return s.AttemptLedger, s.AttemptLedger == "" || s.AttemptToken == "" && filepath.IsAbs(s.AttemptLedger)
	})},
	{"evaluator", "the path of gate_evaluator: the emulated lane's double starts it", found(func(s *Spec) (string, bool) {
		return "none", s.Lane != evidence.LaneEmulated || s.Flavour == "ggml" || s.Evaluator != ""
	})},
	{"language", "a language code or name in lower case, such as en", found(func(s *Spec) (string, bool) {
		return strconv.Quote(s.Language), s.language() != "auto" && validLanguage(s.language())
	})},
}

// found makes the broken function of a clause from what the spec says and whether that is right.
func found(of func(*Spec) (says string, right bool)) func(*Spec) string {
	return func(s *Spec) string {
		says, right := of(s)
		switch {
		case right:
			return ""
		case says == "":
			return "none"
		}
		return says
	}
}

// Check compares the spec with the contract before anything is read or started.
func (s *Spec) Check() error {
	if !strings.HasSuffix(s.Model, ".bin") {
		return reason.Errorf(reason.ModelName, "model", "a file name that ends in .bin: the encoder's path is derived by cutting at the last dot of the whole path", "%s", s.Model)
	}
	for _, c := range clauses {
		if found := c.broken(s); found != "" {
			return reason.Errorf(reason.SpecRefused, c.member, c.expected, "%s", found)
		}
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
