package statement_test

import (
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/schematest"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
)

func TestSchema(t *testing.T) {
	schematest.Check[statement.Statement](t, "receipt.schema.json", statement.Schema, "receipt of rules_coreml_gate", gatefixture.New(t).Receipt(t))
}
