package transcript

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

const (
	spoken  = "And so, my fellow Americans: ask not what your country can do for you, ask what you can do for your country."
	changed = "And so, my fellow Americans: ask what your country can do for you, or what they do for your country."
)

var testPolicy = Policy{
	CorpusRateMax: 0.05, FileRateMax: 0.1, WorseThanGGMLMax: 0.03, CorpusVsGGMLMax: 0.05, FileVsGGMLMax: 0.1, FixturesMin: 2, UnitsMin: 30,
}

var (
	audioDigest = strings.Repeat("a1", 32)
	modelDigest = strings.Repeat("b2", 32)
)

func heard(text string) *Heard {
	return &Heard{Text: text, Sources: "pin", ModelSHA256: modelDigest, AudioSHA256: audioDigest, Decoding: Pinned("en"), Processed: true}
}

func sourceOf(text string) *Source {
	return &Source{
		Origin:      Origin{SourceModelSHA256: strings.Repeat("c3", 32), Tool: "ctranslate2 4.8.5, float32", Date: "2026-11-29"},
		ModelSHA256: modelDigest, AudioSHA256: audioDigest, Decoding: Pinned("en"), Text: text,
	}
}

// fixture is a public fixture on which all sides agree, as a probe.
func fixture(edit func(*Fixture)) Fixture {
	f := Fixture{Name: "jfk", Public: true, Language: "en", Probe: true, Source: sourceOf(spoken), GGML: heard(spoken), CoreML: heard(spoken)}
	if edit != nil {
		edit(&f)
	}
	return f
}

// other is a fixture of another recording on which all sides agree.
func other() Fixture {
	return fixture(func(f *Fixture) {
		audio := strings.Repeat("7", 64)
		f.Probe, f.Name, f.Source.AudioSHA256, f.GGML.AudioSHA256, f.CoreML.AudioSHA256 = false, "other", audio, audio, audio
	})
}

func judgeOf(fixtures ...Fixture) Judgement {
	var comparisons []Comparison
	for _, f := range fixtures {
		comparisons = append(comparisons, Compare(f))
	}
	return Judge(comparisons, testPolicy)
}

func codes(reasons []reason.Reason) []string {
	var out []string
	for _, r := range reasons {
		if !slices.Contains(out, r.Code) {
			out = append(out, r.Code)
		}
	}
	slices.Sort(out)
	return out
}

func TestNothingHeard(t *testing.T) {
	if j := Judge(nil, testPolicy); j.Verdict != reason.Failed || !j.Has("WORDS_NO_FIXTURES") {
		t.Errorf("no fixture: %s, %v, want WORDS_NO_FIXTURES", j.Verdict, j.Reasons)
	}
}

