package whispercpp

import (
	"fmt"
	"strconv"
)

// Decoding is how a text was decoded. Two sides are comparable only if it is the same on both.
type Decoding struct {
	Language             string  `json:"language"`
	Task                 string  `json:"task"` // transcribe or translate
	Timestamps           bool    `json:"timestamps"`
	Temperature          float64 `json:"temperature"`
	TemperatureIncrement float64 `json:"temperature_increment"` // 0: no fallback to sampling
	BeamSize             int     `json:"beam_size"`             // 1 is greedy
	BestOf               int     `json:"best_of"`
	MaxContext           int     `json:"max_context"` // tokens of earlier windows in the prompt; -1 is not a limit, 0 none
	SuppressNonSpeech    bool    `json:"suppress_non_speech"`
}

// Arguments gives the arguments that whisper-cli needs for d beyond those that the runner always sets (language,
// --no-timestamps, --temperature 0, --temperature-inc 0). Defaults of whisper-cli are not repeated.
func (d Decoding) Arguments() []string {
	var args []string
	for _, a := range []struct {
		flag            string
		value, ordinary int
	}{{"-bs", d.BeamSize, cliBeamSize}, {"-bo", d.BestOf, cliBestOf}, {"-mc", d.MaxContext, cliMaxContext}} {
		if a.value != a.ordinary {
			args = append(args, a.flag, strconv.Itoa(a.value))
		}
	}
	if d.SuppressNonSpeech {
		args = append(args, "-sns")
	}
	return args
}

// Defaults of whisper-cli at the supported pin (examples/cli/cli.cpp and whisper_full_default_params).
const (
	cliBeamSize             = 5
	cliBestOf               = 5
	cliMaxContext           = -1
	cliTemperatureIncrement = 0.2
	cliLanguage             = "en"
)

// WindowTokens is the number of tokens after which upstream stops a window that has not ended
// (whisper_full_with_state: half the text context of 448, less 4); the last of them is not decoded further.
const WindowTokens = 220

// ReadDecoding reads the arguments of a whisper-cli run, the program's name not included. Options that do not bear on
// decoding are passed over; [CheckArguments] refuses unknown ones.
func ReadDecoding(arguments []string) (Decoding, error) {
	d := Decoding{
		Language: cliLanguage, Task: "transcribe", Timestamps: true, TemperatureIncrement: cliTemperatureIncrement,
		BeamSize: cliBeamSize, BestOf: cliBestOf, MaxContext: cliMaxContext,
	}
	noFallback := false
	for _, o := range readOptions(arguments) {
		if err := d.set(o, &noFallback); err != nil {
			return Decoding{}, fmt.Errorf("argument %s: %w", arguments[o.index], err)
		}
	}
	if noFallback {
		d.TemperatureIncrement = 0
	}
	return d, nil
}

// set applies one option.
func (d *Decoding) set(o option, noFallback *bool) error {
	if o.missing {
		return fmt.Errorf("no value")
	}
	switch o.name {
	case "--language":
		d.Language = o.value
	case "--translate":
		d.Task = "translate"
	case "--no-timestamps":
		d.Timestamps = false
	case "--temperature":
		return number(o.value, &d.Temperature)
	case "--temperature-inc":
		return number(o.value, &d.TemperatureIncrement)
	case "--no-fallback":
		*noFallback = true
	case "--beam-size":
		return integer(o.value, &d.BeamSize)
	case "--best-of":
		return integer(o.value, &d.BestOf)
	case "--max-context":
		return integer(o.value, &d.MaxContext)
	case "--suppress-nst":
		d.SuppressNonSpeech = true
	}
	return nil
}

func number(s string, to *float64) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fmt.Errorf("value %q: expected a number", s)
	}
	*to = v
	return nil
}

func integer(s string, to *int) error {
	v, err := strconv.Atoi(s)
	if err != nil {
		return fmt.Errorf("value %q: expected an integer", s)
	}
	*to = v
	return nil
}

// samples reports whether tokens may be drawn at random.
func (d Decoding) samples() bool { return d.Temperature > 0 || d.TemperatureIncrement > 0 }

// Nondeterminism names what in d lets upstream write another text in the next run or on another machine. An empty
// list does not make backends equal: GPU kernels, thread counts and instruction sets may still round differently, and
// a near tie between two tokens then falls either way.
func (d Decoding) Nondeterminism() []string {
	var causes []string
	if d.Temperature > 0 {
		causes = append(causes, fmt.Sprintf("temperature %g draws tokens at random", d.Temperature))
	}
	if d.TemperatureIncrement > 0 {
		causes = append(causes, fmt.Sprintf("temperature increment %g falls back to sampling when a window fails its thresholds", d.TemperatureIncrement))
	}
	if d.Language == "auto" {
		causes = append(causes, "the language is detected anew in every run")
	}
	return causes
}

// Differences names the settings in which d and e differ, as "setting: d's, e's".
func (d Decoding) Differences(e Decoding) []string {
	var out []string
	for _, f := range []struct {
		name string
		a, b any
	}{
		{"language", d.Language, e.Language}, {"task", d.Task, e.Task}, {"timestamps", d.Timestamps, e.Timestamps},
		{"temperature", d.Temperature, e.Temperature}, {"temperature increment", d.TemperatureIncrement, e.TemperatureIncrement},
		{"beam size", d.BeamSize, e.BeamSize}, {"best of", d.BestOf, e.BestOf}, {"max context", d.MaxContext, e.MaxContext},
		{"suppress non-speech", d.SuppressNonSpeech, e.SuppressNonSpeech},
	} {
		if f.name == "best of" && !d.samples() && !e.samples() {
			continue // only sampling keeps several candidates
		}
		if f.a != f.b {
			out = append(out, fmt.Sprintf("%s: %v, %v", f.name, f.a, f.b))
		}
	}
	return out
}
