package pin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// MaxManifestBytes bounds a manifest that [ParseManifest] takes; upstream's whole tree needs a quarter of it.
const MaxManifestBytes = 1 << 20

// Entry is one line of a content manifest.
type Entry struct {
	// Path is relative to the root of the source tree, with forward slashes.
	Path string
	// SHA256 is the digest of the file's content in hexadecimal digits.
	SHA256 string
}

// Manifest is the content of every upstream file that a build may read, sorted by path.
type Manifest []Entry

// ParseManifest reads a content manifest and refuses every other spelling of the same list.
func ParseManifest(data []byte) (Manifest, error) {
	if len(data) > MaxManifestBytes {
		return nil, fmt.Errorf("content manifest has %d bytes, more than the limit of %d", len(data), MaxManifestBytes)
	}
	if len(data) == 0 || data[len(data)-1] != '\n' {
		return nil, fmt.Errorf("content manifest does not end in a line feed: it is empty or cut short")
	}
	var m Manifest
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		e, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("content manifest, line %d: %w", i+1, err)
		}
		if len(m) > 0 && e.Path <= m[len(m)-1].Path {
			return nil, fmt.Errorf("content manifest, line %d: path %q does not sort after %q: paths are sorted by their bytes and unique",
				i+1, e.Path, m[len(m)-1].Path)
		}
		m = append(m, e)
	}
	return m, nil
}

func parseLine(line string) (Entry, error) {
	digest, path, ok := strings.Cut(line, "  ")
	if !ok || !isSHA256(digest) {
		return Entry{}, fmt.Errorf("expected 64 lower-case hexadecimal digits, two spaces and a path, found %q", line)
	}
	if err := checkPath(path); err != nil {
		return Entry{}, err
	}
	return Entry{Path: path, SHA256: digest}, nil
}

// checkPath refuses paths that could leave the tree or have a second spelling.
func checkPath(path string) error {
	for _, part := range strings.Split(path, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\x00\n\r\\") {
			return fmt.Errorf("path %q is not a plain relative path", path)
		}
	}
	return nil
}

func isSHA256(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// Format writes the manifest in the one spelling that [ParseManifest] takes.
func (m Manifest) Format() []byte {
	var b bytes.Buffer
	for _, e := range m {
		fmt.Fprintf(&b, "%s  %s\n", e.SHA256, e.Path)
	}
	return b.Bytes()
}

// Digest is the SHA-256 of the manifest's bytes, in hexadecimal digits.
func (m Manifest) Digest() string { return Digest(m.Format()) }

// Find returns the digest that the manifest gives for a path.
func (m Manifest) Find(path string) (string, bool) {
	i, ok := slices.BinarySearchFunc(m, path, func(e Entry, p string) int { return strings.Compare(e.Path, p) })
	if !ok {
		return "", false
	}
	return m[i].SHA256, true
}

// Paths lists the manifest's paths in order.
func (m Manifest) Paths() []string {
	paths := make([]string, len(m))
	for i, e := range m {
		paths[i] = e.Path
	}
	return paths
}

// MakeManifest hashes the named files of a source.
func MakeManifest(src Source, paths []string) (Manifest, error) {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	m := make(Manifest, 0, len(paths))
	for _, path := range slices.Compact(paths) {
		if err := checkPath(path); err != nil {
			return nil, err
		}
		data, err := src.Read(path)
		if err != nil {
			return nil, err
		}
		m = append(m, Entry{Path: path, SHA256: Digest(data)})
	}
	return m, nil
}

// Digest is the SHA-256 of data in 64 hexadecimal digits.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
