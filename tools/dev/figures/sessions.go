package main

import (
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
)

// drift has a row for each session that was given the last one: the control arm's warm encode time against that.
func drift(_ *measure.Protocol, subs []*measure.Submission) (string, error) {
	var b strings.Builder
	b.WriteString("| session | started | control | its encode, warm | against session | drift |\n|---|---|---|---|---|---|\n")
	at := map[string]*measure.Submission{}
	for _, s := range subs {
		at[s.Session] = s
		against, ratio := "none was given", ""
		if s.Drift != nil {
			last := at[s.Drift.Session]
			if last == nil {
				return "", fmt.Errorf("session %s drifts against %s: expected that session among the files", s.Session, s.Drift.Session)
			}
			// What a session says of its drift is computed again from both.
			again, why := measure.DriftOf(s, last)
			if why != "" || again != s.Drift.Ratio {
				return "", fmt.Errorf("session %s says that it drifts by %v: found %v (%s)", s.Session, s.Drift.Ratio, again, why)
			}
			against, ratio = "`"+last.Session+"`", fmt.Sprintf("%.3f", again)
		}
		warm := []float64{}
		for i := range s.Arms {
			for j := range s.Arms[i].Runs {
				if r := &s.Arms[i].Runs[j]; s.Arms[i].Name == s.Control && r.Kind == measure.Warm {
					warm = append(warm, measure.Encode.Of(r))
				}
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", s.Session, s.StartedAt, s.Control, measure.SpreadOf(warm).Show(3, "s"), against, ratio)
	}
	return b.String(), nil
}

// sustained has a row an arm: what it retained, or why that is no figure.
func sustained(p *measure.Protocol, subs []*measure.Submission) (string, error) {
	var b strings.Builder
	b.WriteString("| session, arm | started | sustained |\n|---|---|---|\n")
	for _, s := range subs {
		for i := range s.Arms {
			fmt.Fprintf(&b, "| `%s` %s | %s | %s |\n", s.Session, s.Arms[i].Name, s.StartedAt, p.Retained(&s.Arms[i]))
		}
	}
	return b.String(), nil
}
