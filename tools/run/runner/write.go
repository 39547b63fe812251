package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/wholefile"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// Outputs are the files of a run, "" for one that is not wanted.
type Outputs struct {
	Evidence, Observations string
}

// Clear removes what an earlier run left at the outputs, before anything else is done: a run that is refused
// or killed must not leave another's evidence to be taken for its own. Inputs are not touched.
func (o Outputs) Clear() error {
	for _, path := range []string{o.Evidence, o.Observations} {
		info, err := os.Lstat(path)
		switch {
		case path == "" || errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return fmt.Errorf("clear output: %w", err)
		case info.Mode()&os.ModeSymlink == 0 && !info.Mode().IsRegular():
			continue // a terminal or a pipe has nothing to remove, and what is not a file is told when it is written
		}
		if err := looksWritten(path); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clear output: an earlier run's file must not stay: %w", err)
		}
	}
	return nil
}

// looksWritten refuses a file that no run can have written, which a slip in a path would remove.
func looksWritten(path string) error {
	f, err := openPlain(path)
	if err != nil {
		return nil // a link to nothing, or to what is not a file: only the link goes
	}
	defer f.Close()
	first := make([]byte, 1)
	if n, _ := f.Read(first); n == 1 && first[0] != '{' {
		return fmt.Errorf("output %s: expected no file, or what an earlier run wrote there, found another file: name another output", path)
	}
	return nil
}

// Prepare reads the spec and clears the outputs, whether the spec can be read or not.
func Prepare(specFile string, out Outputs) (*Spec, error) {
	s, err := ReadSpec(specFile)
	if err != nil {
		return nil, errors.Join(err, out.ready(&Spec{}, specFile))
	}
	return s, out.ready(s, specFile)
}

// Ready checks and clears the outputs of a run whose spec is in no file.
func (o Outputs) Ready(s *Spec) error { return o.ready(s, "") }

func (o Outputs) ready(s *Spec, specFile string) error {
	if err := o.Distinct(s, specFile); err != nil {
		return err
	}
	return o.Clear()
}

// Distinct refuses outputs that are inputs of the run, or each other: clearing them would lose the input.
func (o Outputs) Distinct(s *Spec, specFile string) error {
	inputs := []string{specFile, s.CLI, s.Model, s.Audio, s.Encoder, s.Evaluator, s.Pin, s.Defines, s.LaneIdentityFile, s.AttemptToken}
	for _, out := range []string{o.Evidence, o.Observations} {
		info, err := os.Stat(out)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		for _, in := range inputs {
			if other, err := os.Stat(in); err == nil && os.SameFile(info, other) {
				return fmt.Errorf("output %s is the input %s: name another file", out, in)
			}
		}
	}
	if o.Evidence != "" && filepath.Clean(o.Evidence) == filepath.Clean(o.Observations) {
		return fmt.Errorf("evidence and observations are both to go to %s: name two files", o.Evidence)
	}
	return nil
}

// Write writes the outputs, each whole or not at all. The observations, which name their evidence by digest,
// come first, so that evidence which is there has them.
func (r *Result) Write(o Outputs) error {
	e, err := evidence.Encode(r.Evidence)
	if err != nil {
		return err
	}
	obs, err := evidence.EncodeObservations(r.Observations)
	if err != nil {
		return err
	}
	if err := writeWhole(o.Observations, obs); err != nil {
		return fmt.Errorf("write observations: %w", err)
	}
	if err := writeWhole(o.Evidence, e); err != nil {
		if o.Observations != "" {
			err = errors.Join(err, os.Remove(o.Observations))
		}
		return fmt.Errorf("write evidence: %w", err)
	}
	return nil
}

// writeWhole puts data at path by renaming a finished file of the same folder, so that no reader and no crash
// finds half of it. What is there and is not a regular file (a terminal, a pipe) is written to.
func writeWhole(path string, data []byte) error {
	if path == "" {
		return nil
	}
	return wholefile.Bytes(path, data)
}
