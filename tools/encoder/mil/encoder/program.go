package encoder

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/half"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/blob"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
)

// builder appends operations in the order in which converters write them:
// constants right before their first use.
type builder struct {
	m     *model
	block mil.Block
	dtype mil.DType
	blob  blob.Type
	err   error
}

// value is a result: its name and shape.
type value struct {
	name  string
	shape []int64
}

const epsilon = 1e-5 // of every layer_norm in Whisper

func (m *model) program() (*mil.Program, error) {
	b := &builder{m: m, dtype: mil.Float32, blob: blob.Float32}
	if m.precision == Float16 {
		b.dtype, b.blob = mil.Float16, blob.Float16
	}
	d := m.dims
	x := b.stem(value{"logmel_data", []int64{1, d.Mels, 2 * d.AudioCtx}})
	for i := range d.Layers {
		x = b.layer(i, x)
	}
	b.tail(x)
	if b.err != nil {
		return nil, b.err
	}
	b.block.Outputs = []string{"output"}
	fn := &mil.Function{Name: "main", Opset: "CoreML5", Body: &b.block,
		Params: []mil.Param{{Name: "logmel_data", Type: mil.TensorOf(mil.Float32, 1, d.Mels, 2*d.AudioCtx)}}}
	return &mil.Program{Major: 1, Functions: []*mil.Function{fn}}, nil
}

// stem: both convolutions, to [1, positions, state], and the positions.
func (b *builder) stem(x value) value {
	d := b.m.dims
	conv := func(n int, x value, in, stride, frames int64, cast bool) value {
		name := fmt.Sprintf("conv%d", n)
		groups := b.constant(name+"_groups", mil.Int32Value(1))
		strides := b.constant(name+"_strides", mil.Int32sValue(int32(stride)))
		dilations := b.constant(name+"_dilations", mil.Int32sValue(1))
		padType := b.constant(name+"_pad_type", mil.StringValue("custom"))
		pad := b.constant(name+"_pad", mil.Int32sValue(1, 1))
		var dtype string
		if cast {
			dtype = b.constant("logmel_data_to_fp16_dtype", mil.StringValue("fp16"))
		}
		w := b.weight(name+"_weight", fmt.Sprintf("encoder.conv%d.weight", n), d.State, in, 3)
		bias := b.weight(name+"_bias", fmt.Sprintf("encoder.conv%d.bias", n), d.State)
		if cast {
			x = b.op("cast", "logmel_data_to_fp16", b.dtype, x.shape, "dtype", dtype, "x", x.name)
		}
		y := b.compute("conv", name, []int64{1, d.State, frames}, "bias", bias, "dilations", dilations, "groups", groups,
			"pad", pad, "pad_type", padType, "strides", strides, "weight", w, "x", x.name)
		return b.gelu(name, y)
	}
	x = conv(1, x, d.Mels, 1, 2*d.AudioCtx, b.dtype == mil.Float16)
	x = conv(2, x, d.State, 2, d.AudioCtx, false)
	perm := b.constant("frames_first_perm", mil.Int32sValue(0, 2, 1))
	pos := b.weight("positional_embedding", "encoder.positional_embedding", d.AudioCtx, d.State)
	x = b.transpose("frames_first", perm, x, 0, 2, 1)
	return b.compute("add", "positioned", x.shape, "x", x.name, "y", pos)
}

func (b *builder) layer(i int64, x value) value {
	name := fmt.Sprintf("blocks_%d_", i)
	source := fmt.Sprintf("encoder.blocks.%d.", i)
	axis := b.constant(name+"softmax_axis", mil.Int32Value(-1))
	h, eps := b.norm(name+"attn_ln", source+"attn_ln", x, "")
	h = b.attention(name+"attn_", source+"attn.", h, axis)
	x = b.compute("add", name+"attn_residual", x.shape, "x", x.name, "y", h.name)
	h, _ = b.norm(name+"mlp_ln", source+"mlp_ln", x, eps)
	h = b.linear(name+"mlp_0", source+"mlp.0", h, 4*b.m.dims.State, true)
	h = b.gelu(name+"mlp_0", h)
	h = b.linear(name+"mlp_2", source+"mlp.2", h, b.m.dims.State, true)
	return b.compute("add", name+"mlp_residual", x.shape, "x", x.name, "y", h.name)
}

