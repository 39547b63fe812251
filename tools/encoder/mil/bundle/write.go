package bundle

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

const (
	milName      = "model.mil"
	espressoName = "model.espresso.net"
	modelDir     = coreMLAuthor
	modelName    = "model.mlmodel"

	// WeightName is the weight file that writers use, below @model_path.
	WeightName = "weights/weight.bin"
	// WeightPath is the same as programs write it.
	WeightPath = modelPath + WeightName
)

// WritePackage writes an .mlpackage at dest. weights writes the weight file
// that the program refers to as WeightPath; nil when there is none. Equal
// inputs give equal bytes: identifiers are derived from content, no clock is
// read. dest appears whole or not at all.
func WritePackage(dest string, m *spec.Model, weights func(io.Writer) error) error {
	if err := m.Program.Validate(); err != nil {
		return fmt.Errorf("write package: %w", err)
	}
	b, err := m.Encode()
	if err != nil {
		return fmt.Errorf("write package: %w", err)
	}
	s, err := stage(dest)
	if err != nil {
		return err
	}
	defer s.drop()
	digest := sha256.Sum256(b)
	root := Item{Name: modelName, Path: path.Join(modelDir, modelName), Author: coreMLAuthor,
		Description: "CoreML Model Specification"}
	root.ID = contentID(root.Path, digest[:])
	man := &Manifest{RootID: root.ID, Items: []Item{root}}
	if err := s.bytes(path.Join(dataDir, root.Path), b); err != nil {
		return err
	}
	if weights != nil {
		item := Item{Name: "weights", Path: path.Join(modelDir, "weights"), Author: coreMLAuthor,
			Description: "CoreML Model Weights"}
		h := sha256.New()
		err := s.file(path.Join(dataDir, modelDir, WeightName), func(w io.Writer) error {
			return weights(io.MultiWriter(w, h))
		})
		if err != nil {
			return err
		}
		item.ID = contentID(item.Path, h.Sum(nil))
		man.Items = append(man.Items, item)
	}
	slices.SortFunc(man.Items, func(a, b Item) int { return cmp.Compare(a.ID, b.ID) })
	if b, err = man.Encode(); err != nil {
		return fmt.Errorf("write package: %w", err)
	}
	if err := s.bytes(manifestName, b); err != nil {
		return err
	}
	return s.land()
}

// compilerVersion goes into buildInfo of what Compile writes. Raise it when
// the output for equal input changes.
const compilerVersion = "1"

// Compile writes the .mlmodelc of an .mlpackage (or .mlmodel) at dest. It is
// the emulated lane's counterpart of Apple's coremlc: the program becomes
// text, the description becomes coremldata.bin and metadata.json, weights are
// copied. It compiles ML programs of fixed shape with one function. Programs
// for iOS 18 and later are written as program 1.3, others as 1.0.
func Compile(a *Artifact, dest string) error {
	if err := a.Check(); err != nil {
		return fmt.Errorf("compile: %w", err)
	}
	if err := compilable(a); err != nil {
		return fmt.Errorf("compile: %w", err)
	}
	p, err := textProgram(a.Program)
	if err != nil {
		return fmt.Errorf("compile: %w", err)
	}
	s, err := stage(dest)
	if err != nil {
		return err
	}
	defer s.drop()
	if err := s.file(milName, func(w io.Writer) error { return text.Write(w, p) }); err != nil {
		return err
	}
	if err := copyWeights(s, a); err != nil {
		return err
	}
	data := &CoreMLData{Kind: a.Kind, SpecificationVersion: a.SpecificationVersion, Description: a.Description}
	b, err := data.Encode()
	if err != nil {
		return fmt.Errorf("compile: %w", err)
	}
	if err := s.bytes(coreMLDataName, b); err != nil {
		return err
	}
	m := *a.Model
	m.Program = p
	if b, err = describe(&m, className(dest)).Encode(); err != nil {
		return fmt.Errorf("compile: %w", err)
	}
	if err := s.bytes(metadataName, b); err != nil {
		return err
	}
	return s.land()
}