func TestJudge(t *testing.T) {
	loop := spoken + strings.Repeat(" for your country", 9)
	tests := []struct {
		name    string
		edit    func(*Fixture)
		verdict reason.Verdict
		reasons []string
		notes   []string
	}{
		{"all sides agree", nil, reason.Pass, nil, nil},
		{"punctuation and case are no words", func(f *Fixture) { f.CoreML.Text = strings.ToUpper(strings.ReplaceAll(spoken, ",", "")) }, reason.Pass, nil, nil},
		{"Core ML changed the answer", func(f *Fixture) { f.Probe = false; f.CoreML.Text = changed }, reason.Failed,
			[]string{"WORDS_COREML_CHANGED", "WORDS_COREML_CHANGED_CORPUS", "WORDS_CORPUS_RATE", "WORDS_FILE_RATE", "WORDS_WORSE_THAN_GGML"}, []string{"WORDS_PROVISIONAL_PROBE"}},
		{"the conversion was already wrong", func(f *Fixture) { f.Probe = false; f.CoreML.Text, f.GGML.Text = changed, changed }, reason.Failed,
			[]string{"WORDS_CORPUS_RATE", "WORDS_FILE_RATE"}, []string{"WORDS_CONVERSION_CHANGED", "WORDS_PROVISIONAL_PROBE"}},
		{"only ggml is wrong", func(f *Fixture) { f.Probe = false; f.GGML.Text = changed }, reason.Failed,
			[]string{"WORDS_COREML_CHANGED", "WORDS_COREML_CHANGED_CORPUS"}, []string{"WORDS_CONVERSION_CHANGED", "WORDS_PROVISIONAL_PROBE"}},
		{"probe: Core ML differs", func(f *Fixture) { f.CoreML.Text = spoken + " Yes." }, reason.Failed, []string{"WORDS_PROBE_COREML"}, nil},
		{"probe: the sides are not set up alike", func(f *Fixture) { f.Source.Text = spoken + " Yes." }, reason.Unknown, []string{"WORDS_PROBE_SIDES"}, nil},
		{"Core ML wrote nothing", func(f *Fixture) { f.Probe = false; f.CoreML.Text = " \n" }, reason.Failed,
			[]string{"WORDS_COREML_CHANGED", "WORDS_COREML_CHANGED_CORPUS", "WORDS_COREML_EMPTY", "WORDS_CORPUS_RATE", "WORDS_FILE_RATE", "WORDS_WORSE_THAN_GGML"}, []string{"WORDS_PROVISIONAL_PROBE"}},
		{"nobody wrote anything, but silence was not declared", func(f *Fixture) { f.Source, f.GGML.Text, f.CoreML.Text = nil, "", "[BLANK_AUDIO]" }, reason.Failed,
			[]string{"WORDS_COREML_EMPTY"}, []string{"WORDS_PROVISIONAL_SOURCE"}},
		{"silence is silent", func(f *Fixture) { f.Silence = true; f.Source.Text, f.GGML.Text, f.CoreML.Text = "", "", "" }, reason.Pass, nil, []string{"WORDS_PROVISIONAL_PROBE"}},
		{"words in silence", func(f *Fixture) {
			f.Silence, f.Probe = true, false
			f.Source.Text, f.GGML.Text, f.CoreML.Text = "", "", "Thank you."
		}, reason.Failed, []string{"WORDS_COREML_CHANGED", "WORDS_COREML_CHANGED_CORPUS", "WORDS_CORPUS_RATE", "WORDS_FILE_RATE", "WORDS_IN_SILENCE", "WORDS_WORSE_THAN_GGML"}, []string{"WORDS_PROVISIONAL_PROBE"}},
		{"upstream itself hears words in silence", func(f *Fixture) { f.Silence = true; f.Source.Text, f.GGML.Text, f.CoreML.Text = "You", "You", "You" }, reason.Pass,
			nil, []string{"WORDS_SILENCE_UPSTREAM"}},
		{"Core ML loops", func(f *Fixture) { f.Probe = false; f.CoreML.Text = loop }, reason.Failed,
			[]string{"WORDS_COREML_CHANGED", "WORDS_COREML_CHANGED_CORPUS", "WORDS_COREML_LOOP", "WORDS_CORPUS_RATE", "WORDS_FILE_RATE", "WORDS_WORSE_THAN_GGML"}, []string{"WORDS_PROVISIONAL_PROBE"}},
		{"every side loops", func(f *Fixture) { f.Source.Text, f.GGML.Text, f.CoreML.Text = loop, loop, loop }, reason.Pass, nil, []string{"WORDS_LOOP"}},
		{"a side was cut", func(f *Fixture) { f.GGML.Truncated, f.GGML.Text = true, "And so" }, reason.Unknown, []string{"WORDS_TRUNCATED"}, nil},
		{"the source was cut", func(f *Fixture) { f.Source.Truncated = true }, reason.Unknown, []string{"WORDS_TRUNCATED"}, nil},
		{"too long", func(f *Fixture) { f.CoreML.Text = strings.Repeat("word ", MaxTextBytes/5+1) }, reason.Unknown, []string{"WORDS_TOO_LONG"}, nil},
		{"exit 0 without audio", func(f *Fixture) { f.CoreML.Text, f.CoreML.Processed = "", false }, reason.Failed, []string{"WORDS_COREML_EMPTY", "WORDS_NO_AUDIO"}, nil},
		{"ggml side missing", func(f *Fixture) { f.GGML = nil }, reason.Failed, []string{"WORDS_SIDE_MISSING"}, nil},
		{"Core ML side missing", func(f *Fixture) { f.CoreML = nil }, reason.Failed, []string{"WORDS_SIDE_MISSING"}, nil},
		{"no source", func(f *Fixture) { f.Source = nil }, reason.Pass, nil, []string{"WORDS_PROVISIONAL_SOURCE"}},
		{"another audio", func(f *Fixture) { f.GGML.AudioSHA256 = modelDigest }, reason.Failed, []string{"WORDS_SIDES_UNLIKE"}, nil},
		{"another model", func(f *Fixture) { f.Source.ModelSHA256 = audioDigest }, reason.Failed, []string{"WORDS_SIDES_UNLIKE"}, nil},
		{"another build", func(f *Fixture) { f.GGML.Sources = "other pin" }, reason.Failed, []string{"WORDS_SIDES_UNLIKE"}, nil},
		{"runs decoded otherwise", func(f *Fixture) { f.GGML.Decoding.BeamSize = 5 }, reason.Failed, []string{"WORDS_SIDES_UNLIKE"}, nil},
		{"source decoded otherwise", func(f *Fixture) { f.Source.Decoding.Timestamps = true }, reason.Unknown, []string{"WORDS_DECODING_DIFFERS"}, nil},
		{"sampling fallback (A47)", func(f *Fixture) {
			for _, d := range []*Decoding{&f.Source.Decoding, &f.GGML.Decoding, &f.CoreML.Decoding} {
				d.TemperatureIncrement = 0.2
			}
		}, reason.Unknown, []string{"WORDS_NONDETERMINISTIC"}, nil},
		{"a language that is a path", func(f *Fixture) { f.Language = "../x" }, reason.Failed, []string{"WORDS_SIDES_UNLIKE"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// A second, agreeing fixture of many words dilutes nothing that is judged per file.
			j := judgeOf(fixture(tt.edit), other())
			if j.Verdict != tt.verdict || !slices.Equal(codes(j.Reasons), tt.reasons) {
				t.Errorf("verdict %s %v, want %s %v\n%v", j.Verdict, codes(j.Reasons), tt.verdict, tt.reasons, j.Reasons)
			}
			notes := slices.DeleteFunc(codes(j.Notes), func(c string) bool { return c == "WORDS_PROVISIONAL_FEW" })
			if !slices.Equal(notes, tt.notes) {
				t.Errorf("notes %v, want %v", notes, tt.notes)
			}
		})
	}
}

