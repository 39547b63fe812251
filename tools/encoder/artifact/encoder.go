package artifact

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
)

// encoder is an opened encoder: the artifact, what its folder holds, and what
// was found wrong so far.
type encoder struct {
	path      string
	art       *bundle.Artifact // nil where it could not be opened at all
	inventory *Inventory       // nil for a single file
	// approximate says how the program approximates GELU; empty where it does not.
	approximate string
	// lost says that the program names a weight file that is not where it looks.
	lost bool
	findings
}

func (e *encoder) close() {
	if e.art != nil {
		_ = e.art.Close()
	}
}

// openEncoder opens whatever stands at path. Faults of the artifact are
// findings; an error means that the disk could not be read.
func openEncoder(name string) (*encoder, error) {
	e := &encoder{path: name}
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		e.stop(unread, reason.EncoderMissing, name, "an .mlmodelc folder", "nothing")
		e.findings = append(e.findings, stillPacked(name)...)
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return e, e.openFile(info)
	}
	e.inventory, e.findings, err = scan(name)
	if err != nil {
		return nil, err
	}
	nested := e.nested()
	if e.has(closed) {
		return e, nil
	}
	art, err := bundle.Open(name)
	if errors.Is(err, bundle.ErrNotArtifact) {
		e.interrupted()
		if !nested {
			e.notArtifact(name)
		}
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	e.art = art
	if err := denied(art.Faults); err != nil {
		e.close()
		return nil, err
	}
	e.interrupted()
	e.bundleFaults()
	e.weightFaults()
	e.looseBytes()
	e.extras()
	return e, nil
}

// rootLink refuses an artifact whose own folder is a link: what it points at may be another one tomorrow.
func (e *encoder) rootLink(name string) {
	info, err := os.Lstat(filepath.Clean(name))
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return
	}
	target, err := os.Readlink(filepath.Clean(name))
	if err != nil {
		target = "?"
	}
	e.fault(reason.ArtifactLink, name, "the folder itself", fmt.Sprintf("a symbolic link to %q", target))
}

// Unreadable says what keeps the encoder at a path from being read whole: what is missing, malformed, outside of it or
// not there at all. Whether it may be shipped is another question ([Inspect]). An error means that the disk could not be
// read.
func Unreadable(name string) ([]reason.Reason, error) {
	e, err := openEncoder(name)
	if err != nil {
		return nil, err
	}
	defer e.close()
	return e.reasons(unread), nil
}

// openFile deals with what is not a folder: an .mlmodel, an archive, or neither.
func (e *encoder) openFile(info fs.FileInfo) error {
	const want = "an .mlmodelc folder"
	if !info.Mode().IsRegular() {
		e.stop(unread, reason.ArtifactSpecialFile, e.path, want, "a "+special(info.Mode()))
		return nil
	}
	if isPointer(e.path) {
		e.stop(unread, reason.LFSPointer, e.path, want, "a git-lfs pointer")
		return nil
	}
	if found, list, err := inspectArchive(e.path); err != nil {
		return err
	} else if found {
		e.findings = append(e.findings, list...)
		return nil
	}
	art, err := bundle.Open(e.path)
	if err != nil {
		e.stop(unread, reason.ArtifactUnknown, e.path, want, cmp.Or(ggml.Looks(e.path), "a file of "+fmt.Sprint(info.Size())+" bytes that is no Core ML model: "+err.Error()))
		return nil
	}
	e.art = art
	e.bundleFaults()
	e.weightFaults()
	return nil
}

func (e *encoder) notArtifact(name string) {
	found := "an empty folder"
	if n := len(e.inventory.Entries); n > 0 {
		found = fmt.Sprintf("%d entries, none of them coremldata.bin, model.mil or Manifest.json", n)
	}
	code := reason.ArtifactUnknown
	if ext := path.Ext(name); ext == ".mlmodelc" || ext == ".mlpackage" {
		code = reason.ArtifactIncomplete
	}
	e.stop(unread, code, name, "a Core ML artifact", found)
}

// nested reports artifacts inside the artifact.
func (e *encoder) nested() bool {
	found := false
	for _, n := range e.inventory.Entries {
		ext := strings.ToLower(path.Ext(n.Path))
		if n.Dir && (ext == ".mlmodelc" || ext == ".mlpackage") {
			what := "another artifact"
			if strings.EqualFold(path.Base(n.Path), filepath.Base(e.path)) {
				what = "a folder of the artifact's own name"
			}
			e.fault(reason.NestedDuplicate, n.Path, "no artifact inside the artifact", what)
			found = true
		}
	}
	return found
}

// unfinished are endings and beginnings of names that writers and downloaders
// give to files that are not complete.
var unfinished = []string{".tmp", ".partial", ".part", ".download", ".crdownload", ".icloud", ".incomplete", ".aria2"}

func (e *encoder) interrupted() {
	for _, n := range e.inventory.Entries {
		base := strings.ToLower(path.Base(n.Path))
		for _, u := range unfinished {
			if strings.HasSuffix(base, u) || strings.Contains(base, u+"-") {
				e.fault(reason.ConversionInterrupted, n.Path, "a finished artifact", "a temporary file of a copy, download or conversion")
			}
		}
	}
	if path.Ext(e.path) == ".mlpackage" && e.inventory.Has("Data") != e.inventory.Has("Manifest.json") {
		e.fault(reason.ConversionInterrupted, e.path, "Manifest.json and Data", "only one of them")
	}
}