func compilable(a *Artifact) error {
	switch {
	case a.Form == CompiledForm:
		return errors.New("the artifact is compiled already")
	case a.Kind != spec.MLProgram || a.Program == nil:
		return fmt.Errorf("expected an mlProgram, found %s", a.Kind)
	case len(a.Program.Functions) != 1 || len(a.Description.Functions) > 1:
		return fmt.Errorf("expected one function, found %d", max(len(a.Program.Functions), len(a.Description.Functions)))
	}
	fn := a.Description.Interface()
	if fn == nil {
		return fmt.Errorf("the description names %q as its default function, and has none of that name", a.Description.DefaultFunction)
	}
	for _, fs := range [][]spec.Feature{fn.Inputs, fn.Outputs} {
		for _, f := range fs {
			if f.Array != nil && f.Array.Flexible() {
				return fmt.Errorf("feature %s has a flexible shape, which this compiler does not write", f.Name)
			}
		}
	}
	return nil
}

// textProgram arranges a program the way compilers print it: parameters
// sorted by name, a buildInfo that says who compiled it.
func textProgram(in *mil.Program) (*mil.Program, error) {
	p := *in
	p.Major, p.Minor = 1, 0
	p.Functions = nil
	for _, f := range in.Functions {
		g := *f
		g.Others = nil
		g.Params = slices.SortedFunc(slices.Values(f.Params), func(a, b mil.Param) int { return cmp.Compare(a.Name, b.Name) })
		p.Functions = append(p.Functions, &g)
		set, ok := opsets[f.Opset]
		if !ok {
			return nil, fmt.Errorf("function %s is written for opset %q: expected one of CoreML5 to CoreML9", f.Name, f.Opset)
		}
		g.Opset = set.text
		p.Minor = max(p.Minor, set.minor)
	}
	p.Attrs = buildInfo(in.Attrs)
	return &p, nil
}

// opsets maps the protobuf's names of operation sets to those of the text.
// Program 1.3 came with the compilers for iOS 18.
var opsets = map[string]struct {
	text  string
	minor int
}{
	"CoreML5": {"ios15", 0}, "CoreML6": {"ios16", 0}, "CoreML7": {"ios17", 0},
	"CoreML8": {"ios18", 3}, "CoreML9": {"ios26", 3},
}

func buildInfo(attrs []mil.Attr) []mil.Attr {
	info := &mil.Value{Type: &mil.Type{Kind: mil.DictKind, Key: mil.TensorOf(mil.String), Val: mil.TensorOf(mil.String)}}
	var out []mil.Attr
	for _, a := range attrs {
		if a.Name != "buildInfo" {
			out = append(out, a)
		} else if a.Value.Type.Equal(info.Type) {
			info.Pairs = slices.Clone(a.Value.Pairs)
		}
	}
	info.Pairs = append(info.Pairs, mil.Pair{Key: mil.StringValue("coreml-gate-compiler"), Val: mil.StringValue(compilerVersion)})
	slices.SortStableFunc(info.Pairs, func(a, b mil.Pair) int {
		ka, _ := a.Key.AsString()
		kb, _ := b.Key.AsString()
		return cmp.Compare(ka, kb)
	})
	return append([]mil.Attr{{Name: "buildInfo", Value: info}}, out...)
}

// copyWeights copies every weight file that the program refers to.
func copyWeights(s *staging, a *Artifact) error {
	paths := map[string]string{} // name in the new artifact, by path written
	a.Program.EachValue(func(v *mil.Value) {
		if v.Blob != nil {
			paths[v.Blob.Path] = strings.TrimPrefix(v.Blob.Path, modelPath)
		}
	})
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		if err := local(paths[p]); err != nil {
			return fmt.Errorf("compile: weight path %q: %w", p, err)
		}
		name, err := a.w.locate(p)
		if err != nil {
			return fmt.Errorf("compile: %w", err)
		}
		f, _, err := a.w.root.open(name)
		if err != nil {
			return fmt.Errorf("compile: weight file %s: %w", name, err)
		}
		err = s.file(paths[p], func(w io.Writer) error {
			_, err := io.Copy(w, f)
			return err
		})
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// className derives the name of the class that Apple's tools would generate:
// the file's stem with everything but letters and digits as underscores.
func className(dest string) string {
	stem := strings.TrimSuffix(filepath.Base(dest), filepath.Ext(dest))
	return strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, stem)
}
