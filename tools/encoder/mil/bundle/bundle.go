// Package bundle reads and writes whole Core ML artifacts.
//
// An .mlpackage is a folder:
//
//	Manifest.json                         what is in it; see Manifest
//	Data/com.apple.CoreML/model.mlmodel   the Model protobuf (package spec)
//	Data/com.apple.CoreML/weights/…       weight files (package blob)
//
// A compiled .mlmodelc of an ML program is a folder:
//
//	coremldata.bin      the model's description; see CoreMLData
//	metadata.json       the same for tools, and statistics; may be absent; see Metadata
//	model.mil           the program as text (package text)
//	weights/weight.bin  weights (package blob)
//	analytics/…         ignored
//
// A compiled neural network has model.espresso.* files instead of model.mil,
// a compiled pipeline the folders model0, model1, … of its members.
//
// Programs refer to weight files by "@model_path/…": @model_path is the folder
// of model.mil, or the folder of the .mlmodel. No path leaves the artifact.
// Files are opened lazily and weights are mapped, so that a large artifact
// costs little memory until its numbers are read.
package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/blob"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

// Form is how an artifact is stored.
type Form string

// Forms of artifacts.
const (
	PackageForm  Form = "mlpackage"
	CompiledForm Form = "mlmodelc"
	FileForm     Form = "mlmodel"
)

// Fault is something wrong with one file of an artifact.
type Fault struct {
	File string // name within the artifact
	Err  error
}

func (f *Fault) Error() string { return f.File + ": " + f.Err.Error() }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// Artifact is an open artifact. What could not be read is nil, and Faults
// says why; a caller that needs a sound artifact calls Check first.
type Artifact struct {
	Form Form
	// Kind, SpecificationVersion and Description are from the model protobuf
	// or from coremldata.bin.
	Kind                 spec.Kind
	SpecificationVersion int32
	Description          *spec.Description
	// Program is nil for everything but an ML program.
	Program *mil.Program
	// Model is the whole model file of a package or .mlmodel.
	Model *spec.Model
	// Manifest is set for packages.
	Manifest *Manifest
	// Metadata is metadata.json of a compiled model, nil when absent.
	Metadata *Metadata
	// ModelFile names the file that holds the program or model, within the
	// artifact.
	ModelFile string
	// Faults lists what is wrong, in the order found.
	Faults []*Fault

	w *weights
}

// ErrNotArtifact says that a path holds no Core ML artifact at all.
var ErrNotArtifact = errors.New("not a Core ML artifact: expected a folder with Manifest.json (.mlpackage), " +
	"one with coremldata.bin or model.mil (.mlmodelc), or an .mlmodel file")

// Open opens the artifact at a path of the host. It fails only where there is
// no artifact; faults within one are collected.
func Open(name string) (*Artifact, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("open artifact: %w", err)
	}
	if !fi.IsDir() {
		return openFile(name)
	}
	r, err := openRoot(name)
	if err != nil {
		return nil, fmt.Errorf("open artifact: %w", err)
	}
	a := &Artifact{w: &weights{root: r, files: map[string]*weightFile{}}}
	compiled := r.exists(coreMLDataName) || r.exists(milName)
	switch {
	// A compiled model to which someone added a manifest, to please a compiler, is still a compiled one.
	case r.exists(manifestName) && !(compiled && !r.exists(dataDir)):
		a.openPackage()
	case compiled, r.exists(espressoName), r.exists(metadataName):
		a.openCompiled()
	default:
		a.Close()
		return nil, fmt.Errorf("open artifact %s: %w", filepath.Base(name), ErrNotArtifact)
	}
	return a, nil
}

func openFile(name string) (*Artifact, error) {
	dir, base := filepath.Split(name)
	if dir == "" {
		dir = "."
	}
	r, err := openRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open artifact: %w", err)
	}
	a := &Artifact{Form: FileForm, w: &weights{root: r, base: ".", files: map[string]*weightFile{}}}
	a.readModel(base)
	if a.Model == nil {
		err := a.Faults[0].Err
		a.Close()
		return nil, fmt.Errorf("open artifact %s: %w", base, err)
	}
	return a, nil
}

// Check returns the artifact's faults as one error, or nil.
func (a *Artifact) Check() error {
	errs := make([]error, len(a.Faults))
	for i, f := range a.Faults {
		errs[i] = f
	}
	return errors.Join(errs...)
}

// Close releases the artifact. Bytes from Blob must not be used afterwards.
func (a *Artifact) Close() error { return a.w.close() }

// Blob returns the element type and the mapped bytes of a blob; it implements
// mil.Weights. Safe for concurrent use.
func (a *Artifact) Blob(ref mil.BlobRef) (mil.DType, []byte, error) { return a.w.bytes(ref) }

// Section returns the element type and a reader over a blob, for one who
// wants to stream and keep memory low. Safe for concurrent use.
func (a *Artifact) Section(ref mil.BlobRef) (mil.DType, *io.SectionReader, error) {
	return a.w.section(ref)
}