// denied is the error for a file that may not be read: that is not a fault of the artifact.
func denied(faults []*bundle.Fault) error {
	for _, f := range faults {
		if errors.Is(f, fs.ErrPermission) {
			return fmt.Errorf("read the artifact: %w", f)
		}
	}
	return nil
}

// bundleFaults turns what package bundle found into findings. Weight files are
// left to weightFaults, which knows more codes.
func (e *encoder) bundleFaults() {
	weights := e.weightNames()
	for _, f := range e.art.Faults {
		if weights[f.File] {
			continue
		}
		code, expected := reason.ArtifactMalformed, "a well-formed file"
		switch {
		case errors.Is(f, mil.ErrLFSPointer):
			code, expected = reason.LFSPointer, "the file's content"
		case errors.Is(f, bundle.ErrContainerVersion):
			code, expected = reason.ContainerVersion, "a version that is known"
		case errors.Is(f, fs.ErrNotExist) && e.art.Form == bundle.PackageForm:
			code, expected = reason.ConversionInterrupted, "the file"
		case errors.Is(f, fs.ErrNotExist):
			code, expected = reason.ArtifactIncomplete, "the file"
		case errors.Is(f, bundle.ErrEmptyCoreMLData):
			code, expected = reason.ArtifactIncomplete, "the file's content"
		case errors.Is(f, bundle.ErrOutside):
			code, expected = reason.ArtifactPathEscape, "a path inside the artifact"
		}
		found := f.Err.Error()
		if code == reason.ArtifactMalformed || code == reason.ContainerVersion {
			if looks := ggml.Looks(filepath.Join(e.path, filepath.FromSlash(f.File))); looks != "" {
				code, expected, found = reason.ArtifactMalformed, "a well-formed file", looks
			}
		}
		effect := unread
		if f.File == e.art.ModelFile {
			effect |= unpaired
		}
		e.stop(effect, code, f.File, expected, found)
	}
}

// extras reports files that nothing in the artifact refers to.
func (e *encoder) extras() {
	if e.art.Kind != spec.MLProgram || e.art.Program == nil {
		return // other kinds are refused for what they are
	}
	known := e.weightNames()
	switch e.art.Form {
	case bundle.CompiledForm:
		for _, n := range []string{"coremldata.bin", "metadata.json", "model.mil", "analytics/coremldata.bin"} {
			known[n] = true
		}
		known["Manifest.json"] = true // it is named with the form
	case bundle.PackageForm:
		known["Manifest.json"] = true
		if e.art.Manifest != nil {
			for _, it := range e.art.Manifest.Items {
				known[path.Join("Data", it.Path)] = true
			}
		}
	}
	for _, n := range e.inventory.Entries {
		if n.Dir || known[n.Path] {
			continue
		}
		// What another finding is about needs no second one, and whose a weight file is that the program may have meant
		// follows from where it looks.
		if e.named(n.Path) || e.lost && path.Ext(strings.ToLower(n.Path)) == ".bin" {
			continue
		}
		if e.finders(n) {
			e.fault(reason.FinderFile, n.Path, "only files of the artifact", fmt.Sprintf("a file of the Finder's, %d bytes", n.Size))
			continue
		}
		e.fault(reason.ExtraFile, n.Path, "only files of the artifact", fmt.Sprintf("a file of %d bytes that nothing refers to", n.Size))
	}
}

// The first bytes of an AppleDouble file (._NAME) and of a .DS_Store.
const (
	appleDouble = "\x00\x05\x16\x07"
	dsStore     = "\x00\x00\x00\x01Bud1"
)

// finders reports whether a file is one that the Finder or an archiver leaves behind, by its name and first bytes.
func (e *encoder) finders(n Entry) bool {
	return n.Size < maxSidecar && isFinders(filepath.Join(e.path, filepath.FromSlash(n.Path)))
}

// maxSidecar bounds a sidecar, in bytes; the Finder's are of some hundred.
const maxSidecar = 1 << 20

// isFinders is finders for a file anywhere; one that is no plain file or cannot be read is none.
func isFinders(file string) bool {
	base, begin := filepath.Base(file), appleDouble
	switch {
	case base == ".DS_Store":
		begin = dsStore
	case !strings.HasPrefix(base, "._"):
		return false
	}
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() >= maxSidecar {
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(begin))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == begin
}

// form compares the artifact's name with its contents: folders are renamed to
// please a compiler that wants another form.
func (e *encoder) form() {
	ext := path.Ext(filepath.ToSlash(filepath.Clean(e.path)))
	switch {
	case e.inventory != nil && e.inventory.Has("Manifest.json") && (e.inventory.Has("coremldata.bin") || e.inventory.Has("model.mil")):
		e.fault(reason.ArtifactForm, e.path, "a package or a compiled model", "files of both: Manifest.json is a package's, coremldata.bin and model.mil are a compiled model's")
	case ext == ".mlmodelc" && e.art.Form != bundle.CompiledForm, ext == ".mlpackage" && e.art.Form != bundle.PackageForm:
		e.fault(reason.ArtifactForm, e.path, "what an "+ext+" holds", "what an ."+string(e.art.Form)+" holds")
	}
}
