package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// Options change what a pair is judged by.
type Options struct {
	// ContentsOnly leaves out where things lie and what they are called, and
	// takes an .mlpackage for what it will be compiled to, and a model for what its
	// numbers are worth as a reference, whether or not the runtime can run it.
	// Who measures numbers sets it.
	ContentsOnly bool
	// MinimumMacOS, such as "13.0", is the oldest system that must read the
	// encoder; "" asks for none.
	MinimumMacOS string
	// NoDigests leaves out the SHA-256 of the model and of the encoder's tree.
	NoDigests bool
	// Frugal keeps the memory of the whole process low while a pair is inspected, for processes that do nothing else.
	Frugal bool
}

// Report is the answer about one pair.
type Report struct {
	// Given are the paths that were to be judged, of which nothing may have been read.
	Given []string `json:"-"`
	// Verdict follows from Reasons. Shippable is true for a pass of a whole
	// pair: model and compiled encoder, where the runtime finds them.
	verdict.Findings
	Shippable bool     `json:"shippable"`
	Model     *Model   `json:"model"`
	Encoder   *Encoder `json:"encoder"`
	Pairing   *Pairing `json:"pairing"`
	Derived   *Derived `json:"derived"`
}

// Derived is where the runtime looks for the model's encoder.
type Derived struct {
	// Path as the runtime computes it from the model's path as given.
	Path string `json:"path"`
	// Exists says whether something stands there.
	Exists bool `json:"exists"`
	// Surprise says what is unexpected about the path, or is "".
	Surprise string `json:"surprise,omitempty"`
}

// Encoder is what is known about a Core ML encoder.
type Encoder struct {
	Path string `json:"path"`
	// Form is mlmodelc, mlpackage or mlmodel.
	Form string `json:"form"`
	// Kind is the model type: mlProgram, neuralNetwork, pipeline, …
	Kind string `json:"kind"`
	// Digest of the tree (package tree); for an .mlmodel that of the file.
	Digest string `json:"digest,omitempty"`
	// Contents is the digest of the tree without Manifest.json, whose random
	// identifiers make packages of equal contents differ; only for an .mlpackage.
	Contents string `json:"contents_digest,omitempty"`
	Files    int    `json:"files"`
	Bytes    int64  `json:"bytes"`

	SpecificationVersion int32 `json:"specification_version"`
	// MinimumMacOS is the oldest system that reads it.
	MinimumMacOS string `json:"minimum_macos,omitempty"`
	// Program is the version of the program's text (1.0, 1.3); Opset its
	// operation set; Operations counts what is not a constant.
	Program    string `json:"program,omitempty"`
	Opset      string `json:"opset,omitempty"`
	Operations int    `json:"operations,omitempty"`

	Interface
	Precision *Precision `json:"precision,omitempty"`
	Producer  Producer   `json:"producer"`
}

// Inspect judges a model and an encoder. Either path may be "": without an
// encoder the derived one is taken, without a model the encoder is judged alone
// and cannot pass. The error is for what could not be judged at all.
func Inspect(modelPath, encoderPath string, o Options) (*Report, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	r := &Report{}
	for _, path := range []string{modelPath, encoderPath} {
		if path != "" {
			r.Given = append(r.Given, path)
		}
	}
	var found findings
	if exchanged(modelPath, encoderPath) {
		found.fault(reason.ModelNotGGML, modelPath, "a ggml-*.bin model, and its encoder behind it", "the encoder, and the model behind it: exchange them")
		return r.finish(found, o), nil
	}
	var m *ggml.Model
	noModel := false
	if modelPath != "" {
		var err error
		if m, found, err = openModel(modelPath, o); err != nil {
			return nil, err
		}
		if m != nil {
			defer m.Close()
			if r.Model, err = modelFacts(modelPath, m, !o.NoDigests); err != nil {
				return nil, err
			}
		}
		noModel = m == nil && (isEncoder(modelPath) || ggml.OtherFormat(modelPath) != "")
		if !noModel {
			r.Derived = derived(modelPath)
		}
		if !noModel && !o.ContentsOnly && !strings.HasSuffix(modelPath, ".bin") {
			found.fault(reason.ModelName, modelPath, "a name that ends in .bin", filepath.Base(modelPath))
		}
	}
	if !noModel { // where an encoder lies follows from its model
		path, where, err := locate(modelPath, encoderPath, o)
		if err != nil {
			return nil, err
		}
		encoderPath, found = path, append(found, where...)
	}
	if encoderPath == "" {
		return r.finish(found, o), nil
	}
	e, err := openEncoder(encoderPath)
	if err != nil {
		return nil, err
	}
	defer e.close()
	if !o.ContentsOnly {
		e.rootLink(encoderPath)
	}
	if err := r.encoder(e, m, o); err != nil {
		return nil, err
	}
	if modelPath == "" {
		e.fault(reason.EncoderAlone, encoderPath, "the model that it belongs to", "none given")
	}
	return r.finish(append(found, e.findings...), o), nil
}

