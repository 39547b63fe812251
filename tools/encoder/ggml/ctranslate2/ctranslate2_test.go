package ctranslate2

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
)

const (
	width  = 4
	vocab  = 6
	mels   = 3
	layers = 2
)

type entry struct {
	dims []uint32
	typ  Type
	data []byte
}

// model gives the variables of a small Whisper, each value the half whose bits
// are a counter, so that no two are alike.
func model() map[string]entry {
	m := map[string]entry{}
	next := uint16(0x3c00)
	put := func(name string, dims ...uint32) {
		n := uint32(1)
		for _, d := range dims {
			n *= d
		}
		var b []byte
		for range n {
			b = binary.LittleEndian.AppendUint16(b, next)
			next++
		}
		m[name] = entry{dims, Float16, b}
	}
	norm := func(p string) {
		put(p+"layer_norm/gamma", width)
		put(p+"layer_norm/beta", width)
	}
	linear := func(p string, out, in uint32) {
		put(p+"/weight", out, in)
		put(p+"/bias", out)
	}
	for _, side := range []string{"encoder", "decoder"} {
		m[side+"/num_heads"] = entry{nil, Int16, []byte{2, 0}}
		norm(side + "/")
		for i := range layers {
			p := fmt.Sprintf("%s/layer_%d/", side, i)
			norm(p + "ffn/")
			linear(p+"ffn/linear_0", 4*width, width)
			linear(p+"ffn/linear_1", width, 4*width)
			norm(p + "self_attention/")
			linear(p+"self_attention/linear_0", 3*width, width)
			linear(p+"self_attention/linear_1", width, width)
			if side == "decoder" {
				norm(p + "attention/")
				linear(p+"attention/linear_0", width, width)
				linear(p+"attention/linear_1", 2*width, width)
				linear(p+"attention/linear_2", width, width)
			}
		}
	}
	put("encoder/conv1/weight", width, mels, 3)
	put("encoder/conv1/bias", width)
	put("encoder/conv2/weight", width, width, 3)
	put("encoder/conv2/bias", width)
	put("encoder/position_encodings/encodings", audioCtx, width)
	put("decoder/position_encodings/encodings", textCtx, width)
	put("decoder/embeddings/weight", vocab, width)
	return m
}

func encode(m map[string]entry) []byte {
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) }
	str := func(s string) {
		put(uint16(len(s) + 1))
		b.WriteString(s + "\x00")
	}
	put(uint32(6))
	str("WhisperSpec")
	put(uint32(3))
	put(uint32(len(m)))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		e := m[name]
		str(name)
		put(uint8(len(e.dims)))
		put(e.dims)
		put(uint8(e.typ))
		put(uint32(len(e.data)))
		b.Write(e.data)
	}
	put(uint32(1))
	str("decoder/projection/weight")
	str("decoder/embeddings/weight")
	return b.Bytes()
}

func convert(b []byte) (*ggml.Model, error) {
	m, err := Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := Convert(&out, m, [][]byte{[]byte("x")}); err != nil {
		return nil, err
	}
	return ggml.Read(bytes.NewReader(out.Bytes()), int64(out.Len()))
}

