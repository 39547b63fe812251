package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

// rewrite writes what was read. Every weight file of real packages is the one
// that writers name, so its bytes are copied.
func rewrite(a *bundle.Artifact, out string) error {
	name, err := a.Locate(bundle.WeightPath)
	if err != nil {
		return err
	}
	var weights func(io.Writer) error
	hasBlobs := false
	a.Program.EachValue(func(v *mil.Value) { hasBlobs = hasBlobs || v.Blob != nil })
	if hasBlobs {
		weights = func(w io.Writer) error {
			f, err := os.Open(filepath.Join(os.Args[2], filepath.FromSlash(name)))
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = io.Copy(w, f)
			return err
		}
	}
	return bundle.WritePackage(out, a.Model, weights)
}

// roundTripText compares by protobuf bytes, which are canonical in our writer.
func roundTripText(a *bundle.Artifact) error {
	for _, minor := range []int{0, 3} {
		p := *a.Program
		p.Minor = minor
		var first bytes.Buffer
		if err := text.Write(&first, &p); err != nil {
			return fmt.Errorf("text 1.%d: %w", minor, err)
		}
		q, err := text.Parse(first.String())
		if err != nil {
			return fmt.Errorf("text 1.%d does not read back: %w", minor, err)
		}
		if err := samePrograms(&p, q); err != nil {
			return fmt.Errorf("text 1.%d: %w", minor, err)
		}
	}
	return nil
}

func samePrograms(p, q *mil.Program) error {
	want, err := spec.EncodeProgram(p)
	if err != nil {
		return err
	}
	got, err := spec.EncodeProgram(q)
	if err != nil {
		return err
	}
	if !bytes.Equal(want, got) {
		return errors.New("the program changed on its way")
	}
	return nil
}

// compiled compares the program but for what compiling changes: buildInfo, the
// opset's name, the order of parameters.
func compiled(a *bundle.Artifact, out string) (err error) {
	if err := bundle.Compile(a, out); err != nil {
		return err
	}
	c, err := bundle.Open(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Check(); err != nil {
		return err
	}
	p, q := *a.Program, *c.Program
	p.Attrs, q.Attrs = nil, nil
	for i := range q.Functions {
		q.Functions[i].Opset = p.Functions[i].Opset
		slices.SortFunc(p.Functions[i].Params, func(a, b mil.Param) int { return cmp.Compare(a.Name, b.Name) })
	}
	if err := samePrograms(&p, &q); err != nil {
		return err
	}
	seen := map[mil.BlobRef]bool{}
	a.Program.EachValue(func(v *mil.Value) {
		if v.Blob == nil || seen[*v.Blob] || err != nil {
			return
		}
		seen[*v.Blob] = true
		_, want, werr := a.Blob(*v.Blob)
		_, got, gerr := c.Blob(*v.Blob)
		err = errors.Join(werr, gerr)
		if err == nil && !bytes.Equal(want, got) {
			err = fmt.Errorf("the blob at %d changed on its way", v.Blob.Offset)
		}
	})
	return err
}
