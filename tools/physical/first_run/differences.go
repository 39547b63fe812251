package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// receipt is what is read of a receipt: an in-toto statement.
type receipt struct {
	Predicate struct {
		Lane         string            `json:"lane"`
		LaneIdentity map[string]string `json:"lane_identity"`
		Verdict      string            `json:"verdict"`
		Pin          struct {
			Name      string `json:"name"`
			Supported bool   `json:"supported"`
		} `json:"pin"`
		Judgements []struct {
			Name    string `json:"name"`
			Verdict string `json:"verdict"`
			Reasons []struct {
				Code     string `json:"code"`
				Expected string `json:"expected"`
				Found    string `json:"found"`
			} `json:"reasons"`
		} `json:"judgements"`
	} `json:"predicate"`
}

// required are the judgements that the gate of this repository makes.
var required = []string{"sources", "markers", "canary", "contrast", "transcript", "contract", "parity", "words"}

// differences writes what is not as the documents say it is. A difference is not a fault of the run: on a Mac, where nothing of
// this was ever run, it is what the run is for.
func (s *session) differences(log io.Writer) error {
	found := s.ofReceipt()
	for _, r := range s.summary.Steps {
		if r.Status == failed {
			found = append(found, fmt.Sprintf("step %s: expected to pass, found: %s (%s)", r.Step, r.Why, r.Log))
		}
	}
	s.summary.Differences = found
	var text strings.Builder
	fmt.Fprintf(&text, "# Differences\n\nOf this run, on the %s lane, to what the documents expect: %d.\n", s.summary.Lane, len(found))
	for _, f := range found {
		fmt.Fprintf(&text, "\n- %s", f)
	}
	text.WriteString("\n\nOn any machine with a checkout:\n\n    coregate " + strings.Join(s.verification(""), " ") + "\n    coregate report gate/receipt.json --out page.html\n")
	if err := os.WriteFile(filepath.Join(s.folder, "differences.md"), []byte(text.String()), 0o644); err != nil {
		return err
	}
	fmt.Fprint(log, text.String())
	if len(found) > 0 {
		return fmt.Errorf("%d, in differences.md", len(found))
	}
	return nil
}

func (s *session) ofReceipt() []string {
	data, err := os.ReadFile(filepath.Join(s.folder, "gate", "receipt.json"))
	if err != nil {
		return []string{"receipt: expected gate/receipt.json, found none"}
	}
	var r receipt
	if err := json.Unmarshal(data, &r); err != nil {
		return []string{fmt.Sprintf("receipt: expected a statement, found: %v", err)}
	}
	var out []string
	add := func(what, expected, got string) {
		if expected != got {
			out = append(out, fmt.Sprintf("%s: expected %s, found %s", what, expected, got))
		}
	}
	p := r.Predicate
	coreML := "CoreML.framework"
	if !s.mac {
		coreML = "coreml_stand_in"
	}
	add("lane", s.summary.Lane, p.Lane)
	add("lane_identity.core_ml", coreML, p.LaneIdentity["core_ml"])
	add("verdict", "pass", p.Verdict)
	if s.mac {
		add("pin supported", "true", fmt.Sprint(p.Pin.Supported))
	}
	verdicts := map[string]string{}
	for _, j := range p.Judgements {
		verdicts[j.Name] = j.Verdict
		for _, why := range j.Reasons {
			out = append(out, fmt.Sprintf("%s: %s: expected %s, found %s", j.Name, why.Code, why.Expected, why.Found))
		}
	}
	for _, name := range required {
		got := verdicts[name]
		if got == "" {
			got = "no such judgement"
		}
		add("judgement "+name, "pass", got)
	}
	return out
}
