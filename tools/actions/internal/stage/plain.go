// Package stage lays the inputs of a build action out as plain files.
//
// Bazel's sandbox presents the files of an input directory as symbolic links that lead out of it,
// which a reader of artifacts rightly refuses.
package stage

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Stage gives the file or tree at from as plain files at to, which must not exist. They are hard links
// where the file system allows, so that nothing is copied.
func Stage(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		dest := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(dest, 0o755)
		case info.IsDir() && path == from:
			// The folder itself is a link: walk what it stands for.
			real, err := filepath.EvalSymlinks(from)
			if err != nil {
				return err
			}
			return Stage(real, to)
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s: expected a file, found %s", rel, info.Mode().Type())
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return err
		}
		if os.Link(real, dest) == nil {
			return nil
		}
		return copyFile(real, dest)
	})
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
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}
