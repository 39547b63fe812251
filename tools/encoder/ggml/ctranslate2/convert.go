package ctranslate2

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
)

// Numbers that every Whisper model shares and CTranslate2 does not store.
const (
	audioCtx      = 1500
	textCtx       = 448
	filterColumns = 201
)

// Convert writes m as the ggml file that upstream's convert-pt-to-ggml.py makes
// from the same weights: header, mel filters, vocabulary (from Tokens), tensors
// in OpenAI's order. The large matrices are float16, the rest float32.
func Convert(w io.Writer, m *Model, tokens [][]byte) error {
	h, err := m.hyperparameters()
	if err != nil {
		return fmt.Errorf("convert to ggml: %w", err)
	}
	out, err := ggml.NewWriter(w, ggml.Header{
		Hyperparameters: h, FilterRows: h.Mels, FilterColumns: filterColumns,
		Filters: ggml.MelBank(h.Mels), Tokens: tokens,
	})
	if err != nil {
		return fmt.Errorf("convert to ggml: %w", err)
	}
	for _, spec := range ggml.Layout(h) {
		t, ok := spec.Type(h.FType)
		if !ok {
			return fmt.Errorf("convert to ggml: no type for tensor %s", spec.Name)
		}
		data, err := m.tensor(spec, t)
		if err != nil {
			return fmt.Errorf("convert to ggml: tensor %s: %w", spec.Name, err)
		}
		if err := out.Tensor(spec.Name, t, spec.Dims, bytes.NewReader(data)); err != nil {
			return fmt.Errorf("convert to ggml: %w", err)
		}
	}
	return out.Flush()
}

func (m *Model) hyperparameters() (ggml.Hyperparameters, error) {
	var h ggml.Hyperparameters
	emb, err := m.shaped("decoder/embeddings/weight", 2)
	if err != nil {
		return h, err
	}
	conv, err := m.shaped("encoder/conv1/weight", 3)
	if err != nil {
		return h, err
	}
	heads := func(side string) int {
		b := m.scalar(side + "/num_heads")
		if len(b) != 2 {
			return 0
		}
		return int(binary.LittleEndian.Uint16(b))
	}
	h = ggml.Hyperparameters{
		Vocab: int(emb.Dims[0]), TextState: int(emb.Dims[1]), AudioState: int(conv.Dims[0]), Mels: int(conv.Dims[1]),
		AudioCtx: audioCtx, TextCtx: textCtx,
		AudioHead: heads("encoder"), TextHead: heads("decoder"),
		AudioLayer: m.layers("encoder"), TextLayer: m.layers("decoder"), FType: 1,
	}
	if h.AudioHead == 0 || h.TextHead == 0 || h.AudioLayer == 0 || h.TextLayer == 0 {
		return h, fmt.Errorf("no heads or no layers: encoder %d, %d; decoder %d, %d", h.AudioHead, h.AudioLayer, h.TextHead, h.TextLayer)
	}
	return h, nil
}

func (m *Model) layers(side string) int {
	for n := 0; ; n++ {
		if _, ok := m.Variables[fmt.Sprintf("%s/layer_%d/ffn/linear_0/weight", side, n)]; !ok {
			return n
		}
	}
}

func (m *Model) shaped(name string, rank int) (Variable, error) {
	v, ok := m.Variables[name]
	if !ok {
		return v, fmt.Errorf("variable %s is missing", name)
	}
	if len(v.Dims) != rank {
		return v, fmt.Errorf("variable %s has extents %v, expected rank %d", name, v.Dims, rank)
	}
	return v, nil
}

// scalar reads a small variable whole, nil where it is missing.
func (m *Model) scalar(name string) []byte {
	v, ok := m.Variables[name]
	if !ok || v.Size > 16 {
		return nil
	}
	b := make([]byte, v.Size)
	if n, _ := m.r.ReadAt(b, v.Offset); n < len(b) {
		return nil
	}
	return b
}

