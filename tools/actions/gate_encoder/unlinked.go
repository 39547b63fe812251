package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// unlinked gives dir as a tree of plain files in a new folder below parent, and a function that
// removes it. Bazel's sandbox presents the files of an input directory as symbolic links that lead
// out of it, which a reader of artifacts rightly refuses. The files are hard links where the file
// system allows, so nothing is copied.
func unlinked(dir, parent string) (string, func() error, error) {
	tmp, err := os.MkdirTemp(parent, ".package-")
	if err != nil {
		return "", nil, fmt.Errorf("stage %s: %w", filepath.Base(dir), err)
	}
	remove := func() error { return os.RemoveAll(tmp) }
	staged := filepath.Join(tmp, filepath.Base(dir))
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		to := filepath.Join(staged, rel)
		if entry.IsDir() {
			return os.Mkdir(to, 0o755)
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return err
		}
		info, err := os.Stat(real)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: expected a file, found %s", rel, info.Mode().Type())
		}
		if os.Link(real, to) == nil {
			return nil
		}
		return copyFile(real, to)
	})
	if err != nil {
		_ = remove()
		return "", nil, fmt.Errorf("stage %s: %w", filepath.Base(dir), err)
	}
	return staged, remove, nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := out.ReadFrom(in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}
