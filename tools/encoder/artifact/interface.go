package artifact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
)

// Feature is an input or output of an encoder, as the artifact states it.
type Feature struct {
	Name string `json:"name"`
	// Kind is Core ML's: MultiArray, Image, …
	Kind string `json:"kind"`
	// Type of a multi-array's elements in Core ML's spelling (Float32, …), ""
	// where it is not stated.
	Type string `json:"type"`
	// Shape, outermost extent first; -1 is an extent that is not fixed. Absent
	// where it is not stated.
	Shape      []int64 `json:"shape,omitempty"`
	Optional   bool    `json:"optional,omitempty"`
	Enumerated bool    `json:"enumerated,omitempty"`
	Flexible   bool    `json:"flexible,omitempty"`
	// Ranges are the lowest and highest extent of each axis, where the description states them; -1 is not a bound.
	Ranges [][2]int64 `json:"ranges,omitempty"`
}

// flexibility words how a shape may vary.
func (f Feature) flexibility() string {
	if len(f.Ranges) == 0 {
		return shapeString(f.Shape)
	}
	parts := make([]string, len(f.Ranges))
	point := true
	for i, r := range f.Ranges {
		parts[i] = fmt.Sprintf("%d to %d", r[0], r[1])
		if r[1] < 0 {
			parts[i] = fmt.Sprintf("%d or more", r[0])
		}
		point = point && r[0] == r[1]
	}
	s := "a range of shapes, [" + strings.Join(parts, ", ") + "]"
	if point {
		s += ", which has one shape and is a range all the same"
	}
	return s
}

func (f Feature) String() string {
	return fmt.Sprintf("%s: %s %s %s", f.Name, f.Kind, f.Type, shapeString(f.Shape))
}

func shapeString(s []int64) string {
	if s == nil {
		return "of unknown shape"
	}
	parts := make([]string, len(s))
	for i, d := range s {
		parts[i] = fmt.Sprint(d)
		if d == mil.Unknown {
			parts[i] = "?"
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// describedFeatures are the features that the model's description states. The
// description is the protobuf's, or, where there is none, metadata.json's.
func describedFeatures(a *bundle.Artifact) (in, out, states []Feature, stated bool) {
	if d := a.Description; d != nil {
		f := d.Function
		if len(d.Functions) == 1 {
			f = d.Functions[0]
		}
		return protoFeatures(f.Inputs), protoFeatures(f.Outputs), protoFeatures(f.States), true
	}
	if m := a.Metadata; m != nil {
		return jsonFeatures(m.Inputs), jsonFeatures(m.Outputs), jsonFeatures(m.States), true
	}
	return nil, nil, nil, false
}

func protoFeatures(fs []spec.Feature) []Feature {
	out := make([]Feature, 0, len(fs))
	for _, f := range fs {
		g := Feature{Name: f.Name, Kind: f.Kind.String(), Optional: f.Optional}
		if f.Array != nil {
			g.Type = f.Array.DType.String()
			if len(f.Array.Shape) > 0 {
				g.Shape = slices.Clone(f.Array.Shape)
			}
			g.Enumerated = f.Array.Enumerated != nil
			g.Flexible = f.Array.Ranges != nil
			for _, r := range f.Array.Ranges {
				g.Ranges = append(g.Ranges, [2]int64{r.Lower, r.Upper})
			}
		}
		out = append(out, g)
	}
	return out
}

func jsonFeatures(fs []bundle.MetadataFeature) []Feature {
	out := make([]Feature, 0, len(fs))
	for _, f := range fs {
		g := Feature{Name: f.Name, Kind: f.Type, Type: f.DataType, Optional: f.IsOptional == "1", Flexible: f.HasShapeFlexibility == "1"}
		if shape, ok := parseShape(f.Shape); ok && len(shape) > 0 {
			g.Shape = shape
		}
		out = append(out, g)
	}
	return out
}

func parseShape(s string) ([]int64, bool) {
	s, ok := strings.CutPrefix(s, "[")
	if !ok {
		return nil, false
	}
	s, ok = strings.CutSuffix(s, "]")
	if !ok || s == "" {
		return nil, ok
	}
	var shape []int64
	for part := range strings.SplitSeq(s, ",") {
		var d int64
		if _, err := fmt.Sscan(strings.TrimSpace(part), &d); err != nil {
			return nil, false
		}
		shape = append(shape, d)
	}
	return shape, true
}

// mainFunction is the function that the runtime's bridge runs, or nil.
func mainFunction(p *mil.Program) *mil.Function {
	if p == nil {
		return nil
	}
	if f := p.Function("main"); f != nil {
		return f
	}
	if len(p.Functions) == 1 {
		return p.Functions[0]
	}
	return nil
}

// programFeatures are the features that the program itself states: types and
// shapes, never what kind of object the caller hands in.
func programFeatures(f *mil.Function) (in, out []Feature) {
	if f == nil || f.Body == nil {
		return nil, nil
	}
	types := map[string]*mil.Type{}
	for _, p := range f.Params {
		in = append(in, programFeature(p.Name, p.Type))
		types[p.Name] = p.Type
	}
	for _, op := range f.Body.Ops {
		for _, o := range op.Outputs {
			types[o.Name] = o.Type
		}
	}
	for _, n := range f.Body.Outputs {
		out = append(out, programFeature(n, types[n]))
	}
	return in, out
}

func programFeature(name string, t *mil.Type) Feature {
	g := Feature{Name: name, Kind: "MultiArray"}
	switch {
	case t == nil:
		return g
	case t.Kind == mil.StateKind:
		g.Kind = "State"
		return g
	case t.Kind == mil.ListKind:
		g.Kind = "Sequence"
		return g
	case t.Kind != mil.TensorKind:
		g.Kind = "Dictionary"
		return g
	}
	if n, ok := coreMLTypes[t.DType]; ok {
		g.Type = n
	} else {
		g.Type = t.DType.String()
	}
	g.Shape = append([]int64{}, t.Shape...)
	if len(g.Shape) == 0 && !t.VariableRank {
		g.Shape = []int64{1} // what a description says of a scalar
	}
	g.Flexible = !t.Static()
	return g
}

var coreMLTypes = map[mil.DType]string{
	mil.Float16: "Float16", mil.Float32: "Float32", mil.Float64: "Double", mil.Int32: "Int32", mil.Int8: "Int8",
}
