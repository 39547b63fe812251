// Package tree computes the digest of a directory, such as a compiled encoder.
//
// The digest is the SHA-256 of a text with one line per file, in byte order of the paths:
//
//	SHA256 SP SP PATH LF
//
// SHA256 is that of the file's bytes in lower-case hexadecimal; PATH is relative to the directory,
// its names joined by "/". Empty directories, times, owners and modes do not count: nothing in an
// encoder is run, and Bazel sets the run bit of every output. It is the content manifest's form, and
// in shell:
//
//	(cd DIR && find . -type f | cut -c3- | LC_ALL=C sort | xargs -d'\n' sha256sum) | sha256sum
//
// What cannot be named safely is refused: symbolic links, devices, pipes and sockets, names with a
// line feed or a backslash (sha256sum escapes those), names that are not UTF-8, and two names that a
// case-insensitive disk would take for one.
package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// ErrUnsafe is in the errors about a tree that cannot be named safely, as opposed to one that could not be
// read.
var ErrUnsafe = errors.New("no digest can stand for it")

// MaxFiles bounds the number of files of a tree.
const MaxFiles = 100_000

// File is one file of a tree.
type File struct {
	// Path is relative to the tree's root, with "/" between names.
	Path string
	// SHA256 of the content, lower-case hexadecimal.
	SHA256 string
	// Size in bytes.
	Size int64
}

// Line is the file's line in the text that is hashed.
func (f File) Line() string {
	return f.SHA256 + "  " + f.Path + "\n"
}

// Links says what to do about symbolic links to files.
type Links int

const (
	// RefuseLinks takes a link inside the tree for a fault.
	RefuseLinks Links = iota
	// FollowLinks reads the file that a link stands for: Bazel's sandbox presents the files of an
	// action's inputs as links. Links to directories stay refused.
	FollowLinks
)

// Digest returns the digest of the tree at root, in which links are refused.
func Digest(root string) (string, error) {
	files, err := Files(root, RefuseLinks)
	if err != nil {
		return "", err
	}
	return DigestFiles(files), nil
}

// DigestFiles returns the digest of a tree that has exactly these files, sorted by path.
func DigestFiles(files []File) string {
	h := sha256.New()
	for _, f := range files {
		io.WriteString(h, f.Line())
	}
	return hex.EncodeToString(h.Sum(nil))
}

var hexDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// CheckFiles says whether a list that someone else made is one that [Files] could have returned: sorted, with
// names and digests that make one line each.
func CheckFiles(files []File) error {
	folded := map[string]string{}
	for i, f := range files {
		if !fs.ValidPath(f.Path) || f.Path == "." {
			return fmt.Errorf("path %q does not stay in the tree", f.Path)
		}
		if err := checkName(f.Path, folded); err != nil {
			return err
		}
		if i > 0 && files[i-1].Path >= f.Path {
			return fmt.Errorf("path %q is out of order", f.Path)
		}
		if !hexDigest.MatchString(f.SHA256) || f.Size < 0 {
			return fmt.Errorf("%s has SHA-256 %q and %d bytes", f.Path, f.SHA256, f.Size)
		}
	}
	return nil
}

// Files lists and hashes the files under root, sorted by path.
func Files(root string, links Links) ([]File, error) {
	files, err := list(root, links)
	if err != nil {
		return nil, err
	}
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
		next  = make(chan int)
	)
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			for i := range next {
				sum, size, err := HashFile(filepath.Join(root, filepath.FromSlash(files[i].Path)))
				files[i].SHA256, files[i].Size = sum, size
				if err != nil {
					mu.Lock()
					first = err
					mu.Unlock()
				}
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	wg.Wait()
	return files, first
}

// list walks root and refuses what a digest could not represent.
func list(root string, links Links) ([]File, error) {
	info, err := os.Lstat(root)
	if err != nil {
		return nil, fmt.Errorf("digest tree: %w", err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		// Bazel may hand a tree artifact over as a link to it.
		if root, err = filepath.EvalSymlinks(root); err != nil {
			return nil, fmt.Errorf("digest tree: %w", err)
		}
	}
	var files []File
	folded := map[string]string{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == root {
			if !d.IsDir() {
				return fmt.Errorf("%s is not a directory", root)
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if err := checkName(rel, folded); err != nil {
			return err
		}
		if d.IsDir() {
			return nil
		}
		mode := d.Type()
		if mode&fs.ModeSymlink != 0 && links == FollowLinks {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			mode = info.Mode().Type()
		}
		if !mode.IsRegular() {
			return fmt.Errorf("%s is a %s: only plain files can be part of a tree; replace it by a copy of what it stands for (%w)", rel, describe(mode), ErrUnsafe)
		}
		if len(files) == MaxFiles {
			return fmt.Errorf("more than %d files: %w", MaxFiles, ErrUnsafe)
		}
		files = append(files, File{Path: rel})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("digest tree %s: %w", filepath.Base(root), err)
	}
	sort.Slice(files, func(i, j int) bool { return files[i].Path < files[j].Path })
	return files, nil
}

func checkName(rel string, folded map[string]string) error {
	if !utf8.ValidString(rel) || strings.ContainsAny(rel, "\n\r\x00\\") {
		return fmt.Errorf("name %q cannot stand in a manifest: rename it (%w)", rel, ErrUnsafe)
	}
	fold := strings.ToLower(strings.ToUpper(rel))
	if other, ok := folded[fold]; ok {
		return fmt.Errorf("names %q and %q are one name on a case-insensitive disk: rename one (%w)", other, rel, ErrUnsafe)
	}
	folded[fold] = rel
	return nil
}

func describe(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode.IsDir():
		return "link to a directory"
	case mode&fs.ModeDevice != 0:
		return "device"
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	}
	return "special file"
}

// HashFile returns the SHA-256 and the size of one file.
func HashFile(path string) (string, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, fmt.Errorf("hash file: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return "", 0, fmt.Errorf("hash %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), n, nil
}
