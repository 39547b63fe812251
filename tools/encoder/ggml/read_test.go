package ggml

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tiny is the header of the model that the tests of this package build.
var tiny = Hyperparameters{
	Vocab: 6, AudioCtx: 4, AudioState: 32, AudioHead: 2, AudioLayer: 1,
	TextCtx: 3, TextState: 32, TextHead: 2, TextLayer: 1, Mels: 5, FType: 1,
}

// build writes a whole model of the given header with a recognisable pattern
// of bytes in every tensor.
func build(t testing.TB, h Hyperparameters) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, Header{
		Hyperparameters: h, FilterRows: h.Mels, FilterColumns: 3, Filters: make([]float32, 3*h.Mels),
		Tokens: [][]byte{[]byte("a"), {}, {0xff, 0x00}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Layout(h) {
		typ, ok := s.Type(h.FType)
		if !ok {
			t.Fatalf("no type for %s", s.Name)
		}
		if err := w.Tensor(s.Name, typ, s.Dims, pattern(typ, s.Dims)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pattern(t Type, dims []int64) *bytes.Reader {
	info, _ := t.Info()
	n := info.BlockBytes
	for i, d := range dims {
		if i == 0 {
			d /= info.Block
		}
		n *= d
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return bytes.NewReader(b)
}

func read(b []byte) (*Model, error) { return Read(bytes.NewReader(b), int64(len(b))) }

func TestRoundTrip(t *testing.T) {
	for _, ftype := range []FType{0, 1, 2, 3, 7, 8, 9} {
		t.Run(ftype.String(), func(t *testing.T) {
			h := tiny
			h.FType, h.QuantisationVersion = ftype, 2
			m, err := read(build(t, h))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(h, m.Hyperparameters); d != "" {
				t.Errorf("header differs:\n%s", d)
			}
			if err := m.Check(); err != nil {
				t.Errorf("a complete model is refused: %v", err)
			}
			tok, err := m.Tokens()
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([][]byte{[]byte("a"), {}, {0xff, 0x00}}, tok); d != "" {
				t.Errorf("tokens differ:\n%s", d)
			}
			c, ok := m.Tensor("encoder.conv1.weight")
			if !ok {
				t.Fatal("encoder.conv1.weight is missing")
			}
			if d := cmp.Diff([]int64{32, 5, 3}, c.Shape()); d != "" {
				t.Errorf("shape differs:\n%s", d)
			}
			if v, err := m.Float32s(c); err != nil || int64(len(v)) != c.Elements() {
				t.Errorf("decoded %d values of %d, error %v", len(v), c.Elements(), err)
			}
		})
	}
}

func TestTruncationIsAnError(t *testing.T) {
	b := build(t, tiny)
	// Cuts between tensors leave a well-formed file, which Check refuses.
	step := 1
	for n := 0; n < len(b); n += step {
		if n > 1000 {
			step = 31
		}
		m, err := read(b[:n])
		if err == nil {
			err = m.Check()
		}
		var f *FormatError
		if !errors.As(err, &f) {
			t.Fatalf("the first %d of %d bytes: expected a FormatError, found %v", n, len(b), err)
		}
	}
}

func TestMalformed(t *testing.T) {
	good := build(t, tiny)
	edit := func(at int, v int32) []byte {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint32(b[at:], uint32(v))
		return b
	}
	filters := 48
	vocab := filters + 8 + 4*15
	tensors := vocab + 4 + 5 + 4 + 6
	for _, c := range []struct {
		name    string
		bytes   []byte
		problem Problem
		says    string
	}{
		{"negative header field", edit(4, -1), Malformed, "n_vocab is -1"},
		{"zero mels", edit(40, 0), Malformed, "n_mels is 0"},
		{"unknown ftype", edit(44, 5), Malformed, "ftype is 5"},
		{"ftype that upstream refuses", edit(44, 4), Malformed, "ftype is 4"},
		{"huge filter bank", edit(filters, 1<<30), Malformed, "mel filter bank"},
		{"filters beyond the file", edit(filters, 1<<15), Truncated, "mel filters needs"},
		{"negative vocabulary", edit(vocab, -5), Malformed, "vocabulary of -5"},
		{"huge token", edit(vocab+4, 1<<30), Malformed, "token 0 is"},
		{"bad rank", edit(tensors, 5), Malformed, "rank 5"},
		{"name too long", edit(tensors+4, 1<<20), Malformed, "tensor name of"},
		{"removed type", edit(tensors+8, 4), Malformed, "type 4"},
		{"unknown type", edit(tensors+8, 99), Malformed, "type 99"},
		{"zero extent", edit(tensors+12, 0), Malformed, "extent 0"},
		{"extent beyond the file", edit(tensors+12, 1<<20), Truncated, "decoder.positional_embedding"},
		{"rows of a broken block", func() []byte {
			b := edit(tensors+8, int32(Q8_0))
			binary.LittleEndian.PutUint32(b[tensors+12:], 33)
			return b
		}(), Malformed, "multiple of 32"},
		{"trailing byte", append(bytes.Clone(good), 0), Truncated, "12 bytes, 1 are left: a tensor was cut off, or something was added"},
		{"the same tensor twice", append(bytes.Clone(good), good[tensors:tensors+12+8+len("decoder.positional_embedding")+4*32*3]...), Malformed, "twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(c.bytes)
			var f *FormatError
			if !errors.As(err, &f) || f.Problem != c.problem || !strings.Contains(err.Error(), c.says) {
				t.Errorf("expected %q with %q, found %v", c.problem, c.says, err)
			}
		})
	}
}

func TestLooksLike(t *testing.T) {
	for looks, head := range map[string]string{
		"an empty file":          "",
		"a Git LFS pointer":      "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
		"an HTML page":           "\n<!DOCTYPE html><html>",
		"a GGUF file":            "GGUF\x03\x00\x00\x00",
		"a big-endian ggml file": "ggml\x00\x00\xca\x98",
		"a gzip file: unpack it": "\x1f\x8b\x08\x00",
		"a safetensors file":     "\x10\x00\x00\x00\x00\x00\x00\x00{\"a\":{}}",
		"a JSON document":        "[{\"metadataOutputVersion\":\"3.0\"}]",
		"a CTranslate2 model":    "\x06\x00\x00\x00\x0c\x00WhisperSpec\x00\x03\x00\x00\x00",
		"a file that begins with zeros alone: a copy or download was cut short": "\x00\x00\x00\x00\x00\x00",
		"a WAV file":                                          "RIFF\x00\x00\x00\x00WAVE",
		"an ELF program":                                      "\x7fELF\x02",
		"a Core ML program text (model.mil)":                  "program(1.0)\n",
		"a compiled Core ML part (coremldata.bin)":            "\xf6\x01\x00\x00\x05\x00\x00\x00",
		"a zip archive (or a PyTorch checkpoint)":             "PK\x03\x04\x14\x00",
		"a Core ML weight file (weight.bin)":                  "\x47\x00\x00\x00\x02\x00\x00\x00" + strings.Repeat("\x00", 56) + "\xef\xbe\xad\xde",
		"a Python pickle (an old PyTorch checkpoint)":         "\x80\x02\x8a\x0a",
		"an XML document (perhaps a storage service's error)": "<?xml version=\"1.0\"?><Error>",
	} {
		_, err := read([]byte(head))
		var f *FormatError
		if !errors.As(err, &f) || f.Problem != NotGGML || f.Looks != looks {
			t.Errorf("%q: expected to be taken for %s, found %v", head, looks, err)
		}
		if err != nil && !strings.Contains(err.Error(), strings.SplitN(looks, " (", 2)[0]) {
			t.Errorf("message for %s does not name it: %v", looks, err)
		}
	}
}

func TestOpenFolders(t *testing.T) {
	dir := t.TempDir()
	enc := filepath.Join(dir, "ggml-x-encoder.mlmodelc")
	other := filepath.Join(dir, "other")
	for _, d := range []string{enc, other} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, "coremldata.bin"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{enc: "compiled Core ML encoder", other: "folder with coremldata.bin", dir: "found a folder"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("open %s: expected %q, found %v", path, says, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "absent.bin")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent file: expected os.ErrNotExist, found %v", err)
	}
}

func TestStub(t *testing.T) {
	b := build(t, tiny)
	cut := 48 + 8 + 4*15 + 4 + 5 + 4 + 6
	m, err := read(b[:cut])
	if err != nil {
		t.Fatal(err)
	}
	if !m.TestStub() {
		t.Error("a file without tensors was not taken for a test stub")
	}
	if m, _ := read(b); m.TestStub() {
		t.Error("a whole model was taken for a test stub")
	}
}

func TestCheckNamesEveryFault(t *testing.T) {
	h := tiny
	var b bytes.Buffer
	w, err := NewWriter(&b, Header{Hyperparameters: h, FilterRows: 4, FilterColumns: 1, Filters: make([]float32, 4)})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Layout(h) {
		dims, typ := s.Dims, F16
		if s.Name == "decoder.ln.weight" {
			continue
		}
		if !s.Matrix && !s.Convolution {
			typ = F32
		}
		if s.Name == "decoder.ln.bias" {
			dims = []int64{7}
		}
		if s.Name == "encoder.ln_post.weight" {
			typ = F16
		}
		if err := w.Tensor(s.Name, typ, dims, pattern(typ, dims)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Tensor("extra", F32, nil, pattern(F32, nil)); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	m, err := read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	err = m.Check()
	for _, says := range []string{"decoder.ln.weight is missing", "decoder.ln.bias has extents [7], expected [32]",
		"encoder.ln_post.weight is f16, expected f32", "tensor extra is unknown", "filter bank has 4 rows, n_mels is 5"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("expected %q, found %v", says, err)
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	w, err := NewWriter(&bytes.Buffer{}, Header{FilterRows: 1, FilterColumns: 1, Filters: []float32{0}})
	if err != nil {
		t.Fatal(err)
	}
	for says, err := range map[string]error{
		"3 bytes of data": w.Tensor("a", F32, []int64{1}, bytes.NewReader(make([]byte, 3))),
		"more than the 4": w.Tensor("b", F32, []int64{1}, bytes.NewReader(make([]byte, 5))),
		"repeated name":   w.Tensor("b", F32, []int64{1}, bytes.NewReader(make([]byte, 4))),
		"multiple of 32":  w.Tensor("c", Q8_0, []int64{31}, bytes.NewReader(nil)),
		"not a ggml type": w.Tensor("d", 5, []int64{1}, bytes.NewReader(nil)),
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("expected %q, found %v", says, err)
		}
	}
	if _, err := NewWriter(&bytes.Buffer{}, Header{FilterRows: 2, FilterColumns: 1}); err == nil {
		t.Error("a header without its filters was written")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(build(f, tiny))
	h := tiny
	h.FType = 8
	f.Add(build(f, h))
	f.Add([]byte("lmgg"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := read(b)
		if err != nil {
			return
		}
		_ = m.Check()
		_, _ = m.Tokens()
		_, _ = m.MelFilters()
		for _, x := range m.Tensors {
			if x.Offset+x.Size > int64(len(b)) {
				t.Fatalf("tensor %s reaches beyond the file", x.Name)
			}
			if err := m.Values(x, func(int64, []float32) error { return nil }); err != nil && x.Type.Decodable() {
				t.Fatalf("tensor %s was listed and cannot be read: %v", x.Name, err)
			}
		}
	})
}
