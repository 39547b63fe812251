package whispercpp

import (
	"fmt"
	"strconv"
	"strings"
)

// A command line is read as the program reads it: an option is one only where it is not the value of
// the one before, "--option=value" is not a spelling that the program knows, and whatever it does not
// know ends it with exit 0.

// rule is what the contract says about one option of whisper-cli.
type rule struct {
	// name is the option's long spelling.
	name string
	// values is the number of values that the option takes, 0 or 1.
	values int
	// refuse says why the option is forbidden to users; empty when it is allowed.
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
	"-h --help": {values: 0, refuse: noRun}, "--version": {values: 0, refuse: noRun},
	"-t --threads": {values: 1, refuse: own}, "-p --processors": {values: 1, refuse: loads},
	"-ot --offset-t": {values: 1, refuse: changes}, "-on --offset-n": {values: 1, refuse: changes}, "-d --duration": {values: 1, refuse: changes},
	"-mc --max-context": {values: 1, refuse: ""}, "-ml --max-len": {values: 1, refuse: ""}, "-bo --best-of": {values: 1, refuse: ""}, "-bs --beam-size": {values: 1, refuse: ""},
	"-ac --audio-ctx":  {values: 1, refuse: shape},
	"-wt --word-thold": {values: 1, refuse: ""}, "-et --entropy-thold": {values: 1, refuse: ""}, "-lpt --logprob-thold": {values: 1, refuse: ""}, "-nth --no-speech-thold": {values: 1, refuse: ""},
	"-tp --temperature": {values: 1, refuse: own}, "-tpi --temperature-inc": {values: 1, refuse: own},
	"-debug --debug-mode": {values: 0, refuse: writes}, "-tr --translate": {values: 0, refuse: changes}, "-di --diarize": {values: 0, refuse: changes}, "-tdrz --tinydiarize": {values: 0, refuse: changes},
	"-sow --split-on-word": {values: 0, refuse: ""}, "-nf --no-fallback": {values: 0, refuse: ""},
	"-otxt --output-txt": {values: 0, refuse: writes}, "-ovtt --output-vtt": {values: 0, refuse: writes}, "-osrt --output-srt": {values: 0, refuse: writes},
	"-owts --output-words": {values: 0, refuse: writes}, "-olrc --output-lrc": {values: 0, refuse: writes}, "-ocsv --output-csv": {values: 0, refuse: writes},
	"-oj --output-json": {values: 0, refuse: writes}, "-ojf --output-json-full": {values: 0, refuse: writes}, "-of --output-file": {values: 1, refuse: writes},
	"-fp --font-path":     {values: 1, refuse: otherPath},
	"-np --no-prints":     {values: 0, refuse: blinds},
	"-ps --print-special": {values: 0, refuse: changes}, "-pc --print-colors": {values: 0, refuse: changes}, "--print-confidence": {values: 0, refuse: changes}, "-pp --print-progress": {values: 0, refuse: ""},
	"-nt --no-timestamps": {values: 0, refuse: own}, "-l --language": {values: 1, refuse: own}, "-dl --detect-language": {values: 0, refuse: noRun},
	"--prompt": {values: 1, refuse: changes}, "--carry-initial-prompt": {values: 0, refuse: changes},
	"-m --model": {values: 1, refuse: own}, "-f --file": {values: 1, refuse: own}, "-oved --ov-e-device": {values: 1, refuse: device},
	"-dtw --dtw": {values: 1, refuse: dtw}, "-ls --log-score": {values: 0, refuse: writes}, "-ng --no-gpu": {values: 0, refuse: device}, "-dev --device": {values: 1, refuse: device},
	"-fa --flash-attn": {values: 0, refuse: ""}, "-nfa --no-flash-attn": {values: 0, refuse: ""},
	"-sns --suppress-nst": {values: 0, refuse: ""}, "--suppress-regex": {values: 1, refuse: changes},
	"--grammar": {values: 1, refuse: otherPath}, "--grammar-rule": {values: 1, refuse: changes}, "--grammar-penalty": {values: 1, refuse: changes},
	"--vad": {values: 0, refuse: otherPath}, "-vm --vad-model": {values: 1, refuse: otherPath}, "-vt --vad-threshold": {values: 1, refuse: changes},
	"-vspd --vad-min-speech-duration-ms": {values: 1, refuse: changes}, "-vsd --vad-min-silence-duration-ms": {values: 1, refuse: changes},
	"-vmsd --vad-max-speech-duration-s": {values: 1, refuse: changes}, "-vp --vad-speech-pad-ms": {values: 1, refuse: changes}, "-vo --vad-samples-overlap": {values: 1, refuse: changes},
})

