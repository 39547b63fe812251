package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
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
	reasons   []reason.Reason
}

func (e *encoder) fault(code, where, expected, found string) {
	e.reasons = append(e.reasons, reason.Reason{Code: code, Where: where, Expected: expected, Found: found})
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
		e.fault(reason.EncoderMissing, name, "an .mlmodelc folder", "nothing")
		e.reasons = append(e.reasons, stillPacked(name)...)
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return e, e.openFile(info)
	}
	e.inventory, e.reasons, err = Scan(name)
	if err != nil {
		return nil, err
	}
	nested := e.nested()
	if slices.ContainsFunc(e.reasons, func(r reason.Reason) bool { return r.Code == reason.ArtifactTooLarge }) {
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
	e.interrupted()
	e.bundleFaults()
	e.weightFaults()
	e.extras()
	return e, nil
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
	return slices.DeleteFunc(e.reasons, func(r reason.Reason) bool {
		switch r.Code {
		case reason.EncoderMissing, reason.ArtifactUnknown, reason.ArtifactIncomplete, reason.ArtifactMalformed, reason.ArtifactPathEscape, reason.ArtifactIsArchive,
			reason.ArtifactSpecialFile, reason.ArtifactTooLarge, reason.LFSPointer, reason.WeightsMismatch:
			return false
		}
		return true
	}), nil
}

// openFile deals with what is no folder: an .mlmodel, an archive, or neither.
func (e *encoder) openFile(info fs.FileInfo) error {
	const want = "an .mlmodelc folder"
	if !info.Mode().IsRegular() {
		e.fault(reason.ArtifactSpecialFile, e.path, want, "a "+special(info.Mode()))
		return nil
	}
	if isPointer(e.path) {
		e.fault(reason.LFSPointer, e.path, want, "a git-lfs pointer")
		return nil
	}
	if found, reasons, err := inspectArchive(e.path); err != nil {
		return err
	} else if found {
		e.reasons = append(e.reasons, reasons...)
		return nil
	}
	art, err := bundle.Open(e.path)
	if err != nil {
		e.fault(reason.ArtifactUnknown, e.path, want, "a file of "+fmt.Sprint(info.Size())+" bytes that is no Core ML model: "+err.Error())
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
	e.fault(code, name, "a Core ML artifact", found)
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
		case errors.Is(f, fs.ErrNotExist):
			code, expected = reason.ArtifactIncomplete, "the file"
		case errors.Is(f, bundle.ErrEmptyCoreMLData):
			code, expected = reason.ArtifactIncomplete, "the file's content"
		case errors.Is(f, bundle.ErrOutside):
			code, expected = reason.ArtifactPathEscape, "a path inside the artifact"
		}
		e.fault(code, f.File, expected, f.Err.Error())
	}
}

// weightNames are the files inside the artifact that the program takes its
// weights from.
func (e *encoder) weightNames() map[string]bool {
	names := map[string]bool{}
	if e.art.Program == nil {
		return names
	}
	e.art.Program.EachValue(func(v *mil.Value) {
		if v.Blob != nil {
			if n, err := e.art.Locate(v.Blob.Path); err == nil {
				names[n] = true
			}
		}
	})
	return names
}

// weightFaults follows every reference of the program into the weight files,
// reading their metadata only. One finding a file is enough.
func (e *encoder) weightFaults() {
	if e.art.Program == nil {
		return
	}
	reported := map[string]bool{}
	e.art.Program.EachValue(func(v *mil.Value) {
		if v.Blob == nil || reported[v.Blob.Path] {
			return
		}
		before := len(e.reasons)
		e.weightFault(v)
		reported[v.Blob.Path] = len(e.reasons) > before
	})
}

func (e *encoder) weightFault(v *mil.Value) {
	name, err := e.art.Locate(v.Blob.Path)
	if err != nil {
		e.fault(reason.ArtifactPathEscape, e.art.ModelFile, "a weight file inside the artifact", err.Error())
		return
	}
	if e.inventory != nil {
		n, ok := e.inventory.find(name)
		switch {
		case !ok:
			e.fault(reason.ArtifactIncomplete, name, "the weight file that the program refers to", "nothing")
			return
		case n.Pointer:
			e.fault(reason.LFSPointer, name, "the weights", "a git-lfs pointer: run git lfs pull")
			return
		case n.Size == 0:
			e.fault(reason.ArtifactIncomplete, name, "the weights", "an empty file")
			return
		}
	}
	d, s, err := e.art.Section(*v.Blob)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.fault(reason.ArtifactIncomplete, name, "the weight file that the program refers to", "nothing")
		return
	case err != nil:
		e.fault(reason.ArtifactMalformed, name, fmt.Sprintf("a blob at offset %d", v.Blob.Offset), err.Error())
		return
	}
	want, err := blobSize(v)
	if err != nil {
		e.fault(reason.ArtifactMalformed, e.art.ModelFile, "constants of fixed size", err.Error())
		return
	}
	if d != v.Type.DType && (v.Type.DType != mil.Bool || d != mil.Uint8) || want != s.Size() {
		e.fault(reason.WeightsMismatch, name, fmt.Sprintf("%s at offset %d", v.Type, v.Blob.Offset),
			fmt.Sprintf("%d bytes of %s", s.Size(), d))
	}
}

func blobSize(v *mil.Value) (int64, error) {
	n, err := v.Type.Elements()
	if err != nil {
		return 0, err
	}
	return mil.PackedSize(v.Type.DType, n)
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
		found := fmt.Sprintf("a file of %d bytes that nothing refers to", n.Size)
		if base := path.Base(n.Path); base == ".DS_Store" || strings.HasPrefix(base, "._") || strings.HasPrefix(n.Path, "__MACOSX/") {
			found = "a file of the Finder's"
		}
		e.fault(reason.ExtraFile, n.Path, "only files of the artifact", found)
	}
}

// form holds the artifact's name against its contents: folders are renamed to
// please a compiler that wants another form.
func (e *encoder) form() {
	ext := path.Ext(filepath.ToSlash(filepath.Clean(e.path)))
	switch {
	case e.inventory != nil && e.inventory.Has("Manifest.json") && (e.inventory.Has("coremldata.bin") || e.inventory.Has("model.mil")):
		e.fault(reason.ArtifactForm, e.path, "a package or a compiled model", "files of both")
	case ext == ".mlmodelc" && e.art.Form != bundle.CompiledForm, ext == ".mlpackage" && e.art.Form != bundle.PackageForm:
		e.fault(reason.ArtifactForm, e.path, "what an "+ext+" holds", "what an ."+string(e.art.Form)+" holds")
	}
}
