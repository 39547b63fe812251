package evaluation

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/artifact"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
)

// kQuants are the types with super-blocks: their number as a file type, and where a block has its float16 scales.
var kQuants = []struct {
	typ    ggml.Type
	ftype  ggml.FType
	scales []int
}{
	{ggml.Q2_K, 10, []int{80, 82}}, {ggml.Q3_K, 11, []int{108}}, {ggml.Q4_K, 12, []int{0, 2}}, {ggml.Q5_K, 13, []int{0, 2}}, {ggml.Q6_K, 14, []int{208}},
}

// kModel writes a model whose matrices are random blocks of a type.
func kModel(t *testing.T, typ ggml.Type, ftype ggml.FType, scales []int) string {
	t.Helper()
	h := synthetic.Options{Layers: 1, TextLayers: 1, State: 256, Heads: 4, AudioCtx: 24, TextCtx: 4}.Hyperparameters()
	h.FType, h.QuantisationVersion = ftype, 2
	var b bytes.Buffer
	w, err := ggml.NewWriter(&b, ggml.Header{Hyperparameters: h, FilterRows: h.Mels, FilterColumns: 201, Filters: ggml.MelBank(h.Mels)})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, uint64(typ)))
	for _, s := range ggml.Layout(h) {
		n := int64(1)
		for _, d := range s.Dims {
			n *= d
		}
		as, _ := s.Type(h.FType)
		info, _ := as.Info()
		data := make([]byte, n/info.Block*info.BlockBytes)
		for at := int64(0); at < int64(len(data)); at += info.BlockBytes {
			block := data[at : at+info.BlockBytes]
			switch as {
			case ggml.F32:
				binary.LittleEndian.PutUint32(block, 0x3e000000|r.Uint32()>>9)
			case ggml.F16:
				binary.LittleEndian.PutUint16(block, 0x2400|uint16(r.Uint32()&0x83ff))
			default:
				for i := range block {
					block[i] = byte(r.Uint32())
				}
				for _, at := range scales {
					binary.LittleEndian.PutUint16(block[at:], ggml.Float32ToFloat16(0.0005))
				}
			}
		}
		if err := w.Tensor(s.Name, as, s.Dims, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ggml-x.bin")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// answer words a verdict and its codes as the page does.
func answer(v reason.Verdict, reasons []reason.Reason) string {
	var codes []string
	for _, r := range reasons {
		if c := "`" + r.Code + "`"; !slices.Contains(codes, c) {
			codes = append(codes, c)
		}
	}
	if v == reason.Pass {
		return "pass"
	}
	return strings.Join(codes, ", ")
}

// contract inspects a model beside an encoder.
func contract(t *testing.T, model, enc string) string {
	t.Helper()
	beside := filepath.Join(filepath.Dir(model), "ggml-x-encoder.mlmodelc")
	if err := os.RemoveAll(beside); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(enc, beside); err != nil {
		t.Fatal(err)
	}
	r, err := artifact.Inspect(model, beside, artifact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return answer(r.Verdict, r.Reasons)
}

// TestModelsPage holds the table of docs/artifacts.md against what the gates say.
func TestModelsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "artifacts.md"))
	if err != nil {
		t.Fatal(err)
	}
	base := synthetic.Options{Seed: 3, Layers: 1, TextLayers: 1, State: 32, Heads: 2, AudioCtx: 24, TextCtx: 4}
	with := func(change func(*synthetic.Options)) synthetic.Options {
		o := base
		change(&o)
		return o
	}
	row := func(name, model, source string) {
		numbers := func(p encoder.Precision, policy string) string {
			r, _ := run(t, Request{Model: model, Encoder: encoded(t, source, p), Policy: policy})
			return answer(r.Verdict, r.Reasons)
		}
		f16, f32 := numbers(encoder.Float16, "fp16_v1"), numbers(encoder.Float32, "fp32_v2")
		line := strings.Join([]string{"| " + name, contract(t, model, encoded(t, source, encoder.Float16)), f16, f32 + " |"}, " | ")
		if !bytes.Contains(page, []byte(line+"\n")) {
			t.Errorf("docs/artifacts.md lacks the line\n%s", line)
		}
	}
	same := func(name string, o synthetic.Options) {
		model := bin(t, o)
		row(name, model, model)
	}
	same("float16", base)
	same("float32", with(func(o *synthetic.Options) { o.Float32 = true }))
	for _, q := range []ggml.Type{ggml.Q4_0, ggml.Q5_0, ggml.Q8_0} {
		model := bin(t, with(func(o *synthetic.Options) { o.Quantise = q }))
		row(q.String()+", the source's encoder", model, bin(t, base))
		row(q.String()+", an encoder of its own values", model, model)
	}
	for _, k := range kQuants {
		model := kModel(t, k.typ, k.ftype, k.scales)
		row(k.typ.String()+", an encoder of its own values", model, model)
	}
	same("large-v3 (128 mels, 100 languages)", with(func(o *synthetic.Options) { o.Mels, o.Vocab = 128, 51866 }))
	same("large-v3-turbo (128 mels, 4 decoder layers)", with(func(o *synthetic.Options) { o.Mels, o.Vocab, o.TextLayers = 128, 51866, 4 }))
	same("distil (2 decoder layers)", with(func(o *synthetic.Options) { o.Multilingual, o.TextLayers = true, 2 }))
	same("a vocabulary of 51900", with(func(o *synthetic.Options) { o.Vocab = 51900 }))
	same("a vocabulary of 50257", with(func(o *synthetic.Options) { o.Vocab = 50257 }))
	model128 := bin(t, with(func(o *synthetic.Options) { o.Mels, o.Vocab = 128, 51866 }))
	r, err := artifact.Inspect(model128, encoded(t, bin(t, base), encoder.Float16), artifact.Options{ContentsOnly: true})
	if err != nil || !slices.ContainsFunc(r.Reasons, func(x reason.Reason) bool { return x.Code == reason.NMelsMismatch }) {
		t.Errorf("an encoder of 80 mels beside a model of 128: %v %v", r, err)
	}
}