// Rest says what of a weight file, by its path in the program, none of the blobs at offsets takes up (blob.File.Rest).
func (a *Artifact) Rest(weightPath string, offsets []uint64) (unread []blob.Info, loose []blob.Span, err error) {
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	wf, err := a.w.get(weightPath)
	if err != nil {
		return nil, nil, err
	}
	return wf.blob.Rest(offsets)
}

// Locate returns the name within the artifact that a program's weight path
// stands for, or an error if it leaves the artifact.
func (a *Artifact) Locate(weightPath string) (string, error) { return a.w.locate(weightPath) }

func (a *Artifact) fault(file string, err error) {
	if err != nil {
		a.Faults = append(a.Faults, &Fault{File: file, Err: err})
	}
}

func (a *Artifact) openPackage() {
	a.Form = PackageForm
	b, err := a.w.root.read(manifestName, maxJSON)
	if err == nil {
		a.Manifest, err = ParseManifest(b)
	}
	if err != nil {
		a.fault(manifestName, err)
		return
	}
	item, err := a.Manifest.Root()
	if err != nil {
		a.fault(manifestName, err)
		return
	}
	for _, it := range a.Manifest.Items {
		if !a.w.root.exists(path.Join(dataDir, it.Path)) {
			a.fault(manifestName, fmt.Errorf("item %q at %s is missing: %w", it.Name, path.Join(dataDir, it.Path), fs.ErrNotExist))
		}
	}
	a.readModel(path.Join(dataDir, item.Path))
}

// readModel reads a model protobuf and checks the weight files it refers to.
func (a *Artifact) readModel(name string) {
	a.ModelFile = name
	a.w.base = path.Dir(name)
	f, size, err := a.w.root.open(name)
	if err != nil {
		a.fault(name, err)
		return
	}
	defer f.Close()
	m, err := spec.Read(f, size)
	if err != nil {
		a.fault(name, err)
		return
	}
	a.Model, a.Kind, a.SpecificationVersion = m, m.Kind, m.SpecificationVersion
	a.Description, a.Program = m.Description, m.Program
	a.checkBlobs()
}

func (a *Artifact) openCompiled() {
	a.Form = CompiledForm
	a.w.base = "."
	b, err := a.w.root.read(coreMLDataName, spec.MaxDescription+1<<10)
	var data *CoreMLData
	if err == nil {
		data, err = ParseCoreMLData(b)
	}
	if err != nil {
		a.fault(coreMLDataName, err)
	} else {
		a.Kind, a.SpecificationVersion, a.Description = data.Kind, data.SpecificationVersion, data.Description
	}
	if a.w.root.exists(metadataName) {
		b, err := a.w.root.read(metadataName, maxJSON)
		if err == nil {
			a.Metadata, err = ParseMetadata(b)
		}
		a.fault(metadataName, err)
	}
	a.readText()
	if a.Kind == 0 {
		a.Kind = a.guessKind()
	}
}

func (a *Artifact) guessKind() spec.Kind {
	r := a.w.root
	switch {
	case r.exists(milName):
		return spec.MLProgram
	case r.exists(espressoName):
		return spec.NeuralNetwork
	case r.exists("model0"):
		return spec.Pipeline
	}
	return 0
}

func (a *Artifact) readText() {
	f, _, err := a.w.root.open(milName)
	if err != nil {
		// Other kinds of models have no program.
		if !errors.Is(err, fs.ErrNotExist) || a.Kind == spec.MLProgram {
			a.fault(milName, err)
		}
		return
	}
	defer f.Close()
	head := make([]byte, mil.LFSHeadBytes)
	n, _ := f.ReadAt(head, 0)
	if mil.IsLFSPointer(head[:n]) {
		a.fault(milName, mil.ErrLFSPointer)
		return
	}
	if err := marked(head[:n]); err != nil {
		a.fault(milName, err)
		return
	}
	a.ModelFile = milName
	if a.Program, err = text.Read(f); err != nil {
		a.fault(milName, err)
		return
	}
	a.checkBlobs()
}

// checkBlobs looks every blob reference up, so that missing, short or foreign
// weight files are found before anything runs. It reads metadata only.
func (a *Artifact) checkBlobs() {
	if a.Program == nil {
		return
	}
	bad := map[string]bool{} // one fault for each weight file is enough
	a.Program.EachValue(func(v *mil.Value) {
		if v.Blob == nil || bad[v.Blob.Path] {
			return
		}
		if err := a.checkBlob(v); err != nil {
			bad[v.Blob.Path] = true
			name, lerr := a.w.locate(v.Blob.Path)
			if lerr != nil {
				name = a.ModelFile
			}
			a.fault(name, err)
		}
	})
}

func (a *Artifact) checkBlob(v *mil.Value) error {
	d, s, err := a.w.section(*v.Blob)
	if err != nil {
		return err
	}
	n, err := v.Type.Elements()
	if err != nil {
		return err
	}
	size, err := mil.PackedSize(v.Type.DType, n)
	if err != nil {
		return err
	}
	if d != v.Type.DType && (v.Type.DType != mil.Bool || d != mil.Uint8) || size != s.Size() {
		return fmt.Errorf("blob at offset %d holds %d bytes of %s, the program expects %s; program and weights do not belong together",
			v.Blob.Offset, s.Size(), d, v.Type)
	}
	return nil
}
