package mutants

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

// Variants lists good gates that must not be refused.
func Variants() []Variant {
	both := func(text string) func(*Gate) { return stdout(text, "coreml", "contrast") }
	words := " " + evidencetest.Reference + "\n"
	everywhere := func(from, to string) func(*Gate) {
		return func(g *Gate) {
			for _, side := range []string{"coreml", "canary", "contrast"} {
				evidencetest.Edit(g.sides()[side], from, to)
			}
		}
	}
	return []Variant{
		{"good", "as it was", func(*Gate) {}},
		{"words-case", "words in capitals", both(strings.ToUpper(words))},
		{"words-punctuation", "words without commas", both(strings.ReplaceAll(words, ",", ""))},
		{"words-one-other", "the Core ML run hears one word otherwise", stdout(strings.Replace(words, "fellow", "yellow", 1), "coreml")},
		{"words-two-other", "both runs hear two words otherwise than the reference", both(strings.NewReplacer("fellow", "yellow", "ask not", "ask now").Replace(words))},
		{"words-lines", "words over several lines", both(strings.ReplaceAll(words, ", ", ",\n "))},
		{"words-decomposed", "decomposed letters", all(both(norm.NFD.String(" Señora Müller war schon früh im Café mit Noël.\n")), func(g *Gate) { g.Reference = "Señora Müller war schon früh im Café mit Noël" })},
		{"words-crlf", "CR before each LF", both(strings.ReplaceAll(words, "\n", "\r\n"))},
		{"words-contractions", "a reference with contractions", all(both(" I'm sure that we're right and you'll see it won't matter.\n"), func(g *Gate) { g.Reference = "I am sure that we are right and you will see it will not matter" })},
		{"words-numbers", "a reference with numbers in words", all(both(" The meeting of 20 people starts at 7 in room 12.\n"), func(g *Gate) { g.Reference = "the meeting of twenty people starts at seven in room twelve" })},
		{"reference-title", "a reference with a title and quotation marks", func(g *Gate) { g.Reference = "“" + g.Reference + "”" }},
		{"reference-bom", "a reference with a byte-order mark", func(g *Gate) { g.Reference = "\ufeff" + g.Reference }},
		{"log-more-backends", "system_info names more backends", stderr("coreml", "CPU : SSE3 = 1", "MTL : EMBED_LIBRARY = 1 | CPU : NEON = 1 | ARM_FMA = 1 | SSE3 = 1")},
		{"log-no-backend", "system_info names no backend's features", stderr("coreml", "CPU : SSE3 = 1 | AVX = 1 | ", "")},
		{"log-openvino", "system_info has no OPENVINO", everywhere("OPENVINO = 0 | ", "")},
		{"log-debug-lines", "lines of a debug build between the markers", stderr("coreml", "whisper_init_state: compute buffer (conv)", "ggml_backend_metal: debug\nwhisper_init_state: compute buffer (conv)")},
		{"log-buffer-sizes", "buffers of another model's size", stderr("coreml", "95.91 MB", "198.10 MB")},
		{"log-no-timings", "no timing of the fallbacks", stderr("coreml", "whisper_print_timings:     fallbacks =   0 p /   0 h\n", "")},
		{"log-more-timings", "more timing lines", stderr("coreml", "whisper_print_timings:    total time", "whisper_print_timings:   sample time = <ms> /   139 runs ( <ms> per run)\nwhisper_print_timings:    total time")},
		{"log-colour-elsewhere", "colour codes on a line that is not a marker", stderr("coreml", "whisper_model_load: n_mels", "\x1b[32mnote\x1b[0m\nwhisper_model_load: n_mels")},
		{"environment-locale", "a run with another home", func(g *Gate) {
			for _, e := range g.sides() {
				e.Environment["HOME"] = "$STAGE/home"
			}
		}},
		{"attempt-again", "a positive run that was asked for a second time", func(g *Gate) { g.CoreML.Attempt = 2 }},
		{"started-again", "a positive run that a remote service started a second time", func(g *Gate) { g.CoreML.Attempts = 2 }},
		{"defines-known", "the defines are known and are the flavour's", func(g *Gate) {
			g.CoreML.Defines, g.Canary.Defines = []string{"WHISPER_USE_COREML"}, []string{"WHISPER_USE_COREML"}
			g.Contrast.Defines = []string{"WHISPER_VERSION=\"1.9.1\""}
		}},
	}
}
