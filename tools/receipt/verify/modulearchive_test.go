package verify_test

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/modulearchive"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/verify"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// TestModuleArchive verifies the receipt of a module's archive. That its archive is compared, package modulearchive shows.
func TestModuleArchive(t *testing.T) {
	s := newScene(t)
	good, err := modulearchive.Encode(modulearchive.New("m", "1.0", strings.Repeat("0", 64), []modulearchive.File{{Path: "MODULE.bazel", SHA256: strings.Repeat("1", 64)}}))
	if err != nil {
		t.Fatal(err)
	}
	s.files = verify.Files{}
	s.payload = good
	if r := s.verify(t, s.signed(t)); r.Verdict != reason.Pass || len(r.Unchecked) != 1 || r.Facts["module"] != "m" {
		t.Errorf("without the archive: %s %v, not checked %q", r.Verdict, r.Reasons, r.Unchecked)
	}
	s.files.Others = []string{s.world.Spec.CLI}
	if r := s.verify(t, s.signed(t)); r.Verdict != reason.Failed || !r.Has(reason.ArchiveDiffers) {
		t.Errorf("with another file: %s %v", r.Verdict, r.Reasons)
	}
	s.files = verify.Files{}
	for from, c := range map[string]struct {
		to, code string
		verdict  reason.Verdict
	}{
		`"schema":1`:        {`"schema":2`, reason.ReceiptNewer, reason.Unknown},
		`module-archive/v1`: {`module-archive/v2`, reason.ReceiptNewer, reason.Unknown},
		`"version":"1.0"`:   {`"version":"1.1"`, reason.ReceiptMalformed, reason.Failed},
	} {
		s.payload = []byte(strings.Replace(string(good), from, c.to, 1))
		if r := s.verify(t, s.signed(t)); r.Verdict != c.verdict || !r.Has(c.code) {
			t.Errorf("%s: %s %v", c.to, r.Verdict, r.Reasons)
		}
	}
	s.payload = good
	for name, change := range map[string]func(d *verify.Demands, f *verify.Files){
		"a lane":        func(d *verify.Demands, _ *verify.Files) { d.Lane = evidence.LanePhysical },
		"a profile":     func(d *verify.Demands, _ *verify.Files) { d.Profile = statement.ProfileRuns },
		"a judgement":   func(d *verify.Demands, _ *verify.Files) { d.Judgements = []string{"words"} },
		"an age":        func(d *verify.Demands, _ *verify.Files) { d.MaxAge = 1 },
		"a program":     func(_ *verify.Demands, f *verify.Files) { f.CLI = s.world.Spec.CLI },
		"evidence":      func(_ *verify.Demands, f *verify.Files) { f.Evidence = []string{s.world.Spec.CoreML} },
		"what ships":    func(_ *verify.Demands, f *verify.Files) { f.Release = t.TempDir() },
		"another pin":   func(d *verify.Demands, _ *verify.Files) { d.AllowUnsupportedPin = true },
		"a placement":   func(_ *verify.Demands, f *verify.Files) { f.Plan = s.world.Spec.CLI },
		"as it was not": func(_ *verify.Demands, f *verify.Files) { f.AsSigned = true },
	} {
		d, f := s.demands, verify.Files{}
		change(&d, &f)
		if _, err := verify.Verify(t.Context(), s.signed(t), d, f); err == nil || !strings.Contains(err.Error(), "nothing was run for it") {
			t.Errorf("%s is demanded of an archive: %v", name, err)
		}
	}
}
