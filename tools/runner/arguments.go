package runner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/evidence"
)

// Refusal is an input that the contract forbids; nothing was started.
type Refusal struct {
	// Code is the reason code that a judge would give.
	Code string
	// Expected and Found say what was wanted and what was there; Where names the input.
	Expected, Found, Where string
}

// Error implements error.
func (r *Refusal) Error() string {
	return fmt.Sprintf("%s: %s: expected %s, found %s", r.Code, r.Where, r.Expected, r.Found)
}

// rule is what the contract says about one option of whisper-cli.
type rule struct {
	// values is the number of values that the option takes, 0 or 1.
	values int
	// refuse says why the option is forbidden; empty when it is allowed.
	refuse string
}

const (
	blinds    = "it silences the log lines that are judged"
	shape     = "the encoder's input has a fixed shape, and another width fails silently"
	loads     = "each further processor loads the encoder again"
	own       = "the runner sets it itself"
	writes    = "it writes files, and a run leaves nothing but its streams"
	noRun     = "it ends the program without a run"
	otherPath = "it takes a file that evidence would not bind"
	changes   = "it changes what is heard or how it is decoded from the pinned decoding"
	dtw       = "a wrong preset exits 3 as a refused encoder does"
	device    = "the compute device belongs to the lane"
)

// options lists every option of whisper-cli at the supported pin, in each spelling. Whatever is not
// listed is refused: the program exits 0 on an unknown argument.
var options = expand(map[string]rule{
	"-h --help": {0, noRun}, "--version": {0, noRun},
	"-t --threads": {1, own}, "-p --processors": {1, loads},
	"-ot --offset-t": {1, changes}, "-on --offset-n": {1, changes}, "-d --duration": {1, changes},
	"-mc --max-context": {1, ""}, "-ml --max-len": {1, ""}, "-bo --best-of": {1, ""}, "-bs --beam-size": {1, ""},
	"-ac --audio-ctx":  {1, shape},
	"-wt --word-thold": {1, ""}, "-et --entropy-thold": {1, ""}, "-lpt --logprob-thold": {1, ""}, "-nth --no-speech-thold": {1, ""},
	"-tp --temperature": {1, own}, "-tpi --temperature-inc": {1, own},
	"-debug --debug-mode": {0, writes}, "-tr --translate": {0, changes}, "-di --diarize": {0, changes}, "-tdrz --tinydiarize": {0, changes},
	"-sow --split-on-word": {0, ""}, "-nf --no-fallback": {0, ""},
	"-otxt --output-txt": {0, writes}, "-ovtt --output-vtt": {0, writes}, "-osrt --output-srt": {0, writes},
	"-owts --output-words": {0, writes}, "-olrc --output-lrc": {0, writes}, "-ocsv --output-csv": {0, writes},
	"-oj --output-json": {0, writes}, "-ojf --output-json-full": {0, writes}, "-of --output-file": {1, writes},
	"-fp --font-path":     {1, otherPath},
	"-np --no-prints":     {0, blinds},
	"-ps --print-special": {0, changes}, "-pc --print-colors": {0, changes}, "--print-confidence": {0, changes}, "-pp --print-progress": {0, ""},
	"-nt --no-timestamps": {0, own}, "-l --language": {1, own}, "-dl --detect-language": {0, noRun},
	"--prompt": {1, changes}, "--carry-initial-prompt": {0, changes},
	"-m --model": {1, own}, "-f --file": {1, own}, "-oved --ov-e-device": {1, device},
	"-dtw --dtw": {1, dtw}, "-ls --log-score": {0, writes}, "-ng --no-gpu": {0, device}, "-dev --device": {1, device},
	"-fa --flash-attn": {0, ""}, "-nfa --no-flash-attn": {0, ""},
	"-sns --suppress-nst": {0, ""}, "--suppress-regex": {1, changes},
	"--grammar": {1, otherPath}, "--grammar-rule": {1, changes}, "--grammar-penalty": {1, changes},
	"--vad": {0, otherPath}, "-vm --vad-model": {1, otherPath}, "-vt --vad-threshold": {1, changes},
	"-vspd --vad-min-speech-duration-ms": {1, changes}, "-vsd --vad-min-silence-duration-ms": {1, changes},
	"-vmsd --vad-max-speech-duration-s": {1, changes}, "-vp --vad-speech-pad-ms": {1, changes}, "-vo --vad-samples-overlap": {1, changes},
})

func expand(spellings map[string]rule) map[string]rule {
	out := map[string]rule{}
	for names, r := range spellings {
		for _, name := range strings.Fields(names) {
			out[name] = r
		}
	}
	return out
}

