package artifact

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/dataflow"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/constexpr"
)

// weight is one constant tensor that an encoder computes with.
type weight struct {
	name  string
	shape []int64
	// typ is the type that the program computes with: float16 or float32.
	typ mil.DType
	// value is set for weights that are stored as they are, op for compressed ones.
	value *mil.Value
	op    *mil.Op
	// live says that an output depends on it.
	live bool
	// used says that a tensor of the model was found in it, zero that all its values are 0: a bias that a layer needs
	// and the model lacks.
	used, zero bool
}

func (w *weight) elements() int64 { return product(w.shape) }

// minWeight is the number of values below which a constant is a setting, not a
// weight.
const minWeight = 8

// collectWeights lists the weights of a function in program order, and gives a
// decompressor for those that are compressed.
func collectWeights(f *mil.Function, w mil.Weights) ([]*weight, *decompressor) {
	d := newDecompressor(f.Body, w)
	live := dataflow.Live(f)
	operands := map[string]bool{} // of constexpr operations: no weights themselves
	f.Body.EachOp(func(op *mil.Op) {
		for _, a := range op.Inputs {
			for _, b := range a.Bindings {
				operands[b.Name] = operands[b.Name] || constexpr.Is(op)
			}
		}
	})
	var list []*weight
	f.Body.EachOp(func(op *mil.Op) {
		if !isConstant(op) || len(op.Outputs) == 0 {
			return
		}
		o := op.Outputs[len(op.Outputs)-1]
		if operands[o.Name] || !o.Type.Static() || len(o.Type.Shape) == 0 || !o.Type.DType.IsFloat() {
			return
		}
		x := &weight{name: o.Name, shape: o.Type.Shape, typ: o.Type.DType, live: live[op]}
		if n, err := o.Type.Elements(); err != nil || n < minWeight {
			return
		}
		if op.Type == "const" {
			x.value = op.Attr("val")
		} else {
			x.op = op
		}
		list = append(list, x)
	})
	return list, d
}

func isConstant(op *mil.Op) bool {
	return op.Type == "const" || constexpr.Is(op)
}

// Precision states how exactly an encoder computes; it decides which parity
// policy applies.
type Precision struct {
	// Weights is float32, float16, mixed, or compressed.
	Weights string `json:"weights"`
	// Compute is float32, float16 or mixed: the types of what the operations
	// put out, casts aside.
	Compute string `json:"compute"`
	// Class is the coarser of both: float32, float16 or compressed.
	Class string `json:"class"`
	// Values counts weights by the type they are stored in.
	Values map[string]int64 `json:"values"`
	// Compression lists the schemes in use, most used first.
	Compression []Scheme `json:"compression,omitempty"`
}

// Scheme is one way in which weights are compressed.
type Scheme struct {
	// Kind is linear, palettised, pruned, cast, or a combination with "+".
	Kind string `json:"kind"`
	// Bits a value, of the stored integer or index; 0 where that says nothing.
	Bits int `json:"bits,omitempty"`
	// Type of the stored values, such as int4.
	Type string `json:"type,omitempty"`
	// Granularity: per tensor, per channel, per block of N.
	Granularity string `json:"granularity,omitempty"`
	// Sparsity is the share of values that were set to zero.
	Sparsity float64 `json:"sparsity,omitempty"`
	Tensors  int     `json:"tensors"`
	Values   int64   `json:"values"`
}

func (s Scheme) String() string {
	t := strings.TrimSpace(strings.Join([]string{s.Type, s.Kind}, " "))
	if s.Granularity != "" {
		t += ", " + s.Granularity
	}
	if s.Sparsity > 0 {
		t += fmt.Sprintf(", %.0f%% zeros", 100*s.Sparsity)
	}
	return t
}

// precision summarises the weights and operations of a program.
func precision(f *mil.Function, list []*weight, d *decompressor) Precision {
	p := Precision{Values: map[string]int64{}}
	var schemes []Scheme
	for _, w := range list {
		if w.op == nil {
			p.Values[w.typ.String()] += w.elements()
			continue
		}
		s := d.scheme(w.op)
		s.Values, s.Tensors = w.elements(), 1
		p.Values[strings.TrimSpace(s.Type+" "+s.Kind)] += s.Values
		at := slices.IndexFunc(schemes, func(o Scheme) bool {
			return o.Kind == s.Kind && o.Type == s.Type && o.Granularity == s.Granularity
		})
		if at < 0 {
			schemes = append(schemes, s)
			continue
		}
		o := &schemes[at]
		o.Sparsity = (o.Sparsity*float64(o.Values) + s.Sparsity*float64(s.Values)) / float64(o.Values+s.Values)
		o.Values += s.Values
		o.Tensors++
	}
	for i := range schemes {
		schemes[i].Sparsity = math.Round(schemes[i].Sparsity*1e4) / 1e4
	}
	slices.SortStableFunc(schemes, func(a, b Scheme) int { return int(min(max(b.Values-a.Values, -1), 1)) })
	p.Compression = schemes
	p.Compute = compute(f)
	p.Weights = storedAs(list)
	p.Class = class(p.Weights, p.Compute)
	return p
}

// Classes of precision.
const (
	classFloat32    = "float32"
	classFloat16    = "float16"
	classCompressed = "compressed"
)

// class is the coarser of how weights are stored and what operations put out.
func class(weights, compute string) string {
	switch {
	case weights == classCompressed:
		return classCompressed
	case weights == classFloat32 && compute == classFloat32:
		return classFloat32
	}
	return classFloat16
}

func storedAs(list []*weight) string {
	var f16, f32 bool
	for _, w := range list {
		switch {
		case w.op != nil && w.op.Type != "constexpr_cast":
			return "compressed"
		case w.op != nil, w.typ != mil.Float32:
			f16 = true
		default:
			f32 = true
		}
	}
	return mixture(f16, f32)
}