func expand(spellings map[string]rule) map[string]rule {
	out := map[string]rule{}
	for names, r := range spellings {
		spelled := strings.Fields(names)
		r.name = spelled[len(spelled)-1]
		for _, name := range spelled {
			out[name] = r
		}
	}
	return out
}

// Violation is an argument that the contract forbids.
type Violation struct {
	// Name is the option without a value, or a response file; "" for an input file.
	Name string
	// Index is the position in the list, from 0.
	Index int
	// Expected and Found say what was wanted and what was there.
	Expected, Found string
	// Blinds says that the argument silences the log.
	Blinds bool
	// Own says that the runner itself may give it.
	Own bool
}

// CheckArguments returns every argument of the list that the contract forbids.
func CheckArguments(arguments []string) []Violation {
	var out []Violation
	for i := 0; i < len(arguments); i++ {
		v, values := check(arguments, i)
		if v != nil {
			v.Index = i
			out = append(out, *v)
		}
		i += values
	}
	return out
}

// check reads the argument at i and returns how many values follow it.
func check(arguments []string, i int) (*Violation, int) {
	arg := arguments[i]
	if strings.HasPrefix(arg, "@") {
		return &Violation{Name: arg, Expected: "arguments spelled out", Found: "a response file, whose content evidence would not show"}, 0
	}
	if arg == "-" || !strings.HasPrefix(arg, "-") {
		return &Violation{Expected: "no further input", Found: "an input file: a run hears exactly the one fixture"}, 0
	}
	name, _, joined := strings.Cut(arg, "=")
	r, known := options[name]
	values := 0
	if known && !joined {
		values = min(r.values, len(arguments)-i-1)
	}
	switch {
	case !known:
		return &Violation{Name: name, Expected: "an option that whisper-cli at the supported pin has", Found: "an unknown one, on which the program exits 0 without a run"}, 0
	case !joined && values < r.values:
		return &Violation{Name: name, Expected: "a value after " + name, Found: "none, on which the program exits 0 without a run"}, 0
	case r.refuse != "" && !(r.refuse == loads && values == 1 && arguments[i+1] == "1"):
		return &Violation{Name: name, Expected: "no " + name, Found: r.refuse, Blinds: r.refuse == blinds, Own: r.refuse == own}, values
	case joined:
		return &Violation{Name: name, Expected: "option and value as two arguments", Found: "a joined spelling, on which the program exits 0 without a run"}, 0
	case values == 1:
		if _, err := strconv.ParseFloat(arguments[i+1], 32); err != nil {
			return &Violation{Name: name, Expected: "a number after " + name, Found: fmt.Sprintf("%q, on which the program aborts", arguments[i+1])}, values
		}
	}
	return nil, values
}

// option is one option of a command line as the program reads it.
type option struct {
	// name is the long spelling, index the position of the option in the list.
	name  string
	index int
	value string
	// missing says that the list ends where the value should stand.
	missing bool
}

// readOptions lists the options that the program knows, in order; a value is not an option.
func readOptions(arguments []string) []option {
	var out []option
	for i := 0; i < len(arguments); i++ {
		r, known := options[arguments[i]]
		if !known {
			continue
		}
		o := option{name: r.name, index: i}
		if r.values == 1 {
			if i++; i < len(arguments) {
				o.value = arguments[i]
			} else {
				o.missing = true
			}
		}
		out = append(out, o)
	}
	return out
}

// LastValue returns the last value that the list gives to an option, named by its long spelling.
func LastValue(arguments []string, name string) (string, bool) {
	value, ok := "", false
	for _, o := range readOptions(arguments) {
		if o.name == name && !o.missing {
			value, ok = o.value, true
		}
	}
	return value, ok
}

// Values returns every value that the list gives to an option, named by its long spelling, in order.
func Values(arguments []string, name string) []string {
	var out []string
	for _, o := range readOptions(arguments) {
		if o.name == name && !o.missing {
			out = append(out, o.value)
		}
	}
	return out
}
