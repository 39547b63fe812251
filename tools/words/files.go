package words

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/coreml-gate/rules_coreml_gate/tools/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/transcript"
)

// Names of the files in an outcome's folder; evidence is numbered from 001 as the report's comparisons are.
const reportName = "report.json"

func evidenceName(i int, side string) string { return fmt.Sprintf("%03d-%s.evidence.json", i+1, side) }

// Write writes an outcome into a folder, which it makes.
func (o *Outcome) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make folder of an outcome: %w", err)
	}
	data, err := o.Report.Encode()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, reportName), data, 0o644); err != nil {
		return fmt.Errorf("write transcript report: %w", err)
	}
	for i, pair := range o.Runs {
		for side, e := range map[string]*evidence.Evidence{"coreml": pair.CoreML, "ggml": pair.GGML} {
			data, err := evidence.Encode(e)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, evidenceName(i, side)), data, 0o644); err != nil {
				return fmt.Errorf("write evidence: %w", err)
			}
		}
	}
	return nil
}

// Read reads an outcome's folder and holds report and evidence against each other: a comparison counts only with the
// evidence of its own runs.
func Read(dir string) (*Outcome, error) {
	data, err := os.ReadFile(filepath.Join(dir, reportName))
	if err != nil {
		return nil, fmt.Errorf("read transcript report: %w", err)
	}
	report, err := transcript.DecodeReport(data)
	if err != nil {
		return nil, err
	}
	o := &Outcome{Report: report}
	for i, c := range report.Comparisons {
		var pair Pair
		for _, side := range []struct {
			name string
			kind evidence.Kind
			to   **evidence.Evidence
			kept *transcript.Side
		}{{"coreml", evidence.KindCoreML, &pair.CoreML, c.CoreML}, {"ggml", evidence.KindContrast, &pair.GGML, c.GGML}} {
			name := evidenceName(i, side.name)
			e, _, err := evidence.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return nil, err
			}
			if err := matches(c, side.kept, side.kind, e); err != nil {
				return nil, fmt.Errorf("%s does not belong to comparison %d: %w", name, i+1, err)
			}
			*side.to = e
		}
		o.Runs = append(o.Runs, pair)
	}
	return o, nil
}

// matches holds a run's evidence against what the comparison says of that side.
func matches(c transcript.Comparison, side *transcript.Side, kind evidence.Kind, e *evidence.Evidence) error {
	switch {
	case side == nil:
		return fmt.Errorf("the comparison has no such side")
	case e.Kind != kind:
		return fmt.Errorf("it is of a %s run", e.Kind)
	case e.Digests.Audio != c.AudioSHA256 || e.Digests.Model != c.ModelSHA256:
		return fmt.Errorf("audio or model have other digests")
	case e.Public != c.Public:
		return fmt.Errorf("public is %t in one and %t in the other", e.Public, c.Public)
	case processed(e) != side.Processed || truncated(e) != side.Truncated:
		return fmt.Errorf("the run ended otherwise than the comparison says")
	}
	return nil
}