// source says where a ggml tensor's values stand: rows part of parts of a
// variable that stacks several on its first axis.
type source struct {
	variable    string
	part, parts int64
}

// locate maps OpenAI's tensor names to CTranslate2's.
func locate(name string) (source, error) {
	side, rest, _ := strings.Cut(name, ".")
	switch rest {
	case "positional_embedding":
		return source{side + "/position_encodings/encodings", 0, 1}, nil
	case "token_embedding.weight":
		return source{side + "/embeddings/weight", 0, 1}, nil
	}
	prefix := side + "/"
	if after, ok := strings.CutPrefix(rest, "blocks."); ok {
		var layer string
		layer, rest, _ = strings.Cut(after, ".")
		prefix += "layer_" + layer + "/"
	}
	cut := strings.LastIndexByte(rest, '.')
	if cut < 0 {
		return source{}, fmt.Errorf("no variable is known for it")
	}
	module, param := rest[:cut], rest[cut+1:]
	norms := map[string]string{
		"ln": "", "ln_post": "", "mlp_ln": "ffn/", "attn_ln": "self_attention/", "cross_attn_ln": "attention/",
	}
	if at, ok := norms[module]; ok {
		return source{prefix + at + "layer_norm/" + map[string]string{"weight": "gamma", "bias": "beta"}[param], 0, 1}, nil
	}
	linears := map[string]source{
		"conv1": {"conv1", 0, 1}, "conv2": {"conv2", 0, 1},
		"mlp.0": {"ffn/linear_0", 0, 1}, "mlp.2": {"ffn/linear_1", 0, 1},
		// Self-attention stacks query, key, value; cross-attention key, value.
		"attn.query": {"self_attention/linear_0", 0, 3}, "attn.key": {"self_attention/linear_0", 1, 3},
		"attn.value": {"self_attention/linear_0", 2, 3}, "attn.out": {"self_attention/linear_1", 0, 1},
		"cross_attn.query": {"attention/linear_0", 0, 1}, "cross_attn.key": {"attention/linear_1", 0, 2},
		"cross_attn.value": {"attention/linear_1", 1, 2}, "cross_attn.out": {"attention/linear_2", 0, 1},
	}
	s, ok := linears[module]
	if !ok {
		return source{}, fmt.Errorf("no variable is known for it")
	}
	s.variable = prefix + s.variable + "/" + param
	return s, nil
}

// tensor reads a tensor's bytes in ggml type t.
func (m *Model) tensor(spec ggml.Spec, t ggml.Type) ([]byte, error) {
	src, err := locate(spec.Name)
	if err != nil {
		return nil, err
	}
	v, ok := m.Variables[src.variable]
	if !ok {
		return nil, fmt.Errorf("variable %s is missing", src.variable)
	}
	if v.Type != Float16 {
		return nil, fmt.Errorf("variable %s is of type %d, expected 4 (float16): other types have lost bits", src.variable, v.Type)
	}
	want := slices.Clone(spec.Dims)
	slices.Reverse(want)
	if want[len(want)-1] == 1 {
		want = want[:len(want)-1] // convolution biases: ggml writes [D, 1]
	}
	want[0] *= src.parts
	if !slices.Equal(v.Dims, want) {
		return nil, fmt.Errorf("variable %s has extents %v, expected %v", src.variable, v.Dims, want)
	}
	size := v.Size / src.parts
	raw := make([]byte, size)
	if n, err := m.r.ReadAt(raw, v.Offset+src.part*size); int64(n) < size {
		return nil, fmt.Errorf("read variable %s: %w", src.variable, err)
	}
	if t == ggml.F16 {
		return raw, nil
	}
	wide := make([]byte, 0, 2*size)
	for ; len(raw) > 0; raw = raw[2:] {
		f := ggml.Float16ToFloat32(binary.LittleEndian.Uint16(raw))
		wide = binary.LittleEndian.AppendUint32(wide, math.Float32bits(f))
	}
	return wide, nil
}
