package whispercpp_test

import (
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

func TestVocabulary(t *testing.T) {
	for _, c := range []struct {
		tokens, languages   int
		known, multilingual bool
		lacks               bool // Cantonese
	}{
		{50257, 1, false, false, false}, {51863, 1, false, false, false}, {51864, 1, true, false, false},
		{51865, 99, true, true, true}, {51866, 100, true, true, false}, {51900, 134, false, true, false},
	} {
		if n := whispercpp.Languages(c.tokens); n != c.languages {
			t.Errorf("%d tokens have %d languages, want %d", c.tokens, n, c.languages)
		}
		if whispercpp.KnownVocabulary(c.tokens) != c.known || whispercpp.Multilingual(c.tokens) != c.multilingual {
			t.Errorf("%d tokens: known %t, multilingual %t", c.tokens, !c.known, !c.multilingual)
		}
		for _, name := range []string{"yue", "cantonese"} {
			if whispercpp.LacksLanguage(c.tokens, name) != c.lacks {
				t.Errorf("%d tokens lack %s: %t", c.tokens, name, !c.lacks)
			}
		}
		if whispercpp.LacksLanguage(c.tokens, "zh") {
			t.Errorf("%d tokens lack Chinese", c.tokens)
		}
	}
	for line, want := range map[string]int{
		"whisper_model_load: n_vocab       = 51864": 51864, "whisper_model_load: n_langs       = 99": 99,
		"whisper_model_load: n_vocab       = 99999999999999999999": -1, "n_vocab = 1": -1, "whisper_model_load: model size    =   77.11 MB": -1, "whisper_model_load: n_vocab       = -1": -1,
	} {
		if _, n, ok := whispercpp.ModelFact(line); ok != (want >= 0) || ok && n != want {
			t.Errorf("%q is %d, %t", line, n, ok)
		}
	}
}
