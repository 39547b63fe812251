package transcript

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript/editdist"
)

func TestRate(t *testing.T) {
	tests := []struct {
		ref, hyp string
		want     float64
	}{
		{"", "", 0},
		{"", "two words", 2},
		{"two words", "", 1},
		{"a b c d", "a x c", 0.5},
		{"a", "b c d", 3},
	}
	for _, tt := range tests {
		counts, _ := WordErrors(tt.ref, tt.hyp)
		if got := Rate(counts); got != tt.want {
			t.Errorf("rate of %q against %q is %v, want %v", tt.hyp, tt.ref, got, tt.want)
		}
	}
	counts, _ := CharacterErrors(" señor\n", "senor")
	if want := (editdist.Counts{Hits: 4, Substitutions: 1}); counts != want {
		t.Errorf("characters: %+v, want %+v", counts, want)
	}
}

// TestPinned holds that the pinned decoding gives the same words in every run.
func TestPinned(t *testing.T) {
	if n := Pinned("de").Nondeterminism(); len(n) != 0 {
		t.Errorf("pinned decoding is called non-deterministic: %v", n)
	}
}

func TestLoops(t *testing.T) {
	tests := []struct {
		name, text string
		want       []Loop
	}{
		{"none", spoken, nil},
		{"said thrice", "no no no", nil},
		{"a short phrase four times is speech", "oh no oh no oh no oh no", nil},
		{"one word", "and then " + strings.Repeat("you ", 12), []Loop{{2, 1, 12}}},
		{"a phrase, the last time in part", strings.Repeat("thank you very much ", 4) + "thank you", []Loop{{0, 4, 4}}},
		{"two loops", strings.Repeat("a ", 20) + "x " + strings.Repeat("b c d ", 5), []Loop{{0, 1, 20}, {21, 3, 5}}},
		{"the shortest period names it", strings.Repeat("a b ", 30), []Loop{{0, 2, 30}}},
		{"a loop of a loop", strings.Repeat("a a a b ", 6), []Loop{{0, 4, 6}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Loops(strings.Fields(tt.text))); diff != "" {
				t.Errorf("loops differ (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzLoops(f *testing.F) {
	f.Add("abababababababababab")
	f.Fuzz(func(t *testing.T, s string) {
		units := strings.Split(s[:min(len(s), 2000)], "")
		last := 0
		for _, l := range Loops(units) {
			end := l.Start + l.Period*l.Repeats
			if l.Start < last || end > len(units) || l.Repeats < loopRepeats {
				t.Fatalf("loop %+v in %d units after %d", l, len(units), last)
			}
			for i := l.Start + l.Period; i < end; i++ {
				if units[i] != units[i-l.Period] {
					t.Fatalf("loop %+v does not repeat at %d", l, i)
				}
			}
			last = end
		}
	})
}

func TestPolicyFrom(t *testing.T) {
	good := func() map[string]float64 {
		return map[string]float64{"corpus_rate_max": 0.05, "file_rate_max": 0.1, "file_edits_free": 0, "worse_than_ggml_max": 0.03,
			"corpus_vs_ggml_max": 0.05, "file_vs_ggml_max": 0.1, "fixtures_min": 2, "units_min": 30}
	}
	p, err := PolicyFrom(good())
	if err != nil || p != testPolicy {
		t.Fatalf("policy %+v, %v; want %+v", p, err, testPolicy)
	}
	for name, edit := range map[string]func(map[string]float64){
		"missing":      func(m map[string]float64) { delete(m, "file_rate_max") },
		"unknown":      func(m map[string]float64) { m["file_rates_max"] = 1 },
		"out of range": func(m map[string]float64) { m["file_rate_max"] = 1.5 },
		"not a number": func(m map[string]float64) { m["file_rate_max"] = math.NaN() },
	} {
		m := good()
		edit(m)
		if _, err := PolicyFrom(m); err == nil || !strings.Contains(err.Error(), "expected exactly") {
			t.Errorf("%s: error %v, want one that lists the thresholds", name, err)
		}
	}
}

const sourceJSON = `{"schema":1,"origin":{"source_model_sha256":"C","tool":"ctranslate2 4.8.5, float32","date":"2026-11-29"},"model":"tiny.en","model_sha256":"B",
"recordings":[{"name":"jfk","audio_sha256":"A","decoding":{"language":"en","task":"transcribe","timestamps":false,"temperature":0,"temperature_increment":0,
"beam_size":1,"best_of":1,"max_context":0,"suppress_non_speech":false},"text":"Ask not.","human":"","truncated":false}]}`

func sourceBytes(replace ...string) []byte {
	ids := strings.NewReplacer(`"A"`, `"`+audioDigest+`"`, `"B"`, `"`+modelDigest+`"`, `"C"`, `"`+strings.Repeat("c3", 32)+`"`)
	return []byte(ids.Replace(strings.NewReplacer(replace...).Replace(sourceJSON)))
}

func TestParseSources(t *testing.T) {
	f, err := ParseSources(sourceBytes())
	if err != nil {
		t.Fatal(err)
	}
	s := f.Lookup(audioDigest, "en")
	if s == nil || s.Text != "Ask not." || s.Decoding != Pinned("en") || s.ModelSHA256 != modelDigest || s.Origin.Tool == "" {
		t.Errorf("looked up %+v", s)
	}
	if f.Lookup(audioDigest, "de") != nil || f.Lookup(modelDigest, "en") != nil {
		t.Error("a transcript of another recording or language was found")
	}
	for name, replace := range map[string][]string{
		"schema":         {`"schema":1`, `"schema":2`},
		"no date":        {`2026-11-29`, `yesterday`},
		"path as tool":   {`ctranslate2 4.8.5, float32`, `/home/me/tool`},
		"no language":    {`"language":"en"`, `"language":""`},
		"no model":       {`"model_sha256":"B"`, `"model_sha256":"tiny"`},
		"no audio":       {`"audio_sha256":"A"`, `"audio_sha256":""`},
		"unknown member": {`"name"`, `"nom"`},
	} {
		if _, err := ParseSources(sourceBytes(replace...)); err == nil {
			t.Errorf("%s: was read", name)
		}
	}
}

// Names and words of recordings, which may be private, are in no error: a build prints it.
func TestSourceErrorsShowNothing(t *testing.T) {
	recording := sourceJSON[strings.Index(sourceJSON, `{"name"`) : len(sourceJSON)-2]
	for name, replace := range map[string][]string{
		"twice":             {recording, recording + "," + recording},
		"twice, by name":    {recording, recording + "," + strings.Replace(recording, `"language":"en"`, `"language":"english"`, 1)},
		"a name for digest": {`"audio_sha256":"A"`, `"audio_sha256":"jfk.wav"`},
		"words for a flag":  {`"truncated":false`, `"truncated":"Ask not."`},
		"no beam":           {`"beam_size":1`, `"beam_size":0`},
	} {
		data := strings.NewReplacer("jfk", "merger", "Ask not.", "We sell.").Replace(string(sourceBytes(replace...)))
		if _, err := ParseSources([]byte(data)); err == nil || strings.Contains(err.Error(), "merger") || strings.Contains(err.Error(), "sell") {
			t.Errorf("%s: error %v, want one without name and words", name, err)
		}
	}
}

func TestLanguageCodes(t *testing.T) {
	if len(languageCodes) != 100 {
		t.Errorf("%d languages, upstream has 100", len(languageCodes))
	}
	for name, code := range languageCodes {
		if !languageName.MatchString(name) || !languageName.MatchString(code) {
			t.Errorf("%s (%s) is refused", name, code)
		}
	}
	for name, want := range map[string]string{"english": "en", "haitian creole": "ht", "cantonese": "yue", "zh": "zh", "klingon": "klingon"} {
		if got := languageCode(name); got != want {
			t.Errorf("the code of %s is %s, want %s", name, got, want)
		}
	}
}

func FuzzParseSources(f *testing.F) {
	f.Add(sourceBytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseSources(data)
		if err == nil && slices.ContainsFunc(file.Recordings, func(r SourceText) bool { return file.Lookup(r.AudioSHA256, r.Decoding.Language) == nil }) {
			t.Error("a recording cannot be looked up")
		}
	})
}

func TestProfiles(t *testing.T) {
	for language, want := range map[string]string{"en": "english/2", "English": "english/2", "de": "basic/2", "zh": "basic-split/2", "japanese": "basic-split/2", "": "basic/2"} {
		if got := ProfileFor(language).Name; got != want {
			t.Errorf("profile for %q is %s, want %s", language, got, want)
		}
	}
}
