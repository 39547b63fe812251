package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/blob"
)

// root is an artifact's folder. Nothing outside of it can be opened through
// it, not by "..", not by an absolute name, not by a symbolic link.
type root struct {
	dir *os.Root
}

func openRoot(dir string) (*root, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &root{dir: r}, nil
}

// ErrOutside says that a path written in an artifact leads out of it.
var ErrOutside = errors.New("the path leaves the artifact")

// local refuses names that leave the folder by their spelling.
func local(name string) error {
	if name == "" || strings.Contains(name, `\`) || strings.ContainsRune(name, 0) || !fs.ValidPath(name) {
		return fmt.Errorf("%q is not the name of a file inside the artifact: %w", name, ErrOutside)
	}
	return nil
}

// plainPath is a path that an artifact states without what a spelling may hold and a file system leaves out of account
// ("a/./b", "a//b", "a/"). One that leads out, and one with "..", is refused.
func plainPath(name string) (string, error) {
	plain := path.Clean(name)
	if name == "" || strings.HasPrefix(name, "/") || slices.Contains(strings.Split(name, "/"), "..") {
		plain = name
	}
	return plain, local(plain)
}

// open opens a regular file. The check comes first: opening a pipe would hang.
func (r *root) open(name string) (*os.File, int64, error) {
	if err := local(name); err != nil {
		return nil, 0, err
	}
	fi, err := r.dir.Stat(name)
	if err != nil {
		return nil, 0, pathless(err)
	}
	if !fi.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("expected a regular file, found %s", fi.Mode().Type())
	}
	f, err := r.dir.Open(name)
	if err != nil {
		return nil, 0, pathless(err)
	}
	return f, fi.Size(), nil
}

// pathless drops the operation and the host's path from an error.
func pathless(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func (r *root) exists(name string) bool {
	_, err := r.dir.Lstat(name)
	return err == nil
}

// read reads a small file whole.
func (r *root) read(name string, limit int64) ([]byte, error) {
	f, size, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > limit {
		return nil, fmt.Errorf("%d bytes, the limit is %d", size, limit)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, pathless(err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("longer than %d bytes, the limit", limit)
	}
	if mil.IsLFSPointer(b) {
		return nil, mil.ErrLFSPointer
	}
	return b, nil
}

// weights are the weight files of one artifact, opened and mapped when first
// used.
type weights struct {
	root *root
	// base is the folder that @model_path stands for, within the root.
	base  string
	mu    sync.Mutex
	files map[string]*weightFile // by name within the root
}

type weightFile struct {
	file *os.File
	blob *blob.File
	mem  []byte // the whole file, mapped on demand
}

// modelPath is what paths in programs begin with.
const modelPath = "@model_path/"

// locate turns a blob path of a program into a name inside the artifact. One with ".." is refused, also where it comes back.
func (w *weights) locate(p string) (string, error) {
	rest, ok := strings.CutPrefix(p, modelPath)
	if !ok {
		return "", fmt.Errorf("weight file %q: expected a path that begins with %s: %w", p, modelPath, ErrOutside)
	}
	name := path.Join(w.base, rest)
	if err := local(name); err != nil || strings.HasPrefix(rest, "/") || slices.Contains(strings.Split(rest, "/"), "..") {
		return "", fmt.Errorf("weight file %q: %w", p, ErrOutside)
	}
	return name, nil
}

// get opens a weight file once. The caller holds mu.
func (w *weights) get(p string) (*weightFile, error) {
	name, err := w.locate(p)
	if err != nil {
		return nil, err
	}
	if wf, ok := w.files[name]; ok {
		return wf, nil
	}
	f, size, err := w.root.open(name)
	if err != nil {
		return nil, fmt.Errorf("weight file %s: %w", name, err)
	}
	bf, err := blob.Open(f, size)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("weight file %s: %w", name, err)
	}
	wf := &weightFile{file: f, blob: bf}
	w.files[name] = wf
	return wf, nil
}

var blobDTypes = map[blob.Type]mil.DType{
	blob.Float16: mil.Float16, blob.Float32: mil.Float32, blob.BFloat16: mil.BFloat16,
	blob.Uint8: mil.Uint8, blob.Int8: mil.Int8, blob.Int16: mil.Int16, blob.Uint16: mil.Uint16,
	blob.Int32: mil.Int32, blob.Uint32: mil.Uint32, blob.Int4: mil.Int4, blob.Uint1: mil.Uint1,
	blob.Uint2: mil.Uint2, blob.Uint3: mil.Uint3, blob.Uint4: mil.Uint4, blob.Uint6: mil.Uint6,
	blob.Float8E4M3FN: mil.Float8E4M3FN, blob.Float8E5M2: mil.Float8E5M2,
}

func (w *weights) section(ref mil.BlobRef) (mil.DType, *io.SectionReader, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wf, err := w.get(ref.Path)
	if err != nil {
		return 0, nil, err
	}
	i, err := wf.blob.Stat(ref.Offset)
	if err != nil {
		return 0, nil, fmt.Errorf("weight file %q: %w", ref.Path, err)
	}
	return blobDTypes[i.Type], wf.blob.Data(i), nil
}

func (w *weights) bytes(ref mil.BlobRef) (mil.DType, []byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wf, err := w.get(ref.Path)
	if err != nil {
		return 0, nil, err
	}
	i, err := wf.blob.Stat(ref.Offset)
	if err != nil {
		return 0, nil, fmt.Errorf("weight file %q: %w", ref.Path, err)
	}
	if wf.mem == nil {
		if wf.mem, err = mapFile(wf.file, int64(wf.blob.Size())); err != nil {
			return 0, nil, fmt.Errorf("map weight file %q: %w", ref.Path, err)
		}
	}
	return blobDTypes[i.Type], wf.mem[i.Offset:][:i.Size:i.Size], nil
}

func (w *weights) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, wf := range w.files {
		errs = append(errs, unmapFile(wf.mem), wf.file.Close())
	}
	w.files = nil
	return errors.Join(append(errs, w.root.dir.Close())...)
}