func TestCauseIsNamed(t *testing.T) {
	tests := []struct{ source, ggml, coreml, want string }{
		{spoken, spoken, changed, "Core ML changed the answer"},
		{spoken, changed, changed, "the conversion was already wrong"},
		{spoken, spoken + " one two three four five", changed, "both changed it"},
	}
	for _, tt := range tests {
		j := judgeOf(fixture(func(f *Fixture) {
			f.Probe, f.Source.Text, f.GGML.Text, f.CoreML.Text = false, tt.source, tt.ggml, tt.coreml
		}))
		i := slices.IndexFunc(j.Reasons, func(r reason.Reason) bool { return r.Code == "WORDS_FILE_RATE" })
		if i < 0 || !strings.Contains(j.Reasons[i].Found, tt.want) {
			t.Errorf("reasons %v: want WORDS_FILE_RATE with %q", j.Reasons, tt.want)
		}
	}
}

func TestTooFewIsProvisional(t *testing.T) {
	if j := judgeOf(fixture(nil)); j.Verdict != reason.Pass || !j.Provisional || !slices.Contains(codes(j.Notes), "WORDS_PROVISIONAL_FEW") {
		t.Errorf("one fixture: %+v, want a provisional pass", j)
	}
	if j := judgeOf(fixture(nil), other()); j.Verdict != reason.Pass || j.Provisional {
		t.Errorf("two fixtures: %+v, want a final pass", j)
	}
	if j := judgeOf(fixture(nil), fixture(nil)); j.Verdict != reason.Failed || !slices.Contains(codes(j.Reasons), "WORDS_DUPLICATE") {
		t.Errorf("one fixture twice: %+v, want a failure: it is not a second one", j)
	}
	silent := fixture(func(f *Fixture) { f.Silence, f.Source, f.GGML, f.CoreML = true, sourceOf(""), heard(""), heard("") })
	if j := judgeOf(silent, other()); j.Verdict != reason.Pass || !j.Provisional || !slices.Contains(codes(j.Notes), "WORDS_PROVISIONAL_PROBE") {
		t.Errorf("silence as the probe item: %+v, want a provisional pass", j)
	}
	byName := fixture(func(f *Fixture) {
		f.Probe, f.Language = false, "english"
		for _, d := range []*Decoding{&f.Source.Decoding, &f.GGML.Decoding, &f.CoreML.Decoding} {
			d.Language = "english"
		}
	})
	if j := judgeOf(fixture(nil), byName); !slices.Contains(codes(j.Reasons), "WORDS_DUPLICATE") {
		t.Errorf("one fixture twice, its language once as code and once as name: %v", j.Reasons)
	}
	if j := judgeOf(); j.Verdict != reason.Failed {
		t.Errorf("no fixture: verdict %s, want fail", j.Verdict)
	}
}

