package transcript

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func reportOf(fixtures ...Fixture) *Report {
	r := &Report{Schema: 1, Comparisons: []Comparison{}}
	for i, f := range fixtures {
		f.Probe = f.Probe && i == 0
		r.Comparisons = append(r.Comparisons, Compare(f))
	}
	return r
}

// Whatever Compare gives is written, and read back equal.
func TestReportRoundTrip(t *testing.T) {
	r := reportOf(
		fixture(nil),
		fixture(func(f *Fixture) { f.Public = false; f.CoreML.Text = changed; f.Human = spoken }),
		fixture(func(f *Fixture) { f.Source = nil; f.GGML = nil }),
		fixture(func(f *Fixture) { f.CoreML = nil; f.Public = false }),
		fixture(func(f *Fixture) { f.Language = "ja"; f.Source.Text = "今日は。" }),
		fixture(func(f *Fixture) {
			f.Source.Text = strings.Repeat("word ", MaxTextBytes/5+1)
			f.CoreML.Text = strings.Repeat("you ", 50)
		}),
		fixture(func(f *Fixture) { f.Silence = true; f.CoreML.Text, f.GGML.Text, f.Source.Text = "", "", "" }),
		fixture(func(f *Fixture) { f.Language = "../x" }),
		fixture(func(f *Fixture) {
			f.CoreML.Text = "cut in a character \xe4\xbd, and \xff \x00 \u2028 \u202e e\u0301 👩‍👩‍👧"
		}),
		fixture(func(f *Fixture) {
			f.Language, f.CoreML.Text, f.GGML.Text = "zh", "今天天氣很好\xe4\xbd", "今天天氣很好\u3000"
		}),
	)
	data, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeReport(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, back); diff != "" {
		t.Errorf("what was read differs from what was written:\n%s", diff)
	}
}

func TestReportRefuses(t *testing.T) {
	private := func(f *Fixture) { f.Public = false }
	tests := []struct {
		name    string
		fixture func(*Fixture)
		edit    func(*Comparison)
		want    string
	}{
		{"a count", private, func(c *Comparison) { c.CoreMLSource.Units.Hits-- }, "coreml_source: units"},
		{"a negative count", private, func(c *Comparison) { c.CoreMLGGML.Units.Insertions = -1 }, "negative"},
		{"characters", private, func(c *Comparison) { c.GGMLSource.Characters.Deletions++ }, "ggml_source: characters"},
		{"characters left out", private, func(c *Comparison) { c.GGMLSource.Characters = nil }, "characters are counted"},
		{"a delta left out", private, func(c *Comparison) { c.CoreMLSource = nil }, "no counts"},
		{"a delta of nothing", private, func(c *Comparison) { c.CoreMLHuman = c.CoreMLSource }, "not there"},
		{"a digest", private, func(c *Comparison) { c.GGML.TextSHA256 = "x" }, "side ggml"},
		{"an origin left out", private, func(c *Comparison) { c.Origin = nil }, "origin"},
		{"a name that is a path", nil, func(c *Comparison) { c.Fixture = "/home/me/a.wav" }, "not a path"},
		{"a name that draws", nil, func(c *Comparison) { c.Fixture = "jfk\x1b[2J" }, "printable"},
		{"a long name", nil, func(c *Comparison) { c.Fixture = strings.Repeat("a", maxName+1) }, "printable"},
		{"a name of another recording", private, func(c *Comparison) { c.Fixture = "private-000000000000" }, "private"},
		{"words of the run", private, func(c *Comparison) { c.GGML.StdoutSHA256 = "fellow" }, "stdout_sha256"},
		{"a private name", private, func(c *Comparison) { c.Fixture = "secret.wav" }, "private"},
		{"private words", private, func(c *Comparison) { c.Words = &PublicWords{} }, "words are kept"},
		{"another profile", private, func(c *Comparison) { c.Profile = "basic/2" }, "profile"},
		{"audio", private, func(c *Comparison) { c.AudioSHA256 = "/tmp/a.wav" }, "audio_sha256"},
		{"a loop outside", private, func(c *Comparison) { c.CoreML.Loops = []Loop{{Start: 20, Period: 3, Repeats: 9}} }, "loop"},
		{"words edited", nil, func(c *Comparison) { c.Words.CoreML += " more" }, "digest"},
		{"counts edited with the words left", func(f *Fixture) { f.CoreML.Text = changed }, func(c *Comparison) {
			c.CoreMLSource.Units.Substitutions, c.CoreMLSource.Units.Deletions = 0, 4
			c.CoreMLSource.Units.Hits, c.CoreMLSource.Units.Insertions = 18, 2
		}, "coreml_source"},
		{"alignment edited", nil, func(c *Comparison) { c.Words.Aligned[0].Op = "insert" }, "alignment"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := reportOf(fixture(tt.fixture))
			if err := r.Check(); err != nil {
				t.Fatalf("before the edit: %v", err)
			}
			tt.edit(&r.Comparisons[0])
			if _, err := r.Encode(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// Two probe items are none.
func TestReportOfTwoProbes(t *testing.T) {
	r := reportOf(fixture(nil), other())
	r.Comparisons[1].Probe = true
	if err := r.Check(); err == nil || !strings.Contains(err.Error(), "probe") {
		t.Errorf("error %v, want one about the probe item", err)
	}
}

// A report with any byte changed is refused, or says what the bytes say.
func TestReportBytes(t *testing.T) {
	data, err := reportOf(fixture(func(f *Fixture) { f.Public = false })).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		edited := slices.Clone(data)
		edited[i] ^= 1
		if r, err := DecodeReport(edited); err == nil {
			if again, err := r.Encode(); err != nil || !bytes.Equal(again, edited) {
				t.Errorf("byte %d: read, but written otherwise (%v)", i, err)
			}
		}
	}
	for _, cut := range []int{0, 1, len(data) / 2, len(data) - 1} {
		if _, err := DecodeReport(data[:cut]); err == nil {
			t.Errorf("cut at %d: was read", cut)
		}
	}
}

func FuzzDecodeReport(f *testing.F) {
	for _, edit := range []func(*Fixture){nil, func(f *Fixture) { f.Public = false }} {
		data, err := reportOf(fixture(edit)).Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := DecodeReport(data)
		if err != nil {
			return
		}
		Judge(r.Comparisons, testPolicy)
		if again, err := r.Encode(); err != nil || !bytes.Equal(again, data) {
			t.Errorf("read, but written otherwise (%v)", err)
		}
	})
}
