package judge

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// TestLanguages: what a model knows follows from its count of tokens, which the log prints.
func TestLanguages(t *testing.T) {
	good := string(realLog(t, "good"))
	model := func(vocabulary, language string) string {
		return strings.NewReplacer("n_vocab       = 51864", "n_vocab       = "+vocabulary, "lang = en", "lang = "+language).Replace(good)
	}
	const ignored = "main: WARNING: model is not multilingual, ignoring language and translation options"
	warned := strings.Replace(good, "\nsystem_info:", "\n"+ignored+"\nsystem_info:", 1)
	excerpt := "argv: -l yue\nexit: 0\n--- stderr\nwhisper_model_load: n_vocab       = 51865\n" + loadedLog + "--- stdout\nwords\n"
	for _, c := range []struct{ name, text, code string }{
		{"English", good, ""},
		{"German by 99 languages", model("51865", "de"), ""},
		{"Cantonese by 100", model("51866", "yue"), ""},
		{"Cantonese by 99", model("51865", "yue"), reason.LanguageUnknown},
		{"the same by its name", model("51865", "cantonese"), reason.LanguageUnknown},
		{"the same in UTF-16", string(encodingDresses[2].apply(model("51865", "yue"))), reason.LanguageUnknown},
		{"German by a model of English", warned, reason.LanguageIgnored},
		{"the same, coloured", strings.Replace(warned, ignored, "\x1b[33m"+ignored+"\x1b[0m", 1), reason.LanguageIgnored},
		{"a token more than the runtime knows", model("51867", "en"), reason.ModelVocabulary},
		{"fewer tokens", model("50257", "en"), reason.ModelVocabulary},
		{"more digits than a count has", model("99999999999999999999", "en"), reason.ModelVocabulary},
	} {
		j := judgeText(t, []byte(c.text), evidence.KindCoreML)
		if j.Has(reason.LanguageUnknown) != (c.code == reason.LanguageUnknown) || c.code != "" && !j.Has(c.code) || c.code == "" && len(j.Reasons) > 0 {
			t.Errorf("%s: %v, want %q", c.name, j.Reasons, c.code)
		}
	}
	if j := judgeText(t, []byte(excerpt), evidence.KindCoreML); !j.Has(reason.LanguageUnknown) {
		t.Errorf("an excerpt whose arguments ask for Cantonese: %v", j.Reasons)
	}
	contrast := strings.NewReplacer("n_vocab       = 51864", "n_vocab       = 51865", "lang = en", "lang = yue").Replace(string(realLog(t, "contrast")))
	if j := judgeText(t, []byte(contrast), evidence.KindContrast); !j.Has(reason.LanguageUnknown) {
		t.Errorf("a contrast run in Cantonese: %v", j.Reasons)
	}
}
