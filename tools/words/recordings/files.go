package recordings

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
)

// Names of the files in an outcome's folder; evidence is numbered from 001 as the report's comparisons are.
const reportName = "report.json"

func evidenceName(i int, side string) string { return fmt.Sprintf("%03d-%s.evidence.json", i+1, side) }

// files are an outcome's files by name.
func (o *Outcome) files() (map[string][]byte, error) {
	data, err := o.Report.Encode()
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{reportName: data}
	for i, pair := range o.Runs {
		for side, e := range map[string]*evidence.Evidence{"coreml": pair.CoreML, "ggml": pair.GGML} {
			if out[evidenceName(i, side)], err = evidence.Encode(e); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// Write writes an outcome into a folder, which it makes.
func (o *Outcome) Write(dir string) error {
	files, err := o.files()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make folder of an outcome: %w", err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return fmt.Errorf("write outcome: %w", err)
		}
	}
	return nil
}

// Digest is the digest of an outcome's folder, in the form of package tree.
func (o *Outcome) Digest() (string, error) {
	files, err := o.files()
	if err != nil {
		return "", err
	}
	var list []tree.File
	for _, name := range slices.Sorted(maps.Keys(files)) {
		list = append(list, tree.File{Path: name, SHA256: evidence.SHA256(files[name])})
	}
	return tree.DigestFiles(list), nil
}

// Read reads an outcome's folder and compares report and evidence: a comparison counts only with the
// evidence of its own runs, evidence only with a comparison, and a side's words only if they are those of its run.
func Read(dir string) (*Outcome, error) {
	data, err := regular.ReadFile(filepath.Join(dir, reportName))
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
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read folder of an outcome: %w", err)
	}
	if want := 1 + 2*len(o.Runs); len(entries) != want {
		return nil, fmt.Errorf("folder of an outcome: %d files for %d comparisons, expected %d: what was heard and is not in the report was left out of it",
			len(entries), len(o.Runs), want)
	}
	return o, nil
}

// matches compares a run's evidence with what the comparison says of that side.
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
	case side.StdoutSHA256 != e.Stdout.SHA256:
		return fmt.Errorf("the run heard other words than the comparison says")
	case processed(e) != side.Processed || truncated(e) != side.Truncated:
		return fmt.Errorf("the run ended otherwise than the comparison says")
	}
	heard, err := HeardIn(e, "")
	switch {
	case err != nil:
		return err
	case c.Language != heard.Decoding.Language && (c.Language != "unknown" || len(c.Unlike) == 0):
		return fmt.Errorf("the run was told another language")
	case kind == evidence.KindCoreML && !slices.Equal(c.Nondeterminism, heard.Decoding.Nondeterminism()):
		return fmt.Errorf("the run was decoded otherwise than the comparison says")
	}
	return nil
}
