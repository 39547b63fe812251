package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/modulearchive"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/release"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
)

// signable is what a file holds: a receipt or a release. The other is nil.
type signable struct {
	receipt *statement.Statement
	release *release.Statement
}

func (s signable) String() string {
	if s.release != nil {
		return fmt.Sprintf("a release of %d receipts", len(s.release.Predicate.Receipts))
	}
	return "a receipt"
}

// readStatement reads a receipt or a release, or what is inside an envelope, whose signature it does not check.
func readStatement(stdin io.Reader, path string) (signable, error) {
	data, err := readInput(stdin, path, maxSigned)
	if err != nil {
		return signable{}, err
	}
	return decodeStatement(path, data)
}

func decodeStatement(path string, data []byte) (s signable, err error) {
	if e, err := envelope.Parse(data); err == nil {
		data = e.Payload
	}
	if err := statement.Newer(data, statement.PredicateType, release.PredicateType); err != nil {
		return signable{}, fmt.Errorf("%s: %w", path, err)
	}
	// A first look, to choose the strict reader.
	var kind struct {
		PredicateType string `json:"predicateType"`
	}
	_ = json.Unmarshal(data, &kind) // a statement that cannot be read so is none of the two
	switch kind.PredicateType {
	case release.PredicateType:
		s.release, err = release.Decode(data)
	case modulearchive.PredicateType:
		err = errors.New("the receipt of a module's archive, which only sign and verify read: give the receipt of a gate")
	default:
		s.receipt, err = statement.Decode(data)
	}
	if err != nil {
		return signable{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// newer is the report of a receipt or release that a newer version made, if err is one: a verdict, and no mistake of the
// command's.
func newer(err error) (report, bool) {
	refused, ok := refusal(err)
	return refused, ok && refused.Has(reason.ReceiptNewer)
}

// readReceipt is readStatement where only a receipt will do.
func readReceipt(stdin io.Reader, path string) (*statement.Statement, error) {
	s, err := readStatement(stdin, path)
	if err != nil {
		return nil, err
	}
	if s.receipt == nil {
		return nil, fmt.Errorf("%s: %s: give one of those", path, s)
	}
	return s.receipt, nil
}