func TestConvert(t *testing.T) {
	src := model()
	g, err := convert(encode(src))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tensor, variable string
		part, parts      int
	}{
		{"decoder.token_embedding.weight", "decoder/embeddings/weight", 0, 1},
		{"encoder.positional_embedding", "encoder/position_encodings/encodings", 0, 1},
		{"encoder.conv2.bias", "encoder/conv2/bias", 0, 1},
		{"encoder.ln_post.weight", "encoder/layer_norm/gamma", 0, 1},
		{"decoder.ln.bias", "decoder/layer_norm/beta", 0, 1},
		{"encoder.blocks.1.attn.query.weight", "encoder/layer_1/self_attention/linear_0/weight", 0, 3},
		{"encoder.blocks.1.attn.key.weight", "encoder/layer_1/self_attention/linear_0/weight", 1, 3},
		{"encoder.blocks.1.attn.value.bias", "encoder/layer_1/self_attention/linear_0/bias", 2, 3},
		{"decoder.blocks.0.cross_attn.key.weight", "decoder/layer_0/attention/linear_1/weight", 0, 2},
		{"decoder.blocks.0.cross_attn.value.weight", "decoder/layer_0/attention/linear_1/weight", 1, 2},
		{"decoder.blocks.0.cross_attn.out.weight", "decoder/layer_0/attention/linear_2/weight", 0, 1},
		{"decoder.blocks.1.mlp.2.weight", "decoder/layer_1/ffn/linear_1/weight", 0, 1},
	} {
		tensor, ok := g.Tensor(c.tensor)
		if !ok {
			t.Errorf("%s is missing", c.tensor)
			continue
		}
		got, err := g.Float32s(tensor)
		if err != nil {
			t.Fatal(err)
		}
		want := src[c.variable].data
		want = want[len(want)/c.parts*c.part:][:len(want)/c.parts]
		for i, v := range got {
			if w := ggml.Float16ToFloat32(binary.LittleEndian.Uint16(want[2*i:])); v != w {
				t.Errorf("%s[%d] is %v, %s has %v", c.tensor, i, v, c.variable, w)
				break
			}
		}
	}
}

func TestRefuses(t *testing.T) {
	good := encode(model())
	edited := func(edit func(map[string]entry)) []byte {
		m := model()
		edit(m)
		return encode(m)
	}
	for name, c := range map[string]struct {
		bytes []byte
		says  string
	}{
		"another version":     {append([]byte{7, 0, 0, 0}, good[4:]...), "version 7"},
		"truncated in data":   {good[:len(good)/2], "download it again"},
		"truncated in header": {good[:21], "download it again"},
		"trailing bytes":      {append(slices.Clone(good), 0), "1 bytes after the end"},
		"missing variable":    {edited(func(m map[string]entry) { delete(m, "encoder/conv2/bias") }), "encoder/conv2/bias is missing"},
		"wrong extents": {edited(func(m map[string]entry) {
			e := m["encoder/conv2/bias"]
			e.dims, e.data = []uint32{width - 1}, e.data[2:]
			m["encoder/conv2/bias"] = e
		}), "expected [4]"},
		"quantised": {edited(func(m map[string]entry) {
			e := m["encoder/conv2/bias"]
			e.typ, e.data = Int8, e.data[:width]
			m["encoder/conv2/bias"] = e
		}), "expected 4 (float16)"},
		"length and extents disagree": {edited(func(m map[string]entry) {
			e := m["encoder/conv2/bias"]
			e.data = e.data[:2]
			m["encoder/conv2/bias"] = e
		}), "holds 2 bytes, expected 8"},
		"no layers": {edited(func(m map[string]entry) { delete(m, "encoder/layer_0/ffn/linear_0/weight") }), "no layers"},
	} {
		if _, err := convert(c.bytes); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: expected %q, found %v", name, c.says, err)
		}
	}
}

func TestTokens(t *testing.T) {
	v := map[string]int{"<|endoftext|>": vocabularySize}
	for i := range vocabularySize {
		v[fmt.Sprintf("Ġ%d", i)] = i
	}
	encode := func() []byte {
		b, err := json.Marshal(map[string]any{"model": map[string]any{"vocab": v}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	tokens, err := Tokens(bytes.NewReader(encode()))
	if err != nil {
		t.Fatal(err)
	}
	if len(tokens) != vocabularySize || string(tokens[220]) != " 220" {
		t.Errorf("%d tokens, number 220 is %q", len(tokens), tokens[220])
	}
	delete(v, "Ġ7")
	if _, err := Tokens(bytes.NewReader(encode())); err == nil || !strings.Contains(err.Error(), "no token has id 7") {
		t.Errorf("a vocabulary with a hole: found %v", err)
	}
	v["\u4e00"] = 7
	if _, err := Tokens(bytes.NewReader(encode())); err == nil || !strings.Contains(err.Error(), "stands for no byte") {
		t.Errorf("a character outside the map: found %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(encode(model()))
	f.Add(encode(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for _, v := range m.Variables {
			if v.Offset+v.Size > int64(len(b)) {
				t.Fatalf("%s reaches beyond the file", v.Name)
			}
		}
	})
}
