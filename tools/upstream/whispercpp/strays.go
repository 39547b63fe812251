package whispercpp

import (
	"regexp"
	"strings"
)

// begins is how lines begin that a judge reads.
var begins = regexp.MustCompile(`(?:whisper_(?:init|print|model|full|backend|vad)[a-z0-9_]*|` + emulated + `|system_info): |main: processing '|` + regexp.QuoteMeta(ContextErrorText))

const emulated = `coreml_(?:double|stand_in)`

// tailed are lines that are a marker with something behind it. A path in quotation marks may have such marks itself.
var tailed = regexp.MustCompile(`^(?:(?:` + initState + textLoading + `|` + initState + textLoadFailed + `|` + fromFile + `loading model from ').*'[^']+|(?:` +
	initState + textLoaded + `|` + initState + `first run on a device may take a while \.\.\.|` + initState + `compute buffer \(encode\) *= *[0-9]+(?:[.,][0-9]+)? [KMG]i?B|` +
	regexp.QuoteMeta(ContextErrorText) + `|whisper_print_timings: +total time = +(?:[0-9.]+ ms|<ms>)).+)$`)

// standsIn are the lines of what stands for Core ML, whole.
var standsIn = regexp.MustCompile(`^` + emulation + `(?:version [0-9]+, protocol [0-9]+, fault \S+|ready, .+|asked to (?:load for|predict) .+|cannot load '.*': .+|prediction failed: .*|uncaught exception: .*|a made-up compute plan|[0-9]+ predictions, [0-9]+ failed)$`)

var emulates = regexp.MustCompile(`^` + emulation)

// Stray says what is wrong with the place of a line that a judge reads: text before it, text behind it, or a line of what
// stands for Core ML that it never writes. "" where nothing is. Such a line proves nothing, and what it says may contradict
// what other lines prove: no log with one passes.
func Stray(text string) string {
	switch at := Begin(text); {
	case at < 0:
		return ""
	case at > 0:
		return "a line of the program behind other text"
	case tailed.MatchString(text):
		return "a line of the program before other text"
	case emulates.MatchString(text) && !standsIn.MatchString(text):
		return "a line that what stands for Core ML does not write"
	}
	return ""
}

// Begin is where a line of the program that a judge reads begins within a text, as far as its first words can show; -1 where
// none does.
func Begin(text string) int {
	// An expression that begins with one of several words is searched for slowly; a word is not.
	first := -1
	for _, word := range firstWords {
		if at := strings.Index(text, word); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	if first < 0 {
		return -1
	}
	if at := begins.FindStringIndex(text[first:]); at != nil {
		return first + at[0]
	}
	return -1
}

// firstWords are what each alternative of begins begins with.
var firstWords = []string{"whisper_", "coreml_", "system_info: ", "main: processing '", ContextErrorText}

// words are in every line that a judge reads, however another program wrote its other characters.
var words = []string{"whisper", "system_info", "main", "coreml_", "error"}

// Mentions says, quickly, that a text may hold a line of the program that a judge reads.
func Mentions(text string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// EmulatedBy names what wrote a line of the emulated lane's: coreml_double or coreml_stand_in; "" for other lines.
func EmulatedBy(text string) string {
	if !emulates.MatchString(text) {
		return ""
	}
	name, _, _ := strings.Cut(text, ":")
	return name
}