func (b *builder) attention(name, source string, x value, axis string) value {
	d := b.m.dims
	q := b.linear(name+"query", source+"query", x, d.State, true)
	k := b.linear(name+"key", source+"key", x, d.State, false)
	v := b.linear(name+"value", source+"value", x, d.State, true)
	scale := math.Pow(float64(d.State/d.Heads), -0.25)
	q = b.scaled(name+"query", b.split(name+"query", q), scale)
	k = b.scaled(name+"key", b.split(name+"key", k), scale)
	v = b.split(name+"value", v)
	permV := b.constant(name+"value_perm", mil.Int32sValue(0, 2, 1, 3))
	tx := b.constant(name+"scores_transpose_x", mil.BoolValue(false))
	ty := b.constant(name+"scores_transpose_y", mil.BoolValue(false))
	permQ := b.constant(name+"query_perm", mil.Int32sValue(0, 2, 1, 3))
	permK := b.constant(name+"key_perm", mil.Int32sValue(0, 2, 3, 1))
	k = b.transpose(name+"key_heads", permK, k, 0, 2, 3, 1)
	q = b.transpose(name+"query_heads", permQ, q, 0, 2, 1, 3)
	s := b.matmul(name+"scores", tx, ty, q, k)
	s = b.compute("softmax", name+"weights", s.shape, "axis", axis, "x", s.name)
	tx = b.constant(name+"context_transpose_x", mil.BoolValue(false))
	ty = b.constant(name+"context_transpose_y", mil.BoolValue(false))
	v = b.transpose(name+"value_heads", permV, v, 0, 2, 1, 3)
	c := b.matmul(name+"context", tx, ty, s, v)
	perm := b.constant(name+"context_perm", mil.Int32sValue(0, 2, 1, 3))
	shape := b.constant(name+"merged_shape", mil.Int32sValue(1, int32(d.AudioCtx), int32(d.State)))
	c = b.transpose(name+"context_frames", perm, c, 0, 2, 1, 3)
	c = b.compute("reshape", name+"merged", []int64{1, d.AudioCtx, d.State}, "shape", shape, "x", c.name)
	return b.linear(name+"out", source+"out", c, d.State, true)
}

// tail: the last norm, and in float16 the cast back.
func (b *builder) tail(x value) {
	if b.dtype == mil.Float32 {
		b.normNamed("output", "ln_post", "encoder.ln_post", x, "")
		return
	}
	x, _ = b.norm("ln_post", "encoder.ln_post", x, "")
	dtype := b.constant("output_dtype", mil.StringValue("fp32"))
	b.op("cast", "output", mil.Float32, x.shape, "dtype", dtype, "x", x.name)
}

// norm is layer_norm over the last axis. eps names an earlier constant, or is
// empty to make one; the constant used is returned.
func (b *builder) norm(name, source string, x value, eps string) (value, string) {
	return b.normNamed(b.cast(name), name, source, x, eps)
}

func (b *builder) normNamed(out, name, source string, x value, eps string) (value, string) {
	axes := b.constant(name+"_axes", mil.Int32sValue(-1))
	gamma := b.weight(name+"_weight", source+".weight", b.m.dims.State)
	beta := b.weight(name+"_bias", source+".bias", b.m.dims.State)
	if eps == "" {
		eps = b.constant(b.rounded(name+"_epsilon"), b.scalar(epsilon))
	}
	return b.op("layer_norm", out, b.dtype, x.shape,
		"axes", axes, "beta", beta, "epsilon", eps, "gamma", gamma, "x", x.name), eps
}

func (b *builder) linear(name, source string, x value, width int64, bias bool) value {
	in := x.shape[len(x.shape)-1]
	w := b.weight(name+"_weight", source+".weight", width, in)
	biasSource := source + ".bias"
	if !bias {
		biasSource = ""
	}
	bv := b.weight(name+"_bias", biasSource, width)
	shape := append(append([]int64{}, x.shape[:len(x.shape)-1]...), width)
	return b.compute("linear", name, shape, "bias", bv, "weight", w, "x", x.name)
}

