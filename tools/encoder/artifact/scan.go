package artifact

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// Limits of what is taken for an encoder. The largest known one has a dozen files, and 1.3 GB of weights in float16. What is
// within them is hashed, so that they bound the time too.
const (
	maxEntries = 1_000
	maxDepth   = 16
	maxBytes   = 4 << 30
)

// Entry is a file or folder of an artifact.
type Entry struct {
	// Path is relative to the artifact, with "/" between names.
	Path string
	Dir  bool
	Size int64 // of a file, in bytes
	// Pointer says that the file is a git-lfs pointer.
	Pointer bool
}

// Inventory is what a folder holds, sorted by path.
type Inventory struct {
	Entries []Entry
	Files   int
	Bytes   int64
}

// Has reports whether the inventory has an entry at that path.
func (inv *Inventory) Has(p string) bool {
	_, ok := inv.find(p)
	return ok
}

func (inv *Inventory) find(p string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(inv.Entries, p, func(e Entry, p string) int { return strings.Compare(e.Path, p) })
	if !ok {
		return Entry{}, false
	}
	return inv.Entries[i], true
}

// Scan lists the folder root and finds what must not be in an artifact: links,
// special files, names that are unsafe or collide, more than the limits.
// Nothing is opened but small files that may be git-lfs pointers. The error is
// for folders that cannot be read.
func Scan(root string) (*Inventory, []reason.Reason, error) {
	inv, found, err := scan(root)
	return inv, found.reasons(0), err
}

func scan(root string) (*Inventory, findings, error) {
	s := &scanner{root: root, folded: map[string]string{}, inv: &Inventory{}}
	if err := s.dir("", 0); err != nil {
		return nil, nil, fmt.Errorf("scan %s: %w", filepath.Base(root), err)
	}
	slices.SortFunc(s.inv.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return s.inv, s.findings, nil
}

var errTooLarge = errors.New("too large")

type scanner struct {
	root   string
	inv    *Inventory
	folded map[string]string
	findings
}

func (s *scanner) dir(rel string, depth int) error {
	f, err := os.Open(filepath.Join(s.root, filepath.FromSlash(rel)))
	if err != nil {
		return err
	}
	defer f.Close()
	if depth > maxDepth {
		s.stop(closed|unread, reason.ArtifactTooLarge, rel, fmt.Sprintf("at most %d folders inside each other", maxDepth), "more")
		return nil
	}
	for {
		// In pieces, so that a folder of millions of names costs no memory.
		children, err := f.ReadDir(256)
		for _, c := range children {
			if err := s.entry(path.Join(rel, c.Name()), c, depth); err != nil {
				if errors.Is(err, errTooLarge) {
					return nil
				}
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *scanner) entry(rel string, d fs.DirEntry, depth int) error {
	if len(s.inv.Entries) == maxEntries {
		s.stop(closed|unread, reason.ArtifactTooLarge, "", fmt.Sprintf("at most %d files and folders", maxEntries), "more")
		return errTooLarge
	}
	s.name(rel)
	info, err := d.Info()
	if err != nil {
		return err
	}
	host := filepath.Join(s.root, filepath.FromSlash(rel))
	if info.Mode()&fs.ModeSymlink != 0 {
		s.link(rel, host)
		return nil
	}
	e := Entry{Path: rel, Dir: info.IsDir()}
	switch {
	case info.IsDir():
		s.inv.Entries = append(s.inv.Entries, e)
		return s.dir(rel, depth+1)
	case !info.Mode().IsRegular():
		s.stop(unread, reason.ArtifactSpecialFile, rel, "a file or a folder", "a "+special(info.Mode()))
		return nil
	}
	e.Size = info.Size()
	if e.Size < 1024 {
		e.Pointer = isPointer(host)
	}
	s.inv.Entries = append(s.inv.Entries, e)
	s.inv.Files++
	s.inv.Bytes += e.Size
	if s.inv.Bytes > maxBytes {
		s.stop(closed|unread, reason.ArtifactTooLarge, rel, fmt.Sprintf("at most %d bytes in all", int64(maxBytes)), "more")
		return errTooLarge
	}
	return nil
}

// link reports a symbolic link, and whether it leaves the artifact.
func (s *scanner) link(rel, host string) {
	target, err := os.Readlink(host)
	if err != nil {
		target = "?"
	}
	inside := !filepath.IsAbs(target) && filepath.IsLocal(filepath.Join(filepath.Dir(filepath.FromSlash(rel)), target))
	code, effect := reason.ArtifactLink, effect(0)
	// A chain of links may leave although each step looks local.
	if real, err := filepath.EvalSymlinks(host); inside && err == nil {
		if root, err := filepath.EvalSymlinks(s.root); err == nil {
			r, err := filepath.Rel(root, real)
			inside = err == nil && filepath.IsLocal(r)
		}
	}
	if !inside {
		// What such a link names is not the artifact's: reading stops here, so that no later finding gives other advice.
		code, effect = reason.ArtifactPathEscape, closed|unread
	}
	if strings.Contains(filepath.ToSlash(target), "/blobs/") {
		code = reason.ArtifactHubCache
	}
	s.stop(effect, code, rel, "a plain file or folder", fmt.Sprintf("a symbolic link to %q", target))
}

// name refuses names that some disk or tool would take for another name.
func (s *scanner) name(rel string) {
	base := path.Base(rel)
	if !utf8.ValidString(base) || strings.ContainsFunc(base, unsafeRune) || strings.HasSuffix(base, " ") || len(base) > 255 {
		s.fault(reason.ArtifactNameUnsafe, fmt.Sprintf("%q", rel), "a name of printable characters", fmt.Sprintf("%q", base))
	}
	key := Fold(rel)
	if other, ok := s.folded[key]; ok && other != rel {
		s.fault(reason.ArtifactNameCollision, rel, "names that differ on every disk", fmt.Sprintf("%q and %q", other, rel))
	}
	s.folded[key] = rel
}

func unsafeRune(r rune) bool {
	// Format characters include the ones that reverse or hide text.
	return r == '\\' || r == ':' || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError
}

// Fold maps the names that APFS and HFS+ may take for one onto one string:
// case is ignored and accents are composed.
func Fold(name string) string {
	return norm.NFC.String(strings.ToLower(strings.ToUpper(norm.NFC.String(name))))
}

func special(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

func isPointer(host string) bool {
	f, err := os.Open(host)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, mil.LFSHeadBytes)
	n, _ := f.Read(head)
	return mil.IsLFSPointer(head[:n])
}
