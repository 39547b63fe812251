package session

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Staged names, as the runner's.
const (
	stagedCLI       = "whisper-cli"
	stagedModel     = "ggml-model.bin"
	stagedEncoder   = "ggml-model-encoder.mlmodelc"
	stagedAudio     = "audio"
	stagedEvaluator = "gate_evaluator"
)

// stage copies an arm's files into a folder of their own.
func (p *Plan) stage(dir string, s *Source) error {
	for _, name := range []string{"home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
	}
	files := map[string]string{stagedCLI: s.CLI, stagedModel: p.Model, stagedAudio: p.Audio}
	if p.Lane == "emulated" && s.Program.Flavour != "ggml" {
		files[stagedEvaluator] = p.Evaluator
	}
	for to, from := range files {
		if err := copyFile(from, filepath.Join(dir, to)); err != nil {
			return fmt.Errorf("stage %s of arm %s: %w", to, s.Name, err)
		}
	}
	if s.Encoder == "" {
		return nil
	}
	if err := os.CopyFS(filepath.Join(dir, stagedEncoder), os.DirFS(s.Encoder)); err != nil {
		return fmt.Errorf("stage the encoder of arm %s: %w", s.Name, err)
	}
	return nil
}

// copyFile makes a real copy: the runtime looks for the encoder beside the model as its path is spelled.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: expected a plain file, found %s", from, info.Mode())
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	// What is not yet on the disk cannot be dropped from the cache.
	if err := out.Sync(); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// environment is the program's whole environment. A submission records it with $STAGE for the folder.
func (p *Plan) environment(dir string, s *Source) map[string]string {
	env := map[string]string{"HOME": filepath.Join(dir, "home"), "LC_ALL": "C", "PATH": "/usr/bin:/bin", "TMPDIR": filepath.Join(dir, "tmp"), "TZ": "UTC"}
	if p.Lane == "emulated" && s.Program.Flavour != "ggml" {
		env["COREML_GATE_EVALUATOR"] = filepath.Join(dir, stagedEvaluator)
		env["COREML_GATE_DOUBLE_FAULT"] = "none"
	}
	return env
}

// dropFiles takes an arm's files out of the page cache, and says whether that was done.
func dropFiles(dir string) string {
	done := "dropped"
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if !drop(f) {
			done = "unknown"
		}
		return nil
	})
	if err != nil {
		return "unknown"
	}
	return done
}
