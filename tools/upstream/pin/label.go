package pin

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Files that mark the root of a Bazel repository.
var rootMarkers = []string{"MODULE.bazel", "REPO.bazel", "WORKSPACE.bazel", "WORKSPACE"}

// PatchFile is the file that a patch's label names for the pin at pinPath: //whisper:mine.patch is whisper/mine.patch below the
// root of the repository that holds the pin.
func PatchFile(pinPath, label string) (string, error) {
	rest, ok := strings.CutPrefix(label, "//")
	folder, name, named := strings.Cut(rest, ":")
	if !named {
		name = path.Base(folder)
	}
	rel := path.Join(folder, name)
	if !ok || folder != "" && checkPath(folder) != nil || checkPath(name) != nil {
		return "", fmt.Errorf("patch label: expected one such as //whisper:mine.patch, found %q", label)
	}
	dir, err := filepath.Abs(filepath.Dir(pinPath))
	if err != nil {
		return "", fmt.Errorf("find the repository of pin %s: %w", pinPath, err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		for _, marker := range rootMarkers {
			if _, err := os.Stat(filepath.Join(at, marker)); err == nil {
				return filepath.Join(at, filepath.FromSlash(rel)), nil
			}
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("patch %s: no folder above %s has a MODULE.bazel, so the label names no file", label, dir)
		}
	}
}
