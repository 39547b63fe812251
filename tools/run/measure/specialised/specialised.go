// Package specialised looks at what macOS keeps of the models that it compiled for a program on this device, so that a cold run is
// known to be one, and clears it where that is asked for.
//
// Core ML keeps one folder a build of macOS and, in it, one a model, below the caches of the user, under the program's name:
//
//	~/Library/Caches/PROGRAM/com.apple.e5rt.e5bundlecache/BUILD/MODEL/…
//
// Apple documents none of it; public projects that ship programs with Core ML describe it alike (KataGo's ladder, OpenQuack's
// SPEC-029, semlith). The Neural Engine's own service keeps more under /Library/Caches/com.apple.aned, which only root can read:
// that is not looked at, and never cleared. Never run on a Mac by this project's own CI.
package specialised

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// State says whether something could be read.
type State string

// The states.
const (
	Found   State = "found"
	None    State = "none"
	Unknown State = "unknown"
)

// Kept is what there is.
type Kept struct {
	State State `json:"state"`
	// Entries counts models, each once a build of the system; Bytes are those of all files.
	Entries int   `json:"entries"`
	Bytes   int64 `json:"bytes"`
}

// Around is what was kept before a run and after it. A run that compiled leaves more entries than it found.
type Around struct {
	Before Kept `json:"before"`
	After  Kept `json:"after"`
	// Cleared says that what was kept before was removed first, so that Before has none.
	Cleared bool `json:"cleared"`
}

// Cold says that nothing was kept of the program's models when the run began.
func (a *Around) Cold() bool { return a != nil && a.Before.State == None }

// folder is where a program's are, below a home.
func folder(home, program string) string {
	return filepath.Join(home, "Library", "Caches", program, "com.apple.e5rt.e5bundlecache")
}

// Read counts what is kept for a program in the caches of the homes that it may have taken for its own.
func Read(homes []string, program string) Kept {
	k := Kept{State: None}
	for _, home := range homes {
		one := read(folder(home, program))
		switch {
		case one.State == Unknown || k.State == Unknown:
			k = Kept{State: Unknown}
		case one.State == Found:
			k = Kept{State: Found, Entries: k.Entries + one.Entries, Bytes: k.Bytes + one.Bytes}
		}
	}
	return k
}

func read(root string) Kept {
	k := Kept{State: None}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if below, _ := filepath.Split(relative); d.IsDir() && below != "" && filepath.Dir(filepath.Clean(below)) == "." {
			k.State, k.Entries = Found, k.Entries+1
		}
		if d.Type().IsRegular() {
			info, err := d.Info()
			if err != nil {
				return err
			}
			k.Bytes += info.Size()
		}
		return nil
	})
	if err != nil {
		return Kept{State: Unknown}
	}
	if k.Entries == 0 {
		return Kept{State: None}
	}
	return k
}

// Clear removes what is kept for a program, of all models and builds, and nothing else. A folder that is a link is refused: what it points
// to is not the system's.
func Clear(homes []string, program string) error {
	if program == "" || program != filepath.Base(program) || program == "." || program == ".." {
		return fmt.Errorf("clear what macOS compiled: expected the name of a program, found %q", program)
	}
	for _, home := range homes {
		path := folder(home, program)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("clear what macOS compiled: %w", err)
		}
		if !info.IsDir() {
			return fmt.Errorf("clear what macOS compiled: %s: expected a folder, found %s", path, info.Mode().Type())
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("clear what macOS compiled: %w", err)
		}
	}
	return nil
}