func derived(model string) *Derived {
	p := whispercpp.EncoderPath(model)
	_, err := os.Stat(p)
	return &Derived{Path: p, Exists: err == nil, Surprise: whispercpp.EncoderPathSurprise(model)}
}

// locate finds the encoder that is meant, and holds the path that was given
// against the one that the runtime opens.
func locate(model, given string, o Options) (string, findings, error) {
	if model == "" {
		return given, nil, nil
	}
	want := whispercpp.EncoderPath(model)
	pkg := filepath.Join(filepath.Dir(want), whispercpp.EncoderPackage(model))
	if given == "" {
		if exists(want) {
			if !o.ContentsOnly && isUncompiled(want) {
				var found findings
				found.fault(reason.ArtifactNotCompiled, want, "a compiled encoder", "what it would be compiled from")
				return want, found, nil
			}
			return want, nil, nil
		}
		path, found := missing(model, want, pkg)
		return path, found, nil
	}
	if o.ContentsOnly {
		return given, nil, nil
	}
	var found findings
	uncompiled := isUncompiled(given)
	target := want
	if uncompiled && filepath.Ext(filepath.Clean(given)) != ".mlmodelc" {
		target = pkg
	}
	// A file is not renamed or moved but unpacked, or fetched again; and where the encoder of a model of another name belongs
	// is known when it has its own.
	if !samePlace(given, target) && mayBeEncoder(given) && strings.HasSuffix(model, ".bin") {
		found.fault(reason.EncoderName, given, target, given+unlike(filepath.Clean(target), filepath.Clean(given)))
	}
	if uncompiled {
		found.fault(reason.ArtifactNotCompiled, given, want, "what it would be compiled from")
	}
	return given, found, nil
}

// missing says what stands where the derived encoder should: its package, or
// others.
func missing(model, want, pkg string) (string, findings) {
	var found findings
	if exists(pkg) {
		if isUncompiled(pkg) { // otherwise it is a compiled encoder under another extension, which its form says
			found.fault(reason.ArtifactNotCompiled, pkg, want, "only the package")
		}
		return pkg, found
	}
	var compiled, packages []string
	entries, _ := os.ReadDir(filepath.Dir(want))
	for _, e := range entries {
		if isFinders(filepath.Join(filepath.Dir(want), e.Name())) {
			continue
		}
		switch strings.ToLower(strings.TrimSpace(filepath.Ext(e.Name()))) {
		case ".mlmodelc":
			compiled = append(compiled, e.Name())
		case ".mlpackage", ".mlmodel":
			packages = append(packages, e.Name())
		}
	}
	found.stop(unread, reason.EncoderMissing, filepath.Dir(want), want, "nothing")
	switch {
	case len(compiled) > 0:
		// Whose they are is not known: a fine-tuned model beside a stock encoder
		// is a silent fault, so none of them is taken.
		found.fault(reason.EncoderName, filepath.Dir(want), filepath.Base(want), strings.Join(compiled, ", ")+unlikeAny(filepath.Base(want), compiled))
	case len(packages) > 0:
		found.fault(reason.ArtifactNotCompiled, filepath.Dir(want), filepath.Base(want), strings.Join(packages, ", "))
	}
	return "", append(found, stillPacked(want)...)
}

