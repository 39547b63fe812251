package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/page"
)

// block is what stands between two marks of a document: "<!-- figures: KIND FILE... -->" and "<!-- end of figures -->".
var block = regexp.MustCompile(`(?s)(<!-- figures: ([a-z]+)((?: [a-zA-Z0-9_.-]+\.json(?:#[a-z0-9.-]+(?:=[a-zA-Z0-9_.,+-]+)?)?)+) -->\n).*?(<!-- end of figures -->)`)

// kinds are the tables that can be made of submissions.
var kinds = map[string]func(*measure.Protocol, []*measure.Submission) (string, error){
	"encoders": encoders, "pairs": pairs, "state": state, "drift": drift, "sustained": sustained,
}

// rewrite makes every block of a document again from the stored submissions.
func rewrite(document, folder string) (string, int, error) {
	var failed error
	count := 0
	out := block.ReplaceAllStringFunc(document, func(whole string) string {
		m := block.FindStringSubmatch(whole)
		count++
		text, err := table(m[2], strings.Fields(m[3]), folder)
		if err != nil && failed == nil {
			failed = err
		}
		return m[1] + text + m[4]
	})
	if n := strings.Count(document, "<!-- figures:"); n != count && failed == nil {
		failed = fmt.Errorf("%d marks begin a block of figures, %d blocks are whole: expected \"<!-- figures: KIND FILE.json -->\" … \"<!-- end of figures -->\"", n, count)
	}
	return out, count, failed
}

func table(kind string, files []string, folder string) (string, error) {
	switch kind {
	case "table":
		return reported(files, folder)
	case "reports":
		return reports(files, folder)
	}
	make, ok := kinds[kind]
	if !ok {
		return "", fmt.Errorf("figures %q: expected encoders, pairs, state, drift or sustained, of submissions, or table or reports, of stored reports", kind)
	}
	var subs []*measure.Submission
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return "", err
		}
		more, err := measure.DecodeAny(data)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		subs = append(subs, more...)
	}
	if c, reasons := measure.Merge(subs); len(reasons) > 0 {
		return "", fmt.Errorf("%v: %v", files, reasons[0])
	} else {
		subs = c.Submissions
	}
	p, err := measure.LoadProtocol(subs[0].Protocol.Name)
	if err != nil {
		return "", err
	}
	return make(p, subs)
}

// encoders has a row an arm and session: what was measured, and whether it is a figure.
func encoders(p *measure.Protocol, subs []*measure.Submission) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "| session, arm (`%s`) | artifact | a figure | encode, cold | encode, warm | decode, warm | peak resident | peak footprint |\n|---|---|---|---|---|---|---|---|\n", p.Ref.Name)
	for _, c := range p.Cells(subs) {
		for _, e := range c.Entries {
			figure := "yes"
			if len(e.Excluded) > 0 {
				figure = "no: excluded"
			}
			fmt.Fprintf(&b, "| `%s` %s | %s, %.1f MB | %s | %s | %s | %s | %s | %s |\n", e.Submission.Session, e.Arm.Name, page.Describe(e.Arm), float64(e.Arm.Artifact.EncoderBytes)/1e6, figure,
				e.Cold[measure.Encode].Show(2, "s"), e.Warm[measure.Encode].Show(2, "s"), e.Warm[measure.Decode].Show(1, "tokens/s"), e.Warm[measure.Resident].MiB(), e.Warm[measure.Footprint].MiB())
		}
	}
	return b.String(), nil
}

// pairs has a row a metric: what the pairs gave, and whether that is a comparison.
func pairs(p *measure.Protocol, subs []*measure.Submission) (string, error) {
	var b strings.Builder
	b.WriteString("| session | metric | of, than | pairs | ratio |\n|---|---|---|---|---|\n")
	for _, s := range subs {
		for i := 1; i < len(s.Arms); i++ {
			for _, m := range measure.Metrics {
				c := p.Compare(s, s.Arms[i].Name, s.Arms[0].Name, m)
				fmt.Fprintf(&b, "| `%s` | %s | %s, %s | %d of %d pass the filter | %s |\n", s.Session, m, c.Of, c.Than, c.Ratio.N, c.AllRatio.N, c)
			}
		}
	}
	return b.String(), nil
}

// state says what the machine was while a session ran.
func state(_ *measure.Protocol, subs []*measure.Submission) (string, error) {
	var b strings.Builder
	b.WriteString("| session | started | machine | virtual machine | thermal | processors busy before a run | others during a run | excluded for |\n|---|---|---|---|---|---|---|---|\n")
	for _, s := range subs {
		var busy, others []float64
		var thermal, why []string
		for i := range s.Arms {
			for j := range s.Arms[i].Runs {
				r := &s.Arms[i].Runs[j]
				if r.Before.BusyShare != nil {
					busy = append(busy, 100**r.Before.BusyShare)
				}
				if r.OthersShare != nil {
					others = append(others, 100**r.OthersShare)
				}
				thermal = append(thermal, r.Before.Thermal)
				why = append(why, r.Excluded...)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s, %d processors | %s | %s | %s | %s | %s |\n", s.Session, s.StartedAt, s.Machine.Chip, s.Machine.Cores.Logical, s.Machine.VirtualMachine,
			distinct(thermal), measure.SpreadOf(busy).Show(0, "%"), measure.SpreadOf(others).Show(0, "%"), distinct(why))
	}
	return b.String(), nil
}

func distinct(list []string) string {
	slices.Sort(list)
	out := slices.Compact(list)
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}