// What is private must not get into anything that is kept: the texts, the fixture's name, free text of the caller.
func TestPrivateStaysPrivate(t *testing.T) {
	const secret = "zyzzyva"
	f := fixture(func(f *Fixture) {
		f.Public, f.Probe = false, false
		f.Name = "/home/" + secret + "/" + secret + ".wav"
		f.Human = secret + " human"
		f.Source.Text = secret + " " + spoken
		f.GGML.Text = spoken + " " + secret
		f.CoreML.Text = strings.Repeat(secret+" ", 20)
		f.GGML.Sources = secret
		f.Source.ModelSHA256 = secret
		f.CoreML.AudioSHA256 = secret
	})
	c := Compare(f)
	j := Judge([]Comparison{c}, testPolicy)
	kept, err := json.Marshal([]any{c, j})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(kept), secret) {
		t.Errorf("a private word is kept: %s", kept)
	}
	if c.Words != nil {
		t.Error("words of a private fixture are kept")
	}
	if len(j.Reasons) == 0 {
		t.Error("the fixture should have failed, so that reasons were looked at")
	}
}

func TestCompareCounts(t *testing.T) {
	c := Compare(fixture(func(f *Fixture) { f.CoreML.Text = changed; f.Human = spoken }))
	// Four words: "not" is lost, "ask" is "or", "you" is "they", "can" is lost.
	want := Counts{Hits: 18, Substitutions: 2, Insertions: 0, Deletions: 2}
	for name, d := range map[string]*Delta{"source": c.CoreMLSource, "ggml": c.CoreMLGGML, "human": c.CoreMLHuman} {
		if d.Units != want {
			t.Errorf("against %s: %+v, want %+v", name, d.Units, want)
		}
		if d.Characters == nil || d.Characters.Edits() == 0 {
			t.Errorf("against %s: no character errors", name)
		}
	}
	if c.GGMLSource.Units.Edits() != 0 || c.SourceHuman.Units.Edits() != 0 {
		t.Errorf("equal sides differ: %+v, %+v", c.GGMLSource, c.SourceHuman)
	}
	ja := Compare(fixture(func(f *Fixture) {
		f.Language = "ja"
		f.Source.Text, f.GGML.Text, f.CoreML.Text = "今日は。", "今日は", "昨日は"
	}))
	if ja.Unit != GraphemeUnit || ja.CoreMLSource.Units != (Counts{Hits: 2, Substitutions: 1}) || ja.CoreMLSource.Characters != nil {
		t.Errorf("Japanese: %s, %+v", ja.Unit, ja.CoreMLSource)
	}
}
