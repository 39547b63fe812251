package evidence_test

import (
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/schematest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

func TestSchemas(t *testing.T) {
	schematest.Check[evidence.Evidence](t, "evidence.schema.json", evidence.EvidenceSchema, "evidence.json of rules_coreml_gate",
		encode(t, evidencetest.Sample("coreml")), encode(t, evidencetest.Sample("canary")))
	schematest.Check[evidence.Observations](t, "observations.schema.json", evidence.ObservationsSchema, "observations.json of rules_coreml_gate")
}
