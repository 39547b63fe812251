// Package encoder writes the audio encoder of a Whisper model as a Core ML
// program, from the tensors of the model itself.
//
// The program is the plain form that a conversion of openai-whisper gives
// (iOS 15, specification version 6): two convolutions with exact GELU, the
// positional embedding added, then per layer
//
//	x = x + out(softmax(q·k)·v)   over layer_norm(x), with q and k each scaled by (state/heads)^-1/4
//	x = x + fc2(gelu(fc1(layer_norm(x))))
//
// and a last layer_norm. Linear layers stay linear; key projections get a bias
// of zeros, since Whisper has none and Core ML's linear wants one.
//
// Interface: input logmel_data, Float32 [1, mels, 2·audio_ctx]; output output,
// Float32 [1, audio_ctx, state]. In float16 every tensor between is float16,
// with a cast at each end, and values are named …_to_fp16 and …_cast as
// converters name them. In float32 nothing is rounded: float16 weights of a
// model are widened exactly.
package encoder

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/half"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/blob"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
)

// Dims are the sizes of an encoder, from the model's own header.
type Dims struct {
	Mels     int64 // n_mels: mel bands
	AudioCtx int64 // n_audio_ctx: output positions; the mel has twice as many frames
	State    int64 // n_audio_state: width
	Heads    int64 // n_audio_head
	Layers   int64 // n_audio_layer
}

const maxDim = 1 << 20

func (d Dims) check() error {
	for _, n := range []int64{d.Mels, d.AudioCtx, d.State, d.Heads, d.Layers} {
		if n < 1 || n > maxDim {
			return fmt.Errorf("encoder sizes %+v: expected each from 1 to %d", d, maxDim)
		}
	}
	if d.State%d.Heads != 0 {
		return fmt.Errorf("encoder width %d is not a multiple of its %d heads", d.State, d.Heads)
	}
	return nil
}

// Source gives a model's encoder tensors under Whisper's names, such as
// "encoder.blocks.0.attn.query.weight".
type Source interface {
	Dims() Dims
	// Shape returns a tensor's extents, outermost first.
	Shape(name string) ([]int64, error)
	// Values streams a tensor's elements in row-major order; a piece is only
	// valid during the call.
	Values(name string, visit func([]float32) error) error
}

// Precision is the element type of weights and computation.
type Precision string

// Precisions.
const (
	Float32 Precision = "float32"
	Float16 Precision = "float16"
)

// writerVersion stands in the metadata of what this package writes. Raise it
// when the output for equal input changes.
const writerVersion = "1"

// WritePackage writes the encoder of src as an .mlpackage at dest.
func WritePackage(dest string, src Source, p Precision) error {
	m, err := newModel(src.Dims(), p)
	if err != nil {
		return err
	}
	for _, t := range m.tensors {
		if err := m.checkShape(src, t); err != nil {
			return err
		}
	}
	return bundle.WritePackage(dest, m.model, func(w io.Writer) error { return m.writeWeights(w, src) })
}

// weight is one blob: a tensor of the source, or zeros.
type weight struct {
	source string // "" for zeros
	shape  []int64
}

type model struct {
	dims      Dims
	precision Precision
	model     *spec.Model
	layout    blob.Layout
	tensors   []weight
}

func newModel(d Dims, p Precision) (*model, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	if p != Float32 && p != Float16 {
		return nil, fmt.Errorf("precision %q: expected %s or %s", p, Float32, Float16)
	}
	m := &model{dims: d, precision: p}
	prog, err := m.program()
	if err != nil {
		return nil, err
	}
	feature := func(name string, shape ...int64) []spec.Feature {
		return []spec.Feature{{Name: name, Kind: spec.MultiArrayFeature,
			Array: &spec.Array{Shape: shape, DType: spec.ArrayFloat32}}}
	}
	desc := &spec.Description{}
	desc.Inputs = feature("logmel_data", 1, d.Mels, 2*d.AudioCtx)
	desc.Outputs = feature("output", 1, d.AudioCtx, d.State)
	desc.Metadata = spec.Metadata{
		Doc:  "Whisper audio encoder",
		User: map[string]string{"coreml-gate.encoder-writer": writerVersion, "coreml-gate.precision": string(p)},
	}
	m.model = &spec.Model{SpecificationVersion: 6, Description: desc, Kind: spec.MLProgram, Program: prog}
	return m, nil
}

// checkShape holds a source tensor against what the program needs. Extents of
// one are ignored: whisper.cpp stores the biases of convolutions as columns.
func (m *model) checkShape(src Source, t weight) error {
	if t.source == "" {
		return nil
	}
	got, err := src.Shape(t.source)
	if err != nil {
		return fmt.Errorf("encoder tensor %s: %w", t.source, err)
	}
	if !sameShape(squeeze(got), squeeze(t.shape)) {
		return fmt.Errorf("encoder tensor %s: expected shape %v, found %v", t.source, t.shape, got)
	}
	return nil
}

func squeeze(shape []int64) []int64 {
	var out []int64
	for _, d := range shape {
		if d != 1 {
			out = append(out, d)
		}
	}
	return out
}

func sameShape(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func elements(shape []int64) int64 {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	return n
}

func (m *model) writeWeights(w io.Writer, src Source) error {
	return m.layout.Write(w, func(n int, w io.Writer) error {
		t := m.tensors[n]
		put := m.putFloat32
		if m.precision == Float16 {
			put = m.putFloat16
		}
		if t.source == "" {
			return put(w, make([]float32, elements(t.shape)))
		}
		err := src.Values(t.source, func(v []float32) error { return put(w, v) })
		if err != nil {
			return fmt.Errorf("encoder tensor %s: %w", t.source, err)
		}
		return nil
	})
}

func (m *model) putFloat32(w io.Writer, v []float32) error {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	_, err := w.Write(b)
	return err
}

// putFloat16 rounds to nearest even. A finite weight that would become
// infinite makes the artifact worthless, so it is refused.
func (m *model) putFloat16(w io.Writer, v []float32) error {
	b := make([]byte, 0, 2*len(v))
	for _, x := range v {
		h := half.FromFloat32(x)
		if h&0x7fff == 0x7c00 && !math.IsInf(float64(x), 0) {
			return fmt.Errorf("the value %g does not fit float16; write the encoder in float32", x)
		}
		b = binary.LittleEndian.AppendUint16(b, h)
	}
	_, err := w.Write(b)
	return err
}
