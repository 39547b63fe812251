package report_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

// data is a report on a world, with all its files at hand.
func data(t *testing.T, w *gatefixture.World) *report.Data {
	t.Helper()
	s, err := statement.Decode(w.Receipt(t))
	if err != nil {
		t.Fatal(err)
	}
	d, err := report.New(s)
	if err != nil {
		t.Fatal(err)
	}
	d.Explain, d.Reference, d.Machine = reason.Lookup, evidencetest.Reference, "here"
	for _, e := range []*evidence.Evidence{w.CoreML, w.Canary, w.Contrast} {
		bytes, err := evidence.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Add(bytes); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func observe(t *testing.T, d *report.Data, machine string) {
	t.Helper()
	o := &evidence.Observations{
		Schema: 1, EvidenceSHA256: d.Receipt.Predicate.Evidence[0].SHA256, StartedAt: "2026-08-01T11:30:00Z", Host: map[string]string{"os": "linux", "machine": machine},
		WarmUpSeconds: []float64{}, WallSeconds: 2.5, PeakResidentBytes: 3 << 20, RawStderrSHA256: "", Timings: map[string]float64{"encode": 812.22},
	}
	bytes, err := evidence.EncodeObservations(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Add(bytes); err != nil {
		t.Fatal(err)
	}
}

func html(t *testing.T, d *report.Data) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// wants holds that all of these stand on the page, and none of those.
func wants(t *testing.T, page string, all []string, none ...string) {
	t.Helper()
	for _, text := range all {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q", text)
		}
	}
	for _, text := range none {
		if strings.Contains(page, text) {
			t.Errorf("the page has %q", text)
		}
	}
}

func TestPage(t *testing.T) {
	w := gatefixture.New(t)
	d := data(t, w)
	observe(t, d, "here")
	d.Parity = &report.Parity{Policy: "fp32_v2", FrameSNR: []float64{120, 118, 119}, SNR: 119, Cosine: 1, Limit: 100}
	page := html(t, d)
	wants(t, page, []string{
		`<p class="verdict">pass</p>`, "//gate:receipt", "lane <b>emulated</b>", "What this receipt does not say", d.SHA256,
		gatefixture.Sum(t, w.Spec.CLI), `<svg class="chain"`, `<svg class="plot"`, `class="limit"`, "119.00 dB", "and so my fellow americans",
		"measured on this machine", "3.0 MiB", "812.22 ms", "whisper_init_state: Core ML model loaded", "exit 3", "Placement: not observed",
		`name="viewport"`, "@media print",
	}, "measured elsewhere", "No words", "No parity")
	// Nothing is fetched and nothing runs.
	wants(t, page, nil, "<script", "src=", "href=", "url(", "@import", "<link", "<iframe", "javascript:")
}

func TestElsewhere(t *testing.T) {
	d := data(t, gatefixture.New(t))
	observe(t, d, "another")
	wants(t, html(t, d), []string{"measured elsewhere"}, "measured on this machine")
	d = data(t, gatefixture.New(t))
	observe(t, d, "unknown")
	wants(t, html(t, d), []string{"cannot be told from others"}, "measured elsewhere", "measured on this machine")
}

// TestFailures holds that a page says why, and what to do.
func TestFailures(t *testing.T) {
	w := gatefixture.New(t)
	w.Canary.Exit = evidence.Exit{Kind: evidence.ExitSignal, Signal: 6}
	evidencetest.SetStreams(w.CoreML, evidencetest.Stderr("coreml"), strings.Replace(evidencetest.Reference, "ask what you", "ask you", 1))
	w.Write(t)
	def, _ := reason.Lookup("CANARY_SIGNAL")
	page := html(t, data(t, w))
	wants(t, page, []string{`<p class="verdict">fail</p>`, "CANARY_SIGNAL", "signal 6 (SIGABRT)", def.Do, `<span class="del">what</span>`}, `<p class="verdict">pass</p>`)
}

// TestBare holds that what was not given is said to be missing.
func TestBare(t *testing.T) {
	s, err := statement.Decode(gatefixture.New(t).Receipt(t))
	if err != nil {
		t.Fatal(err)
	}
	d, err := report.New(s)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, html(t, d), []string{"Its evidence was not given", "observations were not given", "No parity measurement was given", "No words"})
}

// TestPrivate holds that a private fixture's words are not on the page, even if the reference is given.
func TestPrivate(t *testing.T) {
	w := gatefixture.New(t)
	for _, e := range []*evidence.Evidence{w.CoreML, w.Contrast, w.Canary} {
		e.Public = false
		evidencetest.SetStreams(e, evidencetest.Stderr(e.Kind), evidencetest.Reference)
	}
	w.Write(t)
	wants(t, strings.ToLower(html(t, data(t, w))), []string{"no words"}, "fellow", "americans")
}

// TestEscaped holds that what a receipt says stays text.
func TestEscaped(t *testing.T) {
	w := gatefixture.New(t)
	d := data(t, w)
	d.Receipt.Predicate.Toolchain["compiler"] = `"><img src=x onerror=alert(1)>`
	// No receipt that can be read has such names; a page does not rely on that.
	d.Receipt.Predicate.Name, d.Receipt.Predicate.Pin.Name = `//gate:<script>alert(1)</script>`, `<svg onload=alert(1)>`
	wants(t, html(t, d), []string{"&lt;script&gt;", "&lt;svg onload"}, "<script>", "<img", "<svg onload")
}

// TestHostile puts into every text of a receipt what a page, a log or a terminal would take for more than text.
func TestHostile(t *testing.T) {
	const bad = "<script>x</script></style><img src=x onerror=y>\"'&{{.}}]]>\x00\x1b[31m\u202e\u2028\uffff\n::error::x\n//gate: pass"
	w := gatefixture.New(t)
	w.Canary.Exit.Code = 0
	w.Write(t)
	d := data(t, w)
	observe(t, d, bad)
	p := &d.Receipt.Predicate
	p.Toolchain = map[string]string{"compiler": bad, bad: bad}
	p.Pin.Name, p.Placement, p.Flavour, p.Pin.Commit = bad, bad, bad, "é"+strings.Repeat("é", 10)
	for _, j := range p.Judgements {
		r := reason.Reason{Code: bad, Where: bad, Expected: bad, Found: bad}
		j.Name, j.Facts, j.Notes, j.Reasons = bad, map[string]any{bad: bad}, []reason.Reason{r}, append(j.Reasons, r)
		j.Policy = &verdict.PolicyRef{Name: bad, SHA256: bad}
	}
	p.Provisional = []string{bad}
	p.Materials[0].Name = bad
	d.Observations[evidence.KindCoreML].Host = map[string]string{bad: bad}
	d.Observations[evidence.KindCoreML].Timings = map[string]float64{bad: 1}
	d.Parity = &report.Parity{Policy: bad, FrameSNR: []float64{1, 2}}
	for name, write := range map[string]func(io.Writer) error{"html": d.HTML, "junit": d.JUnit, "text": d.Text} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for i, r := range text {
			if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") || reason.Hidden(r) && r != '\n' && r != '\t' {
				t.Errorf("%s: character %q at byte %d", name, r, i)
			}
		}
		if name == "text" && (strings.Contains(text, "\n::error") || strings.Contains(text, "\n//gate: pass")) {
			t.Errorf("a text of the receipt makes a line of its own:\n%s", text)
		}
		if name == "html" && (strings.Contains(text, "<script") || strings.Contains(text, "<img") || strings.Count(text, "</style>") != 1) {
			t.Error("a text of the receipt makes an element of its own")
		}
		if name != "junit" {
			continue
		}
		for tokens := xml.NewDecoder(&b); ; {
			if _, err := tokens.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("not well formed: %v", err)
			}
		}
	}
}