func (b *builder) gelu(name string, x value) value {
	mode := b.constant(name+"_gelu_mode", mil.StringValue("EXACT"))
	return b.compute("gelu", name+"_gelu", x.shape, "mode", mode, "x", x.name)
}

// split turns [1, positions, state] into [1, positions, heads, state/heads].
func (b *builder) split(name string, x value) value {
	d := b.m.dims
	shape := b.constant(name+"_split_shape", mil.Int32sValue(1, int32(d.AudioCtx), int32(d.Heads), -1))
	return b.compute("reshape", name+"_split", []int64{1, d.AudioCtx, d.Heads, d.State / d.Heads}, "shape", shape, "x", x.name)
}

func (b *builder) scaled(name string, x value, scale float64) value {
	v := b.scalar(scale)
	v.Type.Shape = []int64{1, 1, 1, 1}
	c := b.constant(b.rounded(name+"_scale"), v)
	return b.compute("mul", name+"_scaled", x.shape, "x", x.name, "y", c)
}

func (b *builder) transpose(name, perm string, x value, order ...int) value {
	shape := make([]int64, len(order))
	for i, from := range order {
		shape[i] = x.shape[from]
	}
	return b.op("transpose", name, b.dtype, shape, "perm", perm, "x", x.name)
}

func (b *builder) matmul(name, tx, ty string, x, y value) value {
	shape := append([]int64{}, x.shape...)
	shape[len(shape)-1] = y.shape[len(y.shape)-1]
	return b.compute("matmul", name, shape, "transpose_x", tx, "transpose_y", ty, "x", x.name, "y", y.name)
}

// cast names a computed value, rounded one constants, as converters do.
func (b *builder) cast(name string) string {
	if b.dtype == mil.Float16 {
		return name + "_cast"
	}
	return name
}

func (b *builder) rounded(name string) string {
	if b.dtype == mil.Float16 {
		return name + "_to_fp16"
	}
	return name
}

// scalar is a constant of the computation's own type, rounded once.
func (b *builder) scalar(x float64) *mil.Value {
	v := &mil.Value{Type: mil.TensorOf(b.dtype)}
	if b.dtype == mil.Float16 {
		v.Data = binary.LittleEndian.AppendUint16(nil, half.FromFloat64(x))
	} else {
		v.Data = binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(x)))
	}
	return v
}

func (b *builder) constant(name string, v *mil.Value) string {
	b.append(&mil.Op{Type: "const", Outputs: []mil.Param{{Name: name, Type: v.Type}},
		Attrs: []mil.Attr{{Name: "name", Value: mil.StringValue(name)}, {Name: "val", Value: v}}})
	return name
}

// weight adds a blob for a tensor of the source, or of zeros.
func (b *builder) weight(name, source string, shape ...int64) string {
	info, err := b.m.layout.Add(b.blob, uint64(elements(shape)))
	if err != nil && b.err == nil {
		b.err = err
	}
	b.m.tensors = append(b.m.tensors, weight{source: source, shape: shape})
	return b.constant(b.rounded(name), mil.BlobValue(mil.TensorOf(b.dtype, shape...), bundle.WeightPath, info.Meta))
}

// compute appends an operation in the computation's type, and gives its
// result the suffix of computed values.
func (b *builder) compute(kind, name string, shape []int64, args ...string) value {
	return b.op(kind, b.cast(name), b.dtype, shape, args...)
}

// op appends an operation; args are pairs of argument and value names, sorted
// by argument.
func (b *builder) op(kind, name string, d mil.DType, shape []int64, args ...string) value {
	op := &mil.Op{Type: kind, Outputs: []mil.Param{{Name: name, Type: mil.TensorOf(d, shape...)}},
		Attrs: []mil.Attr{{Name: "name", Value: mil.StringValue(name)}}}
	for i := 0; i < len(args); i += 2 {
		op.Inputs = append(op.Inputs, mil.Arg{Name: args[i], Bindings: []mil.Binding{{Name: args[i+1]}}})
	}
	b.append(op)
	return value{name, shape}
}

func (b *builder) append(op *mil.Op) {
	op.Line = len(b.block.Ops) + 1
	b.block.Ops = append(b.block.Ops, op)
}
