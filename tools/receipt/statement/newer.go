package statement

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// SchemaVersion is the predicate schema that this version writes and reads.
const SchemaVersion = 1

var versioned = regexp.MustCompile(`^(.*/v)([1-9][0-9]{0,8})$`)

// Newer is the reason RECEIPT_NEWER for a statement of a known kind whose predicate type or schema has a higher number than
// this version knows, and nil for any other. It looks at nothing else: such a statement may have any form.
func Newer(data []byte, known ...string) *reason.Error {
	var s struct {
		PredicateType string `json:"predicateType"`
		Predicate     struct {
			Schema json.Number `json:"schema"`
		} `json:"predicate"`
	}
	if json.Unmarshal(data, &s) != nil {
		return nil
	}
	for _, kind := range known {
		k, found := versioned.FindStringSubmatch(kind), versioned.FindStringSubmatch(s.PredicateType)
		if k == nil || found == nil || k[1] != found[1] {
			continue
		}
		// Higher by number: numbers of nine digits at most fit.
		version, _ := strconv.Atoi(found[2])
		if highest, _ := strconv.Atoi(k[2]); version > highest {
			return newer(kind, s.PredicateType)
		}
		schema, err := strconv.Atoi(strings.TrimSpace(s.Predicate.Schema.String()))
		if version, _ := strconv.Atoi(k[2]); found[2] == strconv.Itoa(version) && err == nil && schema > SchemaVersion {
			return newer("schema "+strconv.Itoa(SchemaVersion)+" of "+kind, "schema "+strconv.Itoa(schema))
		}
	}
	return nil
}

func newer(known, found string) *reason.Error {
	return reason.Errorf(reason.ReceiptNewer, "statement", known+" at most", "%s, made by a newer version", found)
}