// TestForeignMeasurements holds that reference words and parity are those of the receipt.
func TestForeignMeasurements(t *testing.T) {
	w := gatefixture.New(t)
	d := data(t, w)
	d.Reference = ""
	if err := d.AddReference([]byte("other words\n")); err == nil || d.Reference != "" {
		t.Errorf("other words are taken: %v", err)
	}
	if err := d.AddReference([]byte(evidencetest.Reference + "\n")); err != nil {
		t.Error(err)
	}
	parity := func(encoder, model, snr string) error {
		return d.AddParity([]byte(fmt.Sprintf(`{"facts":{"policy":"fp32_v2","encoder_digest":%q,"model_sha256":%q,"measurement":{"snr_db":1,"cosine":1,"frame_snr_db":[%s]}}}`, encoder, model, snr)))
	}
	model, encoder := d.Receipt.Subject[1].Digest["sha256"], d.Receipt.Subject[2].Digest["sha256"]
	for name, err := range map[string]error{
		"another encoder": parity(model, model, "1"), "another model": parity(encoder, encoder, "1"), "of nothing": d.AddParity([]byte(`{"facts":{}}`)),
		"no ratio": parity(encoder, model, "1e308"),
	} {
		if err == nil {
			t.Errorf("parity, %s: taken", name)
		}
	}
	if err := parity(encoder, model, "110,120"); err != nil || d.Parity == nil {
		t.Errorf("its own parity: %v", err)
	}
}

