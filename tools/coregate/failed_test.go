package main

import (
	gocmp "cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

// bend makes a symptom of a good run's log.
type bend struct {
	kind     evidence.Kind
	as       evidence.Kind // what it is judged as, if that is another
	from, to string        // the first is replaced; everything, if it is empty and to is not
	exit     string
	wordless bool
}

// TestSymptoms holds that a log which shows what docs/failed.md says is judged by that code.
func TestSymptoms(t *testing.T) {
	const loaded = "whisper_init_state: Core ML model loaded\n"
	line := func(kind evidence.Kind, part string) string {
		for l := range strings.Lines(evidencetest.Stderr(kind)) {
			if strings.Contains(l, part) {
				return l
			}
		}
		t.Fatalf("the log of %s has no line with %q", kind, part)
		return ""
	}
	failed, encode := line("canary", "failed to load Core ML model"), line("contrast", "compute buffer (encode)")
	bends := map[string]bend{
		reason.NoCoreMLBuild:          {kind: "coreml", from: "COREML = 1", to: "COREML = 0"},
		reason.LoadMarkerAbsent:       {kind: "coreml", from: loaded},
		reason.CoreMLLoadFailed:       {kind: "canary", as: "coreml", exit: "3"},
		reason.FallbackFailurePresent: {kind: "coreml", from: loaded, to: failed},
		reason.GGMLEncoderPresent:     {kind: "coreml", from: loaded, to: loaded + encode},
		reason.TranscriptEmpty:        {kind: "coreml", wordless: true},
		reason.CrashSignal:            {kind: "coreml", exit: "139"},
		reason.ExitCode:               {kind: "coreml", exit: "1"},
		reason.CanarySignal:           {kind: "canary", exit: "139"},
		reason.CanaryExit:             {kind: "canary", exit: "0"},
		reason.CanaryMarkerAbsent:     {kind: "canary", from: failed, exit: "3"},
		reason.CanaryLoaded:           {kind: "canary", from: failed, to: loaded, exit: "3"},
		reason.CanaryTimeout:          {kind: "canary", exit: "timeout"},
		reason.ContrastCoreML:         {kind: "contrast", from: "COREML = 0", to: "COREML = 1"},
		reason.ContrastNoEncoder:      {kind: "contrast", from: encode},
		reason.SecondLoadMarker:       {kind: "coreml", from: loaded, to: loaded + loaded},
		reason.LogSilenced:            {kind: "coreml", to: "error: failed to initialize whisper context\n", exit: "3"},
		reason.LogEmpty:               {kind: "coreml", to: "\n"},
		reason.RunTimeout:             {kind: "coreml", exit: "timeout"},
	}
	for _, s := range symptoms {
		b, ok := bends[s.code]
		if !ok {
			t.Errorf("%s: no log shows it", s.code)
			continue
		}
		log := evidencetest.Stderr(b.kind)
		if b.from == "" && b.to != "" {
			log = b.to
		} else if log = strings.Replace(log, b.from, b.to, 1); b.from != "" && log == evidencetest.Stderr(b.kind) {
			t.Errorf("%s: nothing was bent", s.code)
		}
		words := " words\n"
		if b.wordless {
			words = ""
		}
		_, stdout, stderr := call(t, fmt.Sprintf("exit: %s\n--- stderr\n%s--- stdout\n%s", gocmp.Or(b.exit, "0"), log, words), "judge", "--log", "-", "--kind", string(gocmp.Or(b.as, b.kind)))
		if !strings.Contains(stdout, "\n  "+s.code+" ") {
			t.Errorf("%s: not found in\n%s%s", s.code, stdout, stderr)
		}
	}
}

// TestFailedPage compares docs/failed.md with the program.
func TestFailedPage(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "failed.md")
	code, want, _ := call(t, "", "explain", "--guide")
	if code != 0 {
		t.Fatalf("exit %d", code)
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/failed.md is stale: go test ./tools/coregate -run Failed -update writes it (-want +got):\n%s", diff)
	}
	for _, i := range inspections {
		if !slices.ContainsFunc(reason.Sections, func(s reason.Section) bool { return s.Title == i.title }) {
			t.Errorf("no section of reason codes is called %q", i.title)
		}
	}
}