// compute looks at what the operations put out. A cast to the interface's type
// at either end computes nothing.
func compute(f *mil.Function) string {
	var f16, f32 bool
	f.Body.EachOp(func(op *mil.Op) {
		if isConstant(op) || op.Type == "cast" {
			return
		}
		for _, o := range op.Outputs {
			if !o.Type.IsTensor() {
				continue
			}
			f16 = f16 || o.Type.DType == mil.Float16 || o.Type.DType == mil.BFloat16
			f32 = f32 || o.Type.DType == mil.Float32
		}
	})
	return mixture(f16, f32)
}

func mixture(f16, f32 bool) string {
	switch {
	case f16 && f32:
		return "mixed"
	case f16:
		return "float16"
	case f32:
		return "float32"
	}
	return "unknown"
}

// stored is the type of an operand's stored values.
func (d *decompressor) stored(op *mil.Op, name string) (*mil.Type, *mil.Op) {
	v, from := operand(op, name)
	if v != nil {
		return v.Type, nil
	}
	made := d.constants.Op(from)
	if made == nil {
		return nil, nil
	}
	if made.Type == "const" {
		if v := made.Attr("val"); v != nil {
			return v.Type, nil
		}
		return nil, nil
	}
	return nil, made
}

// scheme describes how a constexpr operation compresses.
func (d *decompressor) scheme(op *mil.Op) Scheme {
	switch op.Type {
	case "constexpr_affine_dequantize":
		data, _ := d.stored(op, "quantized_data")
		scale, _ := d.stored(op, "scale")
		s := Scheme{Kind: "linear", Granularity: "per tensor"}
		s.Type, s.Bits = typeAndBits(data)
		if scale != nil && product(scale.Shape) > 1 {
			s.Granularity = "per channel"
		}
		return s
	case "constexpr_blockwise_shift_scale", "constexpr_sparse_blockwise_shift_scale":
		name := "data"
		if op.Type != "constexpr_blockwise_shift_scale" {
			name = "nonzero_data"
		}
		data, inner := d.stored(op, name)
		scale, _ := d.stored(op, "scale")
		if inner != nil {
			s := d.scheme(inner)
			s.Kind += "+linear"
			return s
		}
		s := Scheme{Kind: "linear"}
		s.Type, s.Bits = typeAndBits(data)
		if data != nil && scale != nil {
			s.Granularity = granularity(data.Shape, scale.Shape)
		}
		return s
	case "constexpr_lut_to_dense", "constexpr_lut_to_sparse":
		return d.lutScheme(op)
	case "constexpr_sparse_to_dense":
		return d.sparseScheme(op)
	case "constexpr_cast":
		src, _ := d.stored(op, "source_val")
		s := Scheme{Kind: "cast"}
		s.Type, s.Bits = typeAndBits(src)
		return s
	}
	return Scheme{Kind: op.Type}
}

func (d *decompressor) lutScheme(op *mil.Op) Scheme {
	s := Scheme{Kind: "palettised", Granularity: "per tensor"}
	lut, inner := d.stored(op, "lut")
	if lut == nil && inner != nil {
		if lut, _ = d.stored(inner, "data"); lut != nil && lut.DType.IsFloat() {
			s.Kind = "palettised, scaled per channel"
		} else if lut != nil {
			s.Kind = "palettised, palette of " + lut.DType.String()
		}
	}
	if lut == nil || !lut.Static() || len(lut.Shape) == 0 {
		return s
	}
	entries := lut.Shape[0]
	if n := len(lut.Shape); n > 2 {
		entries = lut.Shape[n-2]
		if v := lut.Shape[n-1]; v > 1 {
			s.Kind += fmt.Sprintf(", vectors of %d", v)
		}
		if groups := product(lut.Shape[:n-2]); groups > 1 {
			s.Granularity = fmt.Sprintf("%d palettes", groups)
		}
	}
	s.Bits = int(math.Round(math.Log2(float64(max(entries, 1)))))
	s.Type = fmt.Sprintf("%d-bit", s.Bits)
	return s
}

func (d *decompressor) sparseScheme(op *mil.Op) Scheme {
	s := Scheme{Kind: "pruned"}
	data, inner := d.stored(op, "nonzero_data")
	if inner != nil {
		s = d.scheme(inner)
		s.Kind = "pruned+" + s.Kind
	} else {
		s.Type, _ = typeAndBits(data)
	}
	kept := int64(0)
	if data != nil {
		kept = product(data.Shape)
	} else if inner != nil && len(inner.Outputs) == 2 {
		kept = product(inner.Outputs[1].Type.Shape)
	}
	if n := product(op.Outputs[0].Type.Shape); n > 0 {
		s.Sparsity = 1 - float64(kept)/float64(n)
	}
	return s
}

func typeAndBits(t *mil.Type) (string, int) {
	if t == nil {
		return "", 0
	}
	return t.DType.String(), t.DType.Bits()
}

// granularity names the blocks that share a scale.
func granularity(data, scale []int64) string {
	if len(data) != len(scale) || product(scale) <= 1 {
		return "per tensor"
	}
	// A block that spans an axis whole is not a block along it.
	for i := range data {
		if scale[i] > 0 && scale[i] != data[i] && scale[i] > 1 {
			return fmt.Sprintf("per block of %d", data[i]/scale[i])
		}
	}
	return "per channel"
}

// operations counts what is not a constant.
func operations(f *mil.Function) int {
	n := 0
	f.Body.EachOp(func(op *mil.Op) {
		if !isConstant(op) {
			n++
		}
	})
	return n
}
