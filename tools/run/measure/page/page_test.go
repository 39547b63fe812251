package page_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/measuretest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/page"
)

func html(t *testing.T, subs ...*measure.Submission) string {
	t.Helper()
	p, err := measure.LoadProtocol(measure.DefaultProtocol)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := page.HTML(&b, p, subs); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSelfContained holds that the page fetches nothing and runs nothing, and that names cannot become markup.
func TestSelfContained(t *testing.T) {
	s := measuretest.Sample(0.8)
	s.Arms[0].Name, s.Control = `<img src=x onerror="alert(1)">`, `<img src=x onerror="alert(1)">`
	text := html(t, measuretest.Seal(s))
	if m := regexp.MustCompile(`<script|<img|<link|\bsrc="|\bhref=|url\(|@import`).FindString(text); m != "" {
		t.Errorf("the page holds %q", m)
	}
	if !strings.Contains(text, "default-src 'none'") {
		t.Error("the page has no policy against fetching")
	}
}

// TestShows holds what a reader must find: both peaks, cold beside warm, comparisons, exclusions with their reasons, every run.
func TestShows(t *testing.T) {
	text := html(t, measuretest.Sample(0.8))
	for _, want := range []string{
		"bench_v1", "1.000 s (1.000 to 1.000, n = 1)", "3.000 s (3.000 to 3.000, n = 1)", "200.0 MiB", "150.0 MiB", "50.0 tokens/s", "1 accepted, 0 excluded, provisional",
		"encode_seconds, a over b: lower: 0.800", "Memory over time", "<svg", "float32, encoder 000000000000", "Nothing.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	energy := measuretest.EachRun(measuretest.Sample(1), func(_ *measure.Arm, r *measure.Run) {
		r.Power = &measure.Power{Instrument: "rapl", MeanWatts: 10, IdleWatts: 5, Seconds: r.WallSeconds, Samples: 2, Inferences: 1, IncludesLoad: true, WholeSystem: true,
			AfterLoad: &measure.PowerPart{MeanWatts: 12, Seconds: 1, Samples: 2}}
	})
	if got := html(t, energy); !strings.Contains(got, "<h2>Energy</h2>") || !strings.Contains(got, "with the load, 12.00 J") {
		t.Error("the page of an energy session does not say what an inference took with the load and after it")
	}
	if strings.Contains(text, "<h2>Energy</h2>") {
		t.Error("the page of a burst has energy")
	}
	excluded := measuretest.Sample(0.8)
	excluded.Machine.VirtualMachine = "yes"
	excluded.Arms[1].Runs[4].Exit = "signal 9"
	text = html(t, measuretest.Seal(excluded))
	for _, want := range []string{"0 accepted, 1 excluded", "excluded by the filter, no figure", "VIRTUAL_MACHINE", "MEASURED_RUN_FAILED", "signal 9", "no comparison; the 8 pairs that were measured"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page of excluded runs does not say %q", want)
		}
	}
}

func TestText(t *testing.T) {
	p, err := measure.LoadProtocol(measure.DefaultProtocol)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := page.Text(&b, p, []*measure.Submission{measuretest.Sample(0.8)}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"warm encode", "cold encode", "peak footprint", "lower: 0.800"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text does not say %q:\n%s", want, &b)
		}
	}
}