func TestForeignFiles(t *testing.T) {
	d := data(t, gatefixture.New(t))
	other, err := evidence.Encode(evidencetest.Sample("coreml"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Add(other); err == nil {
		t.Error("evidence that the receipt does not name is shown")
	}
	if _, err := d.Add([]byte("{}")); err == nil {
		t.Error("a file that is neither evidence nor observations is taken")
	}
}

func TestJUnit(t *testing.T) {
	w := gatefixture.New(t)
	w.Canary.Exit = evidence.Exit{Kind: evidence.ExitSignal, Signal: 6}
	w.Spec.Required = append(w.Spec.Required, "words")
	w.Write(t)
	var b bytes.Buffer
	if err := data(t, w).JUnit(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Failure *struct {
				Type string `xml:"type,attr"`
			} `xml:"failure"`
			Error *struct {
				Type string `xml:"type,attr"`
			} `xml:"error"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]string{}
	for _, c := range got.Cases {
		switch {
		case c.Failure != nil:
			outcomes[c.Name] = c.Failure.Type
		case c.Error != nil:
			outcomes[c.Name] = c.Error.Type
		default:
			outcomes[c.Name] = "pass"
		}
	}
	want := map[string]string{
		"binding": "pass", "sources": "pass", "markers": "CANARY_NOT_PASSED", "canary": "CANARY_SIGNAL", "contrast": "pass",
		"transcript": "CANARY_NOT_PASSED", "contract": "pass", "parity": "pass", "words": "JUDGEMENT_MISSING",
	}
	if diff := cmp.Diff(want, outcomes); diff != "" {
		t.Errorf("outcomes differ (-want +got):\n%s", diff)
	}
	if got.Tests != 9 || got.Failures != 2 || got.Errors != 2 {
		t.Errorf("%d tests, %d failures, %d errors, want 9, 2, 2", got.Tests, got.Failures, got.Errors)
	}
}

func TestText(t *testing.T) {
	w := gatefixture.New(t)
	w.Canary.Exit.Code = 0
	w.Write(t)
	var b bytes.Buffer
	if err := data(t, w).Text(&b); err != nil {
		t.Fatal(err)
	}
	wants(t, b.String(), []string{"//gate:receipt: fail", "canary       fail", "CANARY_EXIT", "provisional: lane: emulated"})
}

func TestParseParity(t *testing.T) {
	got, err := report.ParseParity([]byte(`{"verdict":"pass","facts":{"policy":"fp32_v2","measurement":{"snr_db":119,"cosine":1,"frame_snr_db":[1,2]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&report.Parity{Policy: "fp32_v2", SNR: 119, Cosine: 1, FrameSNR: []float64{1, 2}}, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	if _, err := report.ParseParity([]byte(`{"facts":{}}`)); err == nil {
		t.Error("a file without a measurement is taken")
	}
}

// TestManyReasons holds that a judgement of many reasons costs each format in proportion to them, counted in what is
// allocated: four times the reasons cost about four times as much, not sixteen.
func TestManyReasons(t *testing.T) {
	cost := func(write func(*report.Data, io.Writer) error, n int) uint64 {
		w := gatefixture.New(t)
		w.Canary.Exit.Code = 0
		w.Write(t)
		d := data(t, w)
		for _, j := range d.Receipt.Predicate.Judgements {
			if len(j.Reasons) > 0 {
				j.Reasons = slices.Repeat(j.Reasons[:1], n)
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := write(d, io.Discard); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for name, write := range map[string]func(*report.Data, io.Writer) error{"html": (*report.Data).HTML, "junit": (*report.Data).JUnit, "text": (*report.Data).Text} {
		if few, many := cost(write, 2000), cost(write, 8000); many > 8*few {
			t.Errorf("%s: 2000 reasons allocate %d bytes, 8000 allocate %d", name, few, many)
		}
	}
}

// TestWorstFirst holds that a reader of the page meets what does not pass before anything that does.
func TestWorstFirst(t *testing.T) {
	w := gatefixture.New(t)
	w.Contract.Add(reason.PairingAbsent, "tensor x", "the model's", "another's")
	w.Write(t)
	s, err := statement.Decode(w.Receipt(t))
	if err != nil {
		t.Fatal(err)
	}
	d, err := report.New(s)
	if err != nil {
		t.Fatal(err)
	}
	d.Explain = reason.Lookup
	var b strings.Builder
	if err := d.HTML(&b); err != nil {
		t.Fatal(err)
	}
	_, judged, _ := strings.Cut(b.String(), "<h2>Judgements</h2>")
	if fail, pass := strings.Index(judged, `<article class="fail">`), strings.Index(judged, `<article class="pass">`); fail < 0 || fail > pass {
		t.Errorf("the first failure is at %d, the first pass at %d", fail, pass)
	}
}
