package statement_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/schematest"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
)

// TestGolden holds a receipt's bytes: what was written once is written for ever under this schema. With
// -update it writes the golden anew, which is right only for a new schema or sample.
func TestGolden(t *testing.T) {
	const golden = "testdata/receipt.json"
	got := gatefixture.New(t).Receipt(t)
	if schematest.Update() {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the receipt of the sample changed (-want +got):\n%s", diff)
	}
}
