package recordings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
)

// TestMain makes this test binary a stand-in for whisper-cli when it is started under that name. What it hears stands in
// the audio file: a line for ggml's encoder and one for Core ML's, which it uses where one stands beside the model.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "whisper-cli" {
		os.Exit(pretend())
	}
	os.Exit(m.Run())
}

func pretend() int {
	audio, err := os.ReadFile("audio.wav")
	if err != nil {
		return 99
	}
	if string(audio) == "noise" {
		fmt.Fprintln(os.Stderr, "error: failed to read audio file 'audio.wav'")
		return 0
	}
	lines := strings.Split(string(audio), "\n")
	said := lines[0]
	if _, err := os.Stat("ggml-model-encoder.mlmodelc"); err == nil {
		said = lines[1]
	}
	if len(lines) > 2 && !met(lines[2], lines[3]) {
		return 98
	}
	fmt.Fprintln(os.Stderr, "main: processing 'audio.wav' (176000 samples, 11.0 sec), 2 threads, 1 processors, 1 beams + best of 1, lang = en, task = transcribe, timestamps = 0 ...")
	fmt.Println(said)
	return 0
}

// met puts a name into a folder and waits until another stands there too.
func met(dir, name string) bool {
	if os.WriteFile(filepath.Join(dir, name), nil, 0o644) != nil {
		return false
	}
	for range 2000 {
		if names, err := os.ReadDir(dir); err == nil && len(names) > 1 {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

const said = "And so my fellow Americans"

// newSpec is a spec with one fixture for each pair of lines, the first of them the probe.
func newSpec(t *testing.T, public bool, fixtures ...string) *Spec {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sum := strings.Repeat("0", 64)
	write("my-encoder.mlmodelc/weights/weight.bin", "weights")
	s := &Spec{
		Schema: 1, Lane: evidence.LaneEmulated, LaneIdentity: map[string]string{"double": "1"},
		Pin:   write("pin.json", `{"name":"p","commit":"`+sum[:40]+`","tree":"`+sum[:40]+`","supported":true,"manifest_sha256":"`+sum+`","patch":{"label":"l","sha256":"`+sum+`"},"patched_file":{"path":"src/whisper.cpp","sha256":"`+sum+`"}}`),
		Model: write("model.bin", "model"), Encoder: filepath.Join(dir, "my-encoder.mlmodelc"), Evaluator: write("evaluator", "none"),
		Threads: 2, DeadlineSeconds: 30, CoreMLCLI: self, GGMLCLI: self,
	}
	sources := transcript.SourceFile{
		Schema: 1, Origin: transcript.Origin{SourceModelSHA256: sum, Tool: "a tool 1.0", Date: "2026-11-29"}, Model: "m", ModelSHA256: hash(t, s.Model),
	}
	for i, lines := range fixtures {
		audio := write(fmt.Sprintf("talk %d.wav", i), lines)
		s.Fixtures = append(s.Fixtures, Fixture{Name: fmt.Sprintf("talk %d", i), Audio: audio, Language: "en", Public: public, Probe: i == 0})
		if !slices.ContainsFunc(sources.Recordings, func(r transcript.SourceText) bool { return r.AudioSHA256 == hash(t, audio) }) {
			sources.Recordings = append(sources.Recordings, transcript.SourceText{
				Name: "r", AudioSHA256: hash(t, audio), Decoding: transcript.Pinned("en"), Text: said, Human: said,
			})
		}
	}
	data, err := json.Marshal(sources)
	if err != nil {
		t.Fatal(err)
	}
	s.Source = write("source.json", string(data))
	return s
}

func hash(t *testing.T, path string) string {
	t.Helper()
	sum, _, err := tree.HashFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func mustRun(t *testing.T, s *Spec) *Outcome {
	t.Helper()
	o, err := Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestRun(t *testing.T) {
	o := mustRun(t, newSpec(t, true, said+"\n"+said, said+"\nAnd so my yellow Americans"))
	if len(o.Report.Comparisons) != 2 || len(o.Runs) != 2 || o.StoppedAtProbe {
		t.Fatalf("%d comparisons, %d runs, stopped %t", len(o.Report.Comparisons), len(o.Runs), o.StoppedAtProbe)
	}
	c := o.Report.Comparisons[1]
	want := transcript.Counts{Hits: 4, Substitutions: 1}
	if c.CoreMLSource.Units != want || c.CoreMLGGML.Units != want || c.GGMLSource.Units.Edits() != 0 || c.CoreMLHuman.Units != want {
		t.Errorf("deltas %+v, %+v, %+v", c.CoreMLSource, c.CoreMLGGML, c.GGMLSource)
	}
	if len(c.Decoding)+len(c.Unlike)+len(c.Nondeterminism) != 0 || !c.CoreML.Processed || !c.GGML.Processed {
		t.Errorf("sides are not alike: %+v", c)
	}
	if e := o.Runs[1]; e.CoreML.Kind != evidence.KindCoreML || e.GGML.Kind != evidence.KindContrast || !slices.Contains(e.GGML.Argv, "-bs") {
		t.Errorf("runs of kinds %s, %s with %v", e.CoreML.Kind, e.GGML.Kind, e.GGML.Argv)
	}
}

// Two recordings that wait for each other are heard at the same time, and stand in the outcome in their order.
func TestSideBySide(t *testing.T) {
	fixtures := []string{said + "\n" + said}
	dir := t.TempDir()
	for i := range 6 {
		fixtures = append(fixtures, fmt.Sprintf("%s %d\n%s\n%s\n%d", said, i, said, dir, i))
	}
	s := newSpec(t, true, fixtures...)
	s.SideBySide = 2
	together := mustRun(t, s)
	s.SideBySide = 0
	alone := mustRun(t, s) // the names of the first time stand there still
	if diff := cmp.Diff(alone.Report, together.Report); diff != "" {
		t.Errorf("side by side gives another report (-alone +together):\n%s", diff)
	}
	for i, r := range together.Runs {
		if r.GGML.Exit.Code != 0 || r.CoreML.Exit.Code != 0 || r.GGML.Digests.Audio != hash(t, s.Fixtures[i].Audio) {
			t.Errorf("fixture %d: exits %+v and %+v, audio %s", i, r.GGML.Exit, r.CoreML.Exit, r.GGML.Digests.Audio)
		}
	}
}

// The first broken fixture is named, not one that was stopped by it.
func TestSideBySideError(t *testing.T) {
	s := newSpec(t, true, said+"\n"+said, said+"\n"+said, said+"\n"+said, said+"\n"+said)
	s.SideBySide = 3
	s.Fixtures[2].Audio += ".absent"
	if _, err := Run(t.Context(), s); err == nil || !strings.Contains(err.Error(), "fixture 3: ") {
		t.Errorf("%v, want fixture 3's file", err)
	}
}

func TestTruncated(t *testing.T) {
	lines := func(windows, runs int) []string {
		return []string{
			fmt.Sprintf("whisper_print_timings:   encode time = <ms> / %5d runs ( <ms> per run)", windows),
			fmt.Sprintf("whisper_print_timings:   decode time = <ms> / %5d runs ( <ms> per run)", runs),
		}
	}
	for _, tt := range []struct {
		name     string
		evidence evidence.Evidence
		want     bool
	}{
		{"a sentence", evidence.Evidence{Stderr: evidence.Stream{Lines: lines(1, 24)}}, false},
		{"a window to its limit", evidence.Evidence{Stderr: evidence.Stream{Lines: lines(1, 219)}}, true},
		{"four full windows that ended", evidence.Evidence{Stderr: evidence.Stream{Lines: lines(4, 500)}}, false},
		{"four windows to their limit", evidence.Evidence{Stderr: evidence.Stream{Lines: lines(4, 876)}}, true},
		{"no audio", evidence.Evidence{Stderr: evidence.Stream{Lines: lines(0, 0)}}, false},
		{"a cut stream", evidence.Evidence{Stdout: evidence.Stream{Truncated: true}}, true},
		{"a deadline", evidence.Evidence{Exit: evidence.Exit{Kind: evidence.ExitTimeout}}, true},
	} {
		if got := truncated(&tt.evidence); got != tt.want {
			t.Errorf("%s: truncated is %t, want %t", tt.name, got, tt.want)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, newSpec(t, true, said+"\n"+said)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
}

func TestProbeStops(t *testing.T) {
	s := newSpec(t, true, said+"\nsomething else", said+"\n"+said)
	s.Fixtures[0], s.Fixtures[1] = s.Fixtures[1], s.Fixtures[0] // the probe runs first wherever it is
	o := mustRun(t, s)
	if !o.StoppedAtProbe || len(o.Report.Comparisons) != 1 || !o.Report.Comparisons[0].Probe {
		t.Errorf("stopped %t after %d comparisons, want true after the probe", o.StoppedAtProbe, len(o.Report.Comparisons))
	}
}

func TestUnreadableAudio(t *testing.T) {
	o := mustRun(t, newSpec(t, true, "noise", said+"\n"+said))
	if c := o.Report.Comparisons[0]; c.CoreML.Processed || c.GGML.Processed || !o.StoppedAtProbe {
		t.Error("audio that was not read counts as processed, or as sides that agree")
	}
}

// No word of a private recording, and no name of it, is in anything that is written.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	o := mustRun(t, newSpec(t, false, said+"\n"+said, said+" zyzzyva\n"+said+" xylem"))
	if err := o.Write(dir); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 5 {
		t.Fatalf("%d files, %v; want a report and four runs", len(files), err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"zyzzyva", "xylem", "talk", "fellow", t.Name()} {
			if strings.Contains(strings.ToLower(string(data)), strings.ToLower(secret)) {
				t.Errorf("%s holds %q", f.Name(), secret)
			}
		}
	}
}

// Nor is its file's name in an error, which a build prints.
func TestPrivateError(t *testing.T) {
	for _, public := range []bool{true, false} {
		s := newSpec(t, public, said+"\n"+said)
		if err := os.Remove(s.Fixtures[0].Audio); err != nil {
			t.Fatal(err)
		}
		_, err := Run(t.Context(), s)
		if err == nil || strings.Contains(err.Error(), "talk 0") != public || strings.Contains(err.Error(), filepath.Dir(s.Fixtures[0].Audio)) != public {
			t.Errorf("public %t: error %v, want one that names the file only if it is public", public, err)
		}
	}
}

func TestWriteAndRead(t *testing.T) {
	dir := t.TempDir()
	o := mustRun(t, newSpec(t, true, said+"\n"+said, said+"\nother words"))
	if err := o.Write(dir); err != nil {
		t.Fatal(err)
	}
	back, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(o, back); diff != "" {
		t.Errorf("what was read differs (-written +read):\n%s", diff)
	}
	want, err := tree.Digest(dir)
	if got, err2 := o.Digest(); err != nil || err2 != nil || got != want {
		t.Errorf("digest %s (%v), want the folder's %s (%v)", got, err2, want, err)
	}
	// Evidence of another comparison, or of the other side, does not count.
	swap := func(a, b string) {
		t.Helper()
		a, b = filepath.Join(dir, a), filepath.Join(dir, b)
		for _, move := range [][2]string{{a, a + "x"}, {b, a}, {a + "x", b}} {
			if err := os.Rename(move[0], move[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, pair := range [][2]string{{"001-coreml.evidence.json", "002-coreml.evidence.json"}, {"001-coreml.evidence.json", "001-ggml.evidence.json"}} {
		swap(pair[0], pair[1])
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "does not belong") {
			t.Errorf("with %v swapped: error %v, want that it does not belong", pair, err)
		}
		swap(pair[0], pair[1])
	}
	// A report from which a comparison was taken does not hide its runs.
	short := *o
	short.Report = &transcript.Report{Schema: 1, Comparisons: o.Report.Comparisons[:1]}
	short.Runs = o.Runs[:1]
	if err := short.Write(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "left out") {
		t.Errorf("with a comparison left out: error %v", err)
	}
	// Nor does one that was written of other words in the same recording.
	bent := *o
	bent.Report = &transcript.Report{Schema: 1, Comparisons: slices.Clone(o.Report.Comparisons)}
	side := *o.Report.Comparisons[1].CoreML
	side.StdoutSHA256 = o.Report.Comparisons[0].CoreML.StdoutSHA256
	bent.Report.Comparisons[1].CoreML = &side
	if err := bent.Write(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "heard other words") {
		t.Errorf("with other words: error %v", err)
	}
	// Nor one that says of another language, whose units are others, or of another decoding.
	for want, edit := range map[string]func(c *transcript.Comparison){
		"another language":  func(c *transcript.Comparison) { c.Language, c.Profile = "de", transcript.ProfileFor("de").Name },
		"decoded otherwise": func(c *transcript.Comparison) { c.Nondeterminism = []string{"a coin was tossed"} },
	} {
		bent.Report = &transcript.Report{Schema: 1, Comparisons: slices.Clone(o.Report.Comparisons)}
		edit(&bent.Report.Comparisons[1])
		if err := bent.Write(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "002-ggml.evidence.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil {
		t.Error("a folder without a run's evidence was read")
	}
}

func TestSpecRefuses(t *testing.T) {
	for name, edit := range map[string]func(*Spec){
		"no fixtures": func(s *Spec) { s.Fixtures = nil },
		"two probes":  func(s *Spec) { s.Fixtures[1].Probe = true },
		"no audio":    func(s *Spec) { s.Fixtures[0].Audio = "" },
		"no name":     func(s *Spec) { s.Fixtures[0].Name = "" },
		"a path":      func(s *Spec) { s.Fixtures[0].Name = "/home/me/talk" },
		"escapes":     func(s *Spec) { s.Fixtures[0].Name = "talk\x1b[2J" },
		"schema":      func(s *Spec) { s.Schema = 2 },
		"source":      func(s *Spec) { s.Source += "x" },
	} {
		s := newSpec(t, true, said+"\n"+said, said+"\n"+said)
		edit(s)
		if _, err := Run(t.Context(), s); err == nil {
			t.Errorf("%s: was run", name)
		}
	}
}
