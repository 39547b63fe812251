package judge

import (
	"fmt"
	"strconv"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// languages compares the language that was asked for with what the model knows by its own count of tokens, which the log
// prints. The runtime checks neither.
func languages(f *verdict.Judgement, m markers, r *Run) {
	if m.tells(whispercpp.LineLanguageIgnored) {
		f.Add(reason.LanguageIgnored, m.where(whispercpp.LineLanguageIgnored), "en or none, since the model knows English only", m.quote(whispercpp.LineLanguageIgnored))
	}
	for _, a := range m.exact[whispercpp.LineModelFact] {
		name, tokens, ok := whispercpp.ModelFact(a.Text)
		switch {
		case name != "n_vocab":
			continue
		case !ok || !whispercpp.KnownVocabulary(tokens):
			f.Add(reason.ModelVocabulary, a.where(), fmt.Sprintf("n_vocab of %d (English), %d (99 languages) or %d (100 languages)",
				whispercpp.EnglishVocabulary, whispercpp.MultilingualVocabulary, whispercpp.LastVocabulary), quote(a.Text))
			continue
		}
		where, language := m.language(r)
		if whispercpp.LacksLanguage(tokens, language) {
			f.Add(reason.LanguageUnknown, where, fmt.Sprintf("one of the model's %d languages", whispercpp.Languages(tokens)),
				fmt.Sprintf("%s, the hundredth, whose token is <translate> in a vocabulary of %d", strconv.Quote(language), tokens))
		}
	}
}

// language is what the run was asked to hear, by its own line or its arguments, and where that is said.
func (m markers) language(r *Run) (where, language string) {
	for _, a := range m.exact[whispercpp.LineProcessing] {
		if p, ok := whispercpp.ReadProcessing(a.Text); ok {
			return a.where(), p.Language
		}
	}
	if value, ok := whispercpp.LastValue(r.Argv, "--language"); ok {
		return "argument \"-l\"", value
	}
	return "", ""
}
