package receipt_test

import (
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/receipt"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/receipttest"
	"github.com/coreml-gate/rules_coreml_gate/tools/schematest"
)

func TestSchema(t *testing.T) {
	schematest.Check[receipt.Statement](t, "receipt.schema.json", receipt.Schema, "receipt of rules_coreml_gate", receipttest.New(t).Receipt(t))
}