// stillPacked names the archives that stand where an encoder should, still packed: models are published so.
func stillPacked(want string) findings {
	entries, _ := os.ReadDir(filepath.Dir(want))
	var names []string
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if isFinders(filepath.Join(filepath.Dir(want), e.Name())) {
			continue
		}
		switch filepath.Ext(name) {
		case ".zip", ".tar", ".gz", ".tgz", ".xz", ".zst", ".7z":
			if strings.Contains(name, "encoder") || strings.Contains(name, ".mlmodelc") {
				names = append(names, e.Name())
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	var found findings
	found.stop(unread, reason.ArtifactIsArchive, filepath.Dir(want), filepath.Base(want), strings.Join(names, ", "))
	return found
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// isUncompiled goes by what is in the folder, and by the name where that says
// nothing.
func isUncompiled(path string) bool {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(path, name))
		return err == nil
	}
	compiled := has("coremldata.bin") || has("model.mil")
	switch {
	case compiled && !has("Data"):
		return false
	case has("Manifest.json"):
		return true
	case compiled:
		return false
	}
	ext := filepath.Ext(filepath.Clean(path))
	return ext == ".mlpackage" || ext == ".mlmodel"
}

// samePlace reports whether two paths name one thing, however they are spelled.
func samePlace(a, b string) bool {
	if filepath.Base(filepath.Clean(a)) != filepath.Base(b) {
		return false // through a link under another name it is not found
	}
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// encoder fills in the encoder's side of the report.
func (r *Report) encoder(e *encoder, m *ggml.Model, o Options) error {
	if e.art == nil {
		return nil
	}
	a := e.art
	x := &Encoder{Path: e.path, Form: string(a.Form), Kind: a.Kind.String(), SpecificationVersion: a.SpecificationVersion}
	r.Encoder = x
	e.form()
	if e.inventory != nil {
		x.Files, x.Bytes = e.inventory.Files, e.inventory.Bytes
	}
	if err := x.digest(e, o); err != nil {
		return err
	}
	var h *ggml.Hyperparameters
	if m != nil {
		h = &m.Hyperparameters
	}
	x.Interface = e.kindAndInterface(h)
	x.MinimumMacOS = e.version(o.MinimumMacOS)
	x.Producer = e.producer()
	if x.SpecificationVersion == 0 && a.Metadata != nil {
		x.SpecificationVersion = a.Metadata.SpecificationVersion
	}
	main := mainFunction(a.Program)
	if main == nil || main.Body == nil {
		return nil
	}
	x.Program, x.Opset = fmt.Sprintf("%d.%d", a.Program.Major, a.Program.Minor), main.Opset
	list, d := collectWeights(main, a)
	p := precision(main, list, d)
	x.Precision = &p
	e.trouble(main, d, p.Compression)
	x.Operations = operations(main)
	if m == nil || m.TestStub() || e.has(unpaired) {
		return nil
	}
	if o.Frugal {
		defer frugal(list)()
	}
	pairing, err := e.pair(m, main, list, d)
	if err != nil {
		// The metadata was in order, the contents were not.
		e.fault(reason.ArtifactMalformed, a.ModelFile, "weights that can be read", err.Error())
		return nil
	}
	r.Pairing = pairing
	return nil
}

func (x *Encoder) digest(e *encoder, o Options) (err error) {
	if o.NoDigests {
		return nil
	}
	info, err := os.Stat(e.path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		x.Files, x.Bytes = 1, info.Size()
		x.Digest, _, err = tree.HashFile(e.path)
		return err
	}
	files, err := tree.Files(e.path, tree.RefuseLinks)
	if err != nil {
		// What cannot be named safely has been reported, or is now: such a tree
		// has no digest.
		if len(e.findings) == 0 {
			e.fault(reason.ArtifactNameUnsafe, e.path, "a tree that can be hashed", err.Error())
		}
		return nil
	}
	x.Digest = tree.DigestFiles(files)
	if e.art.Form == bundle.PackageForm {
		x.Contents = tree.DigestFiles(slices.DeleteFunc(files, func(f tree.File) bool { return f.Path == "Manifest.json" }))
	}
	return nil
}

// finish sorts findings from notes and draws the verdict.
func (r *Report) finish(found findings, o Options) *Report {
	r.Findings = verdict.New()
	for _, x := range found.reasons(0) {
		if !slices.Contains(r.Reasons, x) {
			r.AddReason(x)
		}
	}
	r.Shippable = r.Verdict == reason.Pass && r.Model != nil && r.Encoder != nil &&
		r.Encoder.Form == string(bundle.CompiledForm) && !o.ContentsOnly
	return r
}
