package runner

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
)

// stagedFile is one file as it was staged.
type stagedFile struct {
	sha256   string
	identity fileIdentity
}

// openPlain opens a regular file. It asks before it opens, since to open a FIFO waits for a writer and to
// open a device may do anything; and again after, in case the path was changed between.
func openPlain(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: expected a regular file, found %s: give a file with the bytes themselves", path, modeName(info.Mode()))
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: expected a regular file, found %s: it changed while it was opened", path, modeName(info.Mode()))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// checkPlain refuses what is not a regular file, for readers that open it themselves.
func checkPlain(path string) error {
	f, err := openPlain(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// readPlain reads a regular file.
func readPlain(path string) ([]byte, error) {
	f, err := openPlain(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func modeName(mode os.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&os.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&os.ModeSocket != 0:
		return "a socket"
	case mode&os.ModeDevice != 0:
		return "a device"
	}
	return mode.Type().String()
}

// checkUnchanged compares the staging directory after a run with what was staged: the bytes of each file, and
// that no file was replaced or written in between, even if its bytes are back. planted is the one
// name that may have come into being.
func (st *staging) checkUnchanged(planted string) error {
	for _, name := range slices.Sorted(maps.Keys(st.staged)) {
		was := st.staged[name]
		info, err := os.Lstat(st.path(name))
		if err != nil {
			return changed(name, "the staged file", err.Error())
		}
		sum, _, err := tree.HashFile(st.path(name))
		if err != nil {
			return changed(name, "the staged file", err.Error())
		}
		if sum != was.sha256 {
			return changed(name, "SHA-256 "+was.sha256, sum)
		}
		if identityOf(info) != was.identity {
			return changed(name, "the file that was staged, untouched", "the same bytes in a file that was replaced or written")
		}
	}
	return st.checkEntries(planted)
}

// checkEntries refuses files beside those that were staged. What the program writes belongs in its home and
// temporary directories.
func (st *staging) checkEntries(planted string) error {
	grown := false
	err := filepath.WalkDir(st.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(st.dir, path)
		if err != nil {
			return err
		}
		switch _, staged := st.staged[name]; {
		case staged || name == ".":
			return nil
		case name == "home" || name == "tmp":
			return filepath.SkipDir
		case name == planted:
			grown = true
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case e.IsDir() && st.holds(name):
			return nil
		}
		return changed(name, "no such entry", "one that was not staged")
	})
	if err != nil {
		return err
	}
	info, err := os.Lstat(st.dir)
	if err != nil {
		return err
	}
	if !grown && identityOf(info) != st.root {
		return changed(".", "the directory that was staged, untouched", "one in which entries were replaced")
	}
	return nil
}

// holds says whether a staged file lies below a directory.
func (st *staging) holds(dir string) bool {
	for name := range st.staged {
		if strings.HasPrefix(name, dir+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

func changed(name, expected, found string) error {
	return fmt.Errorf("staging directory: %s changed while the program ran: expected %s, found %s: nothing but the run may write there, so this run says nothing", name, expected, found)
}
