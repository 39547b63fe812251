package candidate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/ab"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

const batchPatch = "diff --git a/src/whisper.cpp b/src/whisper.cpp\n--- a/src/whisper.cpp\n+++ b/src/whisper.cpp\n" +
	"@@ -13,3 +13,3 @@\n     // whisper_batch batch = {};\n-    whisper_batch batch;\n+    whisper_batch batch = {};\n     const char * text = \"whisper_batch batch = {}; }\";\n"

// ask writes a tree with the given whisper.cpp and asks about it.
func ask(t *testing.T, source string, edit func(q *Question)) *Answer {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "src", "whisper.cpp"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	commit := strings.Repeat("1", 40)
	p := &pin.Pin{Name: "s", Commit: commit, Supported: true, Patch: pin.PatchRef{Label: "//patches:p", SHA256: pin.Digest([]byte(batchPatch))},
		PatchedFile: pin.FileRef{Path: "src/whisper.cpp"}}
	q := Question{
		Source: pin.Dir(dir), Commit: strings.Repeat("2", 40), Supported: p, Pins: []*pin.Pin{p}, Patch: []byte(batchPatch),
		SupportedManifest: pin.Manifest{{Path: "src/whisper.cpp", SHA256: pin.Digest([]byte(source))}},
	}
	if edit != nil {
		edit(&q)
	}
	a, err := Ask(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func states(a *Answer) string {
	var out []string
	for _, c := range a.Conditions {
		out = append(out, c.State)
	}
	return strings.Join(out, " | ")
}

func TestAsk(t *testing.T) {
	fixed := strings.Replace(upstream, "\n    whisper_batch batch;\n", "\n    whisper_batch batch{};\n", 1)
	for name, tc := range map[string]struct {
		source, patch, states string
	}{
		"as it is":   {upstream, "exactly", "not met | not run | not run | not met"},
		"moved":      {"\n\n" + upstream, "at an offset of 2 lines", "not met | not run | not run | not met"},
		"fixed":      {fixed, "not", "met | not run | not run | not met"},
		"moved away": {strings.Replace(upstream, "// whisper_batch batch = {};", "// new", 1), "not", "not met | not run | not run | not met"},
	} {
		a := ask(t, tc.source, nil)
		if a.Patch != tc.patch || states(a) != tc.states || a.Decision != Keep {
			t.Errorf("%s: patch %q, conditions %q, decision %s; want %q, %q, keep", name, a.Patch, states(a), a.Decision, tc.patch, tc.states)
		}
		needs := tc.patch != "exactly" && name != "fixed"
		found := false
		for _, r := range a.Reasons {
			found = found || r.Code == "CANDIDATE_PATCH"
		}
		if found != needs {
			t.Errorf("%s: CANDIDATE_PATCH found %v, want %v", name, found, needs)
		}
	}
}

func TestControlOnThisHostIsEmulatedAtMost(t *testing.T) {
	control := func(script string) func(q *Question) {
		return func(q *Question) {
			dir := t.TempDir()
			for name, text := range map[string]string{"cli": "#!/bin/sh\n" + script, "m.bin": "m", "a.wav": "a"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			q.Control = &ab.Config{Unpatched: filepath.Join(dir, "cli"), Model: filepath.Join(dir, "m.bin"), Audio: filepath.Join(dir, "a.wav"), N: 2, Heaps: []ab.Heap{{Name: "as is"}}}
		}
	}
	const refusal = `echo "whisper_init_state: failed to load Core ML model from 'x'" >&2; echo "error: failed to initialize whisper context" >&2; exit 3`
	if got, want := ask(t, upstream, control(refusal)).Conditions[1].State, metOn(runtime.GOOS == "darwin"); got != want {
		t.Errorf("clean control: %q, want %q", got, want)
	}
	if got := ask(t, upstream, control("kill -ABRT $$")).Conditions[1]; got.State != NotMet || !strings.Contains(got.Evidence, "0 clean refusals of 2") {
		t.Errorf("crashing control: %+v, want not met", got)
	}
}

func TestMigration(t *testing.T) {
	for supported, want := range map[bool]string{true: Met, false: NotMet} {
		a := ask(t, upstream, func(q *Question) {
			q.Pins = append(q.Pins, &pin.Pin{Name: "n", Commit: q.Commit, Supported: supported})
		})
		if got := a.Conditions[3].State; got != want {
			t.Errorf("supported %v: %q, want %q", supported, got, want)
		}
	}
}

// Both paths have to pass, of this commit; on Apple's Core ML for more than an emulated answer.
func TestPositivePaths(t *testing.T) {
	const commit = "0123456789012345678901234567890123456789"
	coreml := Run{Commit: commit, CoreML: true, Physical: true, Verdict: reason.Pass}
	contrast := Run{Commit: commit, Contrast: true, Physical: true, Verdict: reason.Pass}
	with := func(r Run, change func(*Run)) Run { change(&r); return r }
	for name, tc := range map[string]struct {
		runs []Run
		want string
	}{
		"none":             {nil, NotRun},
		"one path":         {[]Run{coreml}, NotRun},
		"both":             {[]Run{coreml, contrast}, Met},
		"both, emulated":   {[]Run{coreml, with(contrast, func(r *Run) { r.Physical = false })}, MetEmulated},
		"a failed one":     {[]Run{coreml, with(contrast, func(r *Run) { r.Verdict = reason.Failed })}, NotMet},
		"an unknown one":   {[]Run{with(coreml, func(r *Run) { r.Verdict = reason.Unknown }), contrast}, NotMet},
		"without verdict":  {[]Run{with(coreml, func(r *Run) { r.Verdict = "" }), contrast}, NotMet},
		"another commit":   {[]Run{coreml, with(contrast, func(r *Run) { r.Commit = "9" })}, NotMet},
		"a control beside": {[]Run{coreml, {Commit: commit, Verdict: reason.Pass}}, NotRun},
	} {
		a := ask(t, upstream, func(q *Question) { q.Commit, q.Runs = commit, tc.runs })
		if got := a.Conditions[2]; got.State != tc.want {
			t.Errorf("%s: %+v, want %s", name, got, tc.want)
		}
	}
}

func TestContractNamesWhatIsLost(t *testing.T) {
	a := ask(t, upstream, nil)
	for _, r := range a.Reasons {
		if r.Code == "CANDIDATE_CONTRACT" && r.Where == whispercpp.LibrarySource && strings.Contains(r.Found, "marker: loaded") {
			if v := a.Verdict; v != reason.Failed {
				t.Errorf("verdict %s, want fail", v)
			}
			return
		}
	}
	t.Errorf("reasons %v do not say that the load marker is gone", fmt.Sprint(a.Reasons))
}

// A marker in a comment, or in code that is left out, is none.
func TestContractReadsWhatIsCompiled(t *testing.T) {
	const marker = `log("%s: Core ML model loaded\n");`
	for text, want := range map[string]bool{
		marker: true,
		"#ifdef WHISPER_USE_COREML\n" + marker + "\n#endif": true,
		"// " + marker:                                   false,
		"/* " + marker + " */":                           false,
		"#if 0\n" + marker + "\n#endif":                  false,
		`log("// not a comment"); ` + marker:             true,
		"#define LOADED \"%s: Core ML model loaded\\n\"": true,
	} {
		a := ask(t, upstream+text+"\n", nil)
		for _, c := range a.Contract {
			if c.Name == "marker: loaded" && c.Kept != want {
				t.Errorf("%q: kept %v, want %v", text, c.Kept, want)
			}
		}
	}
}

// Markers are read on standard error: one that moved to standard output is lost.
func TestContractHoldsTheStream(t *testing.T) {
	for text, want := range map[string]bool{
		`fprintf(stderr, "error: failed to initialize whisper context\n");`:             true,
		`fprintf( stderr,` + "\n" + `"error: failed to initialize whisper context\n");`: true,
		`printf("error: failed to initialize whisper context\n");`:                      false,
		`fprintf(stdout, "error: failed to initialize whisper context\n");`:             false,
	} {
		a := ask(t, upstream, func(q *Question) {
			dir := t.TempDir()
			for file, content := range map[string]string{whispercpp.LibrarySource: upstream, whispercpp.CLISource: text} {
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			q.Source = pin.Dir(dir)
		})
		for _, c := range a.Contract {
			if c.Name == "marker: context" && c.Kept != want {
				t.Errorf("%q: kept %v, want %v", text, c.Kept, want)
			}
		}
	}
}

// The bridge throws Core ML's errors away at three places; a source that keeps one handles a failure in another way.
func TestContractReadsEveryError(t *testing.T) {
	const bridge = "[[MLMultiArray alloc] initWithDataPointer: mel deallocator: nil\n error: nil\n ];\n" +
		"[[whisper_encoder_impl alloc] initWithContentsOfURL:url_model configuration:config error:nil];\n" +
		"[(__bridge id) ctx->data predictionFromLogmel_data:inMultiArray error:nil];\n"
	for name, tc := range map[string]struct {
		text string
		kept int
	}{
		"as upstream has it":     {bridge, 3},
		"an address":             {strings.Replace(bridge, "config error:nil", "config error:&err", 1), 0},
		"a variable":             {strings.Replace(bridge, "inMultiArray error:nil", "inMultiArray error: failure", 1), 0},
		"an array's address":     {strings.Replace(bridge, "error: nil\n ]", "error: &err\n ]", 1), 0},
		"a second call":          {bridge + "[ctx->data predictionFromLogmel_data:inMultiArray error:&err];", 0},
		"in a comment":           {bridge + "// error:&err", 3},
		"one call less":          {strings.Replace(bridge, "predictionFromLogmel_data", "predictionFromFeatures", 1), 2},
		"nothing kept by a text": {strings.ReplaceAll(bridge, "error", "// error"), 0},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(whispercpp.BridgeSource))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(tc.text), 0o644); err != nil {
			t.Fatal(err)
		}
		kept := 0
		for _, c := range Contract(pin.Dir(dir), Places{whispercpp.BridgeSource: whispercpp.BridgeSource}) {
			if c.Kept && strings.HasPrefix(c.Name, "no error: ") {
				kept++
			}
		}
		if kept != tc.kept {
			t.Errorf("%s: %d clauses kept, want %d", name, kept, tc.kept)
		}
	}
}

// A source with converted lines may be the patch's own revision: its line ends are named, and no other patch is asked for.
func TestLineEndsAreNamed(t *testing.T) {
	a := ask(t, strings.ReplaceAll(upstream, "\n", "\r\n"), nil)
	if !a.Has("SOURCE_LINE_ENDS") || a.Has("CANDIDATE_PATCH") || a.Verdict != reason.Failed {
		t.Errorf("found %v, want SOURCE_LINE_ENDS and no CANDIDATE_PATCH", a.Reasons)
	}
}

// What was not understood needs a reader, and says nothing of the patch.
func TestUnreadIsInconclusive(t *testing.T) {
	a := ask(t, strings.Replace(upstream, "\n    whisper_batch batch;\n", "\n    whisper_batch batch = made();\n", 1), nil)
	for _, r := range a.Reasons {
		if r.Code == "CANDIDATE_PATCH" {
			t.Errorf("a batch that was not understood is said to need the patch: %+v", r)
		}
	}
	if !a.Has("CANDIDATE_UNREAD") {
		t.Errorf("reasons %+v, want CANDIDATE_UNREAD", a.Reasons)
	}
	if !strings.Contains(a.Conditions[0].Evidence, "not understood") || a.Decision != Keep {
		t.Errorf("condition %+v, decision %s, want one not understood, and keep", a.Conditions[0], a.Decision)
	}
}

// What is not a whisper.cpp, or an older one, gets one plain answer.
func TestLayouts(t *testing.T) {
	for name, tc := range map[string]struct {
		files []string
		codes string
		says  string
	}{
		"empty":          {nil, "CANDIDATE_NO_SOURCE", "nothing: it is empty"},
		"something else": {[]string{"README.md", "src/main.c"}, "CANDIDATE_NO_SOURCE", "2 files, and none of these: src/whisper.cpp (nor whisper.cpp), examples/cli/cli.cpp (nor examples/main/main.cpp)"},
		"older": {
			[]string{"whisper.cpp", "examples/main/main.cpp", "coreml/whisper-encoder.mm"},
			"CANDIDATE_LAYOUT CANDIDATE_FILES CANDIDATE_CONTRACT CANDIDATE_CONTRACT CANDIDATE_CONTRACT CANDIDATE_CONTRACT CANDIDATE_CONTRACT CANDIDATE_PATCH",
			"src/whisper.cpp at whisper.cpp, examples/cli/cli.cpp at examples/main/main.cpp, src/coreml/whisper-encoder.mm at coreml/whisper-encoder.mm",
		},
		"a folder of the name": {[]string{"whisper.cpp/README.md"}, "CANDIDATE_NO_SOURCE", "1 files"},
	} {
		a := ask(t, upstream, func(q *Question) {
			dir := t.TempDir()
			for _, file := range tc.files {
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, file), []byte(upstream), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			q.Source = pin.Dir(dir)
		})
		var codes []string
		for _, r := range a.Reasons {
			codes = append(codes, r.Code)
		}
		if got := strings.Join(codes, " "); got != tc.codes || !strings.Contains(a.Reasons[0].Found, tc.says) || a.Decision != Keep {
			t.Errorf("%s: reasons %s, the first found %q, decision %s; want %s, %q, keep", name, got, a.Reasons[0].Found, a.Decision, tc.codes, tc.says)
		}
		if name == "older" && (a.Batch == nil || a.Batch.Unsafe() != 2) {
			t.Errorf("older: batch %+v, want two unsafe returns read at the old place", a.Batch)
		}
	}
}
