package bundle

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// staging is an artifact under construction. It is written beside its
// destination and renamed there when complete, so that nobody ever sees half
// of one.
type staging struct {
	dest, tmp string
}

// stage begins an artifact at dest, which must not exist, or be an empty
// folder (as build systems prepare for an action's output).
func stage(dest string) (*staging, error) {
	entries, err := os.ReadDir(dest)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("write artifact: %w", err)
	case len(entries) > 0:
		return nil, fmt.Errorf("write artifact: %s exists and is not empty; remove it or choose another name", dest)
	}
	parent, base := filepath.Split(filepath.Clean(dest))
	tmp, err := os.MkdirTemp(parent, "."+base+".tmp-")
	if err != nil {
		return nil, fmt.Errorf("write artifact: %w", err)
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	return &staging{dest: dest, tmp: tmp}, nil
}

// file writes one file of the artifact.
func (s *staging) file(name string, write func(io.Writer) error) error {
	p := filepath.Join(s.tmp, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return fmt.Errorf("write artifact: %w", err)
	}
	f, err := os.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write artifact: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<16)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func (s *staging) bytes(name string, b []byte) error {
	return s.file(name, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// land moves the artifact to its destination.
func (s *staging) land() error {
	// Go renames onto no existing folder; Remove takes an empty one only.
	if err := os.Remove(s.dest); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("write artifact: %w", err)
	}
	if err := os.Rename(s.tmp, s.dest); err != nil {
		return fmt.Errorf("write artifact: %w", err)
	}
	return nil
}

// drop removes what was staged; after land it does nothing.
func (s *staging) drop() { _ = os.RemoveAll(s.tmp) }
