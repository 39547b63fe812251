package verify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
)

// TestEvidenceTampered flips, drops and doubles each byte of each evidence file, and cuts it there:
// nothing verifies.
func TestEvidenceTampered(t *testing.T) {
	w := gatefixture.New(t)
	s, err := statement.Decode(w.Receipt(t))
	if err != nil {
		t.Fatal(err)
	}
	judged := func(path string, data []byte) reason.Verdict {
		r := &Result{Findings: verdict.New()}
		if r.evidence(s, path, data) == nil && len(r.Reasons) == 0 {
			t.Fatalf("%s is dropped without a reason", path)
		}
		return r.Verdict
	}
	for _, path := range []string{w.Spec.CoreML, w.Spec.Canary, w.Spec.Contrast} {
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if v := judged(path, good); v != reason.Pass {
			t.Fatalf("%s as it was written: %s", filepath.Base(path), v)
		}
		for i := range good {
			flipped := append([]byte{}, good...)
			flipped[i] ^= 1 << (i % 8)
			for what, data := range map[string][]byte{
				"flipped": flipped,
				"cut":     good[:i],
				"dropped": append(append([]byte{}, good[:i]...), good[i+1:]...),
				"doubled": append(append([]byte{}, good[:i+1]...), good[i:]...),
			} {
				if v := judged(path, data); v != reason.Failed {
					t.Fatalf("%s with byte %d %s: %s", filepath.Base(path), i, what, v)
				}
			}
		}
	}
}