// CheckArguments holds extra arguments for whisper-cli against the contract. It reads them as the
// program does: an option is recognised only where it is not the value of the one before, and
// "--option=value" is no spelling that the program knows.
func CheckArguments(arguments []string) error {
	for i := 0; i < len(arguments); i++ {
		arg := arguments[i]
		where := fmt.Sprintf("argument %d, %q", i+1, arg)
		refuse := func(expected, found string) error {
			return &Refusal{Code: "FORBIDDEN_ARGUMENT", Expected: expected, Found: found, Where: where}
		}
		switch {
		case strings.HasPrefix(arg, "@"):
			return refuse("arguments spelled out", "a response file, whose content evidence would not show")
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			return refuse("no further input", "an input file: a run hears exactly the one fixture")
		}
		name, _, joined := strings.Cut(arg, "=")
		r, known := options[name]
		switch {
		case known && r.refuse != "":
			if name == "-p" || name == "--processors" {
				if !joined && i+1 < len(arguments) && arguments[i+1] == "1" {
					i++
					continue
				}
			}
			return refuse("no "+name, r.refuse)
		case joined && known:
			return refuse("option and value as two arguments", "a joined spelling, on which the program exits 0 without a run")
		case !known:
			return refuse("an option that whisper-cli at the supported pin has", "an unknown one, on which the program exits 0 without a run")
		}
		if r.values == 0 {
			continue
		}
		if i+1 == len(arguments) {
			return refuse("a value after "+name, "none, on which the program exits 0 without a run")
		}
		i++
		if _, err := strconv.ParseFloat(arguments[i], 32); err != nil {
			return refuse("a number after "+name, fmt.Sprintf("%q, on which the program aborts", arguments[i]))
		}
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
		return &Refusal{Code: "SPEC_REFUSED", Expected: expected, Found: found, Where: where}
	}
	switch {
	case s.Schema != 1:
		return refuse("schema", "1", strconv.Itoa(s.Schema))
	case !slices.Contains([]evidence.Kind{evidence.KindCoreML, evidence.KindCanary, evidence.KindContrast}, s.Kind):
		return refuse("kind", "coreml, canary or contrast", strconv.Quote(string(s.Kind)))
	case s.Lane != evidence.LanePhysical && s.Lane != evidence.LaneEmulated:
		return refuse("lane", "physical or emulated", strconv.Quote(string(s.Lane)))
	case !slices.Contains(Flavours, s.Flavour):
		return refuse("flavour", strings.Join(Flavours, ", "), strconv.Quote(s.Flavour))
	case s.Kind == evidence.KindCoreML && s.Encoder == "":
		return refuse("encoder", "the path of a .mlmodelc directory for a coreml run", "none")
	case s.Kind != evidence.KindCoreML && s.Encoder != "":
		return refuse("encoder", fmt.Sprintf("none: a %s run has no encoder beside the model", s.Kind), s.Encoder)
	case !strings.HasSuffix(s.Model, ".bin"):
		return &Refusal{Code: "MODEL_NAME", Where: "model", Found: s.Model,
			Expected: "a file name that ends in .bin: the encoder's path is derived by cutting at the last dot of the whole path"}
	case s.Threads < 1 || s.Threads > 512:
		return refuse("threads", "1 to 512", strconv.Itoa(s.Threads))
	case s.DeadlineSeconds < 1 || s.DeadlineSeconds > 24*3600:
		return refuse("deadline_seconds", "1 to 86400", strconv.Itoa(s.DeadlineSeconds))
	case s.Lane == evidence.LanePhysical && s.Fault != "" && s.Fault != "none":
		return refuse("fault", "none: only the emulated lane's double has faults", s.Fault)
	case s.WarmUp && (s.Kind != evidence.KindCoreML || s.Lane != evidence.LanePhysical):
		return refuse("warm_up", "a physical coreml run: a canary is never warmed", fmt.Sprintf("a run of kind %s on lane %s", s.Kind, s.Lane))
	case s.Lane == evidence.LaneEmulated && s.Flavour != "ggml" && s.Evaluator == "":
		return refuse("evaluator", "the path of gate_evaluator: the emulated lane's double starts it", "none")
	case s.language() == "auto" || !validLanguage(s.language()):
		return refuse("language", "a language code or name in lower case, such as en", strconv.Quote(s.Language))
	}
	return CheckArguments(s.Arguments)
}

// Flavours are the ways in which whisper-cli is built.
var Flavours = []string{"ggml", "coreml", "coreml_allow_fallback", "coreml_unpatched", "coreml_allow_fallback_unpatched"}

func validLanguage(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && r != ' ' {
			return false
		}
	}
	return s != ""
}
