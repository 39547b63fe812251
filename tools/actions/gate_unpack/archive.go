package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/artifact"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
)

// Bounds of what is read. large-v3's encoder has 1.2 GB of weights.
const (
	maxEntries = 10_000
	maxBytes   = 16 << 30
)

// entry is one name of an archive.
type entry struct {
	name string
	dir  bool
}

// visit gets the entries of an archive in order, each with its content, which is nil for a folder.
type visit func(e entry, content io.Reader) error

// read visits the entries of a zip, a tar or a tar.gz. Anything but a file or a folder is an error.
func read(f *os.File, size int64, v visit) error {
	head := make([]byte, 257+len("ustar"))
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	head = head[:n]
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	v = bounded(v)
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return readZip(f, size, v)
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(f)
		if err != nil {
			return damaged(err)
		}
		if err := readTar(z, v); err != nil {
			return err
		}
		return restOf(z)
	case len(head) == cap(head) && bytes.HasSuffix(head, []byte("ustar")):
		return readTar(f, v)
	}
	if looks := ggml.Looks(f.Name()); looks != "" {
		return fmt.Errorf("expected a zip, a tar or a tar.gz, found %s", looks)
	}
	return errors.New("expected a zip, a tar or a tar.gz, found neither: name the .mlmodelc folder itself, or pack it again")
}

// restOf reads a gzip file to its end, where its checksum is. A tar's end is followed by zeros alone.
func restOf(z io.Reader) error {
	part := make([]byte, 32<<10)
	for {
		n, err := z.Read(part)
		if len(bytes.Trim(part[:n], "\x00")) > 0 {
			return errors.New("expected nothing behind the tar's end, found more: pack one encoder into one archive")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return damaged(err)
		}
	}
}

// damaged says what to do about an archive that cannot be read to its end.
func damaged(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("expected a whole archive, found one that was cut short: fetch or pack it again")
	}
	return fmt.Errorf("expected a whole archive, found a damaged one: fetch or pack it again: %w", err)
}

// bounded refuses names that leave the archive's folder or come twice, and more than is ever shipped.
func bounded(v visit) visit {
	seen := map[string]bool{} // whether it is a folder
	left := int64(maxBytes)
	return func(e entry, content io.Reader) error {
		if len(seen) >= maxEntries {
			return fmt.Errorf("expected at most %d entries, found more", maxEntries)
		}
		name := strings.TrimSuffix(e.name, "/")
		if !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\\\x00") {
			return fmt.Errorf("expected names inside the archive's folder, found %q: do not use this archive", e.name)
		}
		clean := filepath.ToSlash(filepath.Clean(name))
		// Some disks take capitals, or an accent and its letter, for the same.
		key := artifact.Fold(clean)
		if was, known := seen[key]; known && (!e.dir || !was) {
			return fmt.Errorf("expected each name once, found %q twice: what is unpacked would depend on the unpacker", e.name)
		}
		for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
			if was, known := seen[dir]; known && !was {
				return fmt.Errorf("expected a folder, found the file %q, and %q in it: pack it again", path.Dir(clean), e.name)
			}
		}
		seen[key] = e.dir
		e.name = clean
		if content == nil {
			return v(e, nil)
		}
		counted := &io.LimitedReader{R: content, N: left}
		if err := v(e, counted); err != nil {
			return err
		}
		if left = counted.N; left == 0 {
			return fmt.Errorf("expected at most %d bytes of files, found more", int64(maxBytes))
		}
		return nil
	}
}

func readZip(f *os.File, size int64, v visit) error {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return damaged(err)
	}
	for _, file := range z.File {
		mode := file.Mode()
		if mode.IsDir() {
			if err := v(entry{file.Name, true}, nil); err != nil {
				return err
			}
			continue
		}
		if err := regular(file.Name, mode); err != nil {
			return err
		}
		if err := visitZip(file, v); err != nil {
			return err
		}
	}
	return nil
}

func visitZip(file *zip.File, v visit) error {
	if file.Flags&1 != 0 {
		return fmt.Errorf("%s: expected an archive without a password, found an encrypted entry: pack it again", file.Name)
	}
	content, err := file.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return fmt.Errorf("%s: expected an entry that is stored or deflated, found zip's method %d: pack it again", file.Name, file.Method)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	defer content.Close()
	return v(entry{file.Name, false}, content)
}

func readTar(r io.Reader, v visit) error {
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return damaged(err)
		}
		switch {
		case h.Typeflag == tar.TypeXGlobalHeader:
		case h.Typeflag == tar.TypeDir:
			err = v(entry{h.Name, true}, nil)
		default:
			if err = regular(h.Name, h.FileInfo().Mode()); err == nil && h.Typeflag != tar.TypeReg {
				err = fmt.Errorf("%s: expected a file or a folder, found a tar entry of type %q", h.Name, h.Typeflag)
			}
			if err == nil {
				err = v(entry{h.Name, false}, t)
			}
		}
		if err != nil {
			return err
		}
	}
}

func regular(name string, mode fs.FileMode) error {
	if !mode.IsRegular() {
		return fmt.Errorf("%q: expected a file or a folder, found %s: pack what it stands for", name, mode.Type())
	}
	return nil
}

// list is the names of an archive. Content is skipped, by the reader that follows too.
func list(f *os.File, size int64) ([]entry, error) {
	var out []entry
	err := read(f, size, func(e entry, content io.Reader) error {
		out = append(out, e)
		if content == nil {
			return nil
		}
		if _, err := io.Copy(io.Discard, content); err != nil {
			return fmt.Errorf("%s: %w", e.name, damaged(err))
		}
		return nil
	})
	return out, err
}

// rootOf finds the one folder with a suffix that is in no other such folder, apart from macOS's own copies of attributes.
func rootOf(entries []entry, suffix string) (string, error) {
	var roots []string
	for _, e := range entries {
		parts := strings.Split(e.name, "/")
		if parts[0] == "__MACOSX" {
			continue
		}
		for i, part := range parts {
			if !strings.HasSuffix(part, suffix) || (i == len(parts)-1 && !e.dir) {
				continue
			}
			if root := strings.Join(parts[:i+1], "/"); !slices.Contains(roots, root) {
				roots = append(roots, root)
			}
			break
		}
	}
	if len(roots) != 1 {
		return "", fmt.Errorf("expected one %s folder, found %d: %q; pack one encoder into one archive", suffix, len(roots), roots)
	}
	return roots[0], nil
}

// writer writes the files below root to out.
type writer struct {
	root, out string
	files     int
}

func (w *writer) write(e entry, content io.Reader) error {
	rel, below := strings.CutPrefix(e.name, w.root+"/")
	if !below {
		return nil
	}
	to := filepath.Join(w.out, filepath.FromSlash(rel))
	if e.dir {
		return os.MkdirAll(to, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, content); err != nil {
		_ = f.Close()
		return fmt.Errorf("unpack %s: %w", e.name, err)
	}
	w.files++
	return f.Close()
}
