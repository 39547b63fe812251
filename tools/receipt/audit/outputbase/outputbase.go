// Package outputbase removes Bazel's output bases.
package outputbase

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Remove removes a folder with everything in it, output bases included: Bazel takes the right to write from the
// folders that it made, so that os.RemoveAll alone leaves them. Nothing at dir is not an error. A server that still
// runs in it has to be shut down before.
func Remove(dir string) error {
	// What cannot be walked or changed shows when it is removed.
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
