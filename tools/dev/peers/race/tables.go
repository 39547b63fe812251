package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
)

// told is what a peer says of its tables.
type told struct {
	Command    string             `json:"command"`
	Conditions string             `json:"conditions"`
	Before     *environment.State `json:"before"`
	Tables     []toldTable        `json:"tables"`
}

type toldTable struct {
	Name    string          `json:"name"`
	Columns []report.Column `json:"columns"`
	Rows    [][]toldCell    `json:"rows"`
}

// toldCell is a text, a number, the values of a spread, or the rounds of a race.
type toldCell struct {
	Text   *string   `json:"text"`
	Number *float64  `json:"number"`
	Values []float64 `json:"values"`
	Race   *struct {
		Rounds          []measure.Round `json:"rounds"`
		OursPeakBytes   int64           `json:"ours_peak_bytes"`
		TheirsPeakBytes int64           `json:"theirs_peak_bytes"`
	} `json:"race"`
}

// cell is what stands in the table: a race is judged by the protocol here, and nowhere else.
func (c toldCell) cell(p *measure.Protocol, where string) (report.Cell, error) {
	switch {
	case c.Race != nil:
		r := &measure.Race{Name: where, Rounds: c.Race.Rounds, OursPeakBytes: c.Race.OursPeakBytes, TheirsPeakBytes: c.Race.TheirsPeakBytes}
		_, difference, err := p.JudgeRace(r)
		if err != nil {
			return report.Cell{}, err
		}
		out, what := report.S(r.Ratios()), meaning[difference]
		out.Text = &what
		return out, nil
	case len(c.Values) > 0:
		return report.S(c.Values), nil
	case c.Number != nil:
		return report.N(*c.Number), nil
	}
	return report.Cell{Text: c.Text}, nil
}

// meaning is how a difference is said.
var meaning = map[string]string{"none": "no difference", "lower": "ours takes less", "higher": "ours takes more"}

// tables prints a peer's tables and, with a folder, stores them there as a report.
func tables(p *measure.Protocol, name, reports string, data []byte, stdout io.Writer) error {
	var t told
	if err := json.Unmarshal(data, &t); err != nil {
		return fmt.Errorf("tables: %w", err)
	}
	r := &report.Report{Schema: report.Schema, Name: name, Origin: report.Measured, Command: t.Command, Before: t.Before}
	for _, table := range t.Tables {
		out := report.Table{Name: table.Name, Columns: table.Columns}
		for i, row := range table.Rows {
			cells := make([]report.Cell, len(row))
			for j, c := range row {
				var err error
				if cells[j], err = c.cell(p, fmt.Sprintf("%s, %s, row %d", name, table.Name, i)); err != nil {
					return err
				}
			}
			out.Rows = append(out.Rows, cells)
		}
		r.Tables = append(r.Tables, out)
	}
	r.Machine, r.After = report.Environment()
	// Checked whether it is stored or not, so that a wrong table is no surprise later.
	path := filepath.Join(reports, filepath.Base(name)+".json")
	if err := report.Finish(r, t.Conditions, map[bool]string{true: "", false: path}[reports == ""]); err != nil {
		return err
	}
	for i := range r.Tables {
		if _, err := fmt.Fprintln(stdout, r.Tables[i].Markdown()); err != nil {
			return err
		}
	}
	return nil
}

// state prints the machine's state, which a peer gives back with its tables.
func state(stdout io.Writer) error {
	_, s := report.Environment()
	return json.NewEncoder(stdout).Encode(s)
}
