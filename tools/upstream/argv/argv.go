// Package argv knows whisper-cli's command line at the supported pin, and what the contract says of
// each option. It reads a command line as the program does: an option is one only where it is not the
// value of the one before, "--option=value" is no spelling that the program knows, and whatever it
// does not know ends it with exit 0.
package argv

import (
	"fmt"
	"strconv"
	"strings"
)

// rule is what the contract says about one option of whisper-cli.
type rule struct {
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

// Check returns every argument of the list that the contract forbids.
func Check(arguments []string) []Violation {
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
	case r.refuse != "" && !(r.refuse == loads && values == 1 && arguments[i+1] == "1"):
		return &Violation{Name: name, Expected: "no " + name, Found: r.refuse, Blinds: r.refuse == blinds, Own: r.refuse == own}, values
	case joined:
		return &Violation{Name: name, Expected: "option and value as two arguments", Found: "a joined spelling, on which the program exits 0 without a run"}, 0
	case values < r.values:
		return &Violation{Name: name, Expected: "a value after " + name, Found: "none, on which the program exits 0 without a run"}, 0
	case values == 1:
		if _, err := strconv.ParseFloat(arguments[i+1], 32); err != nil {
			return &Violation{Name: name, Expected: "a number after " + name, Found: fmt.Sprintf("%q, on which the program aborts", arguments[i+1])}, values
		}
	}
	return nil, values
}

// Last returns the last value that the list gives to an option under any of its names.
func Last(arguments []string, names ...string) (string, bool) {
	value, ok := "", false
	for i := 0; i < len(arguments); i++ {
		r := options[arguments[i]]
		if r.values == 0 || i+1 == len(arguments) {
			continue
		}
		for _, name := range names {
			if arguments[i] == name {
				value, ok = arguments[i+1], true
			}
		}
		i++
	}
	return value, ok
}
