package artifact

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/dataflow"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/dataflow/rewire"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	milencoder "github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
)

// smallest is what gate_small_model --layers 2 --state 16 --heads 2 --audio-ctx 8 makes, with a third layer.
var smallest = synthetic.Options{Seed: 1, Layers: 3, TextLayers: 1, State: 16, Heads: 2, Mels: 80, AudioCtx: 8, TextCtx: 8, Vocab: 96}

// rewired is a package whose program a test changes.
type rewired struct {
	model, pkg string
	art        *bundle.Artifact
	weights    []byte
}

func newRewired(t *testing.T, p milencoder.Precision) *rewired {
	t.Helper()
	dir := t.TempDir()
	r := &rewired{model: filepath.Join(dir, "ggml-x.bin"), pkg: filepath.Join(dir, "x.mlpackage")}
	b := modelBytes(t, smallest)
	writeFile(t, r.model, b)
	writeEncoder(t, dir, "x", b, p)
	a, err := bundle.Open(r.pkg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	r.art = a
	if r.weights, err = os.ReadFile(filepath.Join(r.pkg, "Data", "com.apple.CoreML", "weights", "weight.bin")); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rewired) main() *mil.Function { return r.art.Program.Functions[0] }

// inspect writes a package with another function and inspects it.
func (r *rewired) inspect(t *testing.T, f *mil.Function) *Report {
	t.Helper()
	return r.inspectVersion(t, f, r.art.Model.SpecificationVersion)
}

func (r *rewired) inspectVersion(t *testing.T, f *mil.Function, version int32) *Report {
	t.Helper()
	m := *r.art.Model
	m.SpecificationVersion = version
	p := *m.Program
	p.Functions = []*mil.Function{f}
	m.Program = &p
	dest := filepath.Join(t.TempDir(), "rewired.mlpackage")
	err := bundle.WritePackage(dest, &m, func(w io.Writer) error {
		_, err := w.Write(r.weights)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	report, err := Inspect(r.model, dest, Options{ContentsOnly: true, NoDigests: true})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// exchange exchanges what two constants hold, by parts of their names.
func exchange(t *testing.T, f *mil.Function, a, b string) {
	t.Helper()
	find := func(name string) *mil.Op {
		for _, op := range f.Body.Ops {
			if op.Type == "const" && strings.TrimSuffix(op.Outputs[0].Name, "_to_fp16") == name {
				return op
			}
		}
		t.Fatalf("no constant %s", name)
		return nil
	}
	x, y := find(a), find(b)
	x.Attrs, y.Attrs = y.Attrs, x.Attrs
}

// Right weights in wrong places are refused, and the reason names them.
func TestWrongPlaces(t *testing.T) {
	r := newRewired(t, milencoder.Float16)
	for _, c := range []struct {
		name   string
		change func(t *testing.T, f *mil.Function)
		code   string
		found  string
	}{
		{"key and value", func(t *testing.T, f *mil.Function) {
			exchange(t, f, "blocks_1_attn_key_weight", "blocks_1_attn_value_weight")
		}, reason.PairingPlace, "encoder.blocks.1.attn.key.weight and encoder.blocks.1.attn.value.weight exchanged"},
		{"query and key", func(t *testing.T, f *mil.Function) {
			exchange(t, f, "blocks_0_attn_query_weight", "blocks_0_attn_key_weight")
		}, reason.PairingPlace, "exchanged"},
		{"two layers' outs", func(t *testing.T, f *mil.Function) {
			exchange(t, f, "blocks_0_attn_out_weight", "blocks_2_attn_out_weight")
		}, reason.PairingPlace, "encoder.blocks.2.attn.out.weight"},
		{"gamma and beta", func(t *testing.T, f *mil.Function) {
			exchange(t, f, "blocks_2_mlp_ln_weight", "blocks_2_mlp_ln_bias")
		}, reason.PairingPlace, "encoder.blocks.2.mlp_ln.weight and encoder.blocks.2.mlp_ln.bias exchanged"},
		{"two norms' gammas", func(t *testing.T, f *mil.Function) {
			exchange(t, f, "blocks_1_mlp_ln_weight", "blocks_1_attn_ln_weight")
		}, reason.PairingPlace, "encoder.blocks.1.mlp_ln.weight"},
		{"biases of one size", func(t *testing.T, f *mil.Function) {
			exchange(t, f, "blocks_1_attn_query_bias", "blocks_1_attn_out_bias")
		}, reason.PairingPlace, "exchanged"},
		{"the convolutions' biases", func(t *testing.T, f *mil.Function) { exchange(t, f, "conv1_bias", "conv2_bias") }, reason.PairingPlace, "encoder.conv1.bias and encoder.conv2.bias exchanged"},
		{"the last norm's gamma and beta", func(t *testing.T, f *mil.Function) { exchange(t, f, "ln_post_weight", "ln_post_bias") }, reason.PairingPlace, "exchanged"},
		{"layers 1 and 2 read layer 0's matrices", func(t *testing.T, f *mil.Function) {
			for _, op := range f.Body.Ops {
				for _, a := range op.Inputs {
					for n, b := range a.Bindings {
						if a.Name == "weight" {
							a.Bindings[n].Name = strings.NewReplacer("blocks_1_", "blocks_0_", "blocks_2_", "blocks_0_").Replace(b.Name)
						}
					}
				}
			}
		}, reason.PairingUnused, "12 in constants that nothing reads"},
		{"a residual that is left out", func(t *testing.T, f *mil.Function) {
			for _, op := range f.Body.Ops {
				if op.Outputs[0].Name == "blocks_1_mlp_residual_cast" {
					op.Input("x").Bindings[0].Name = op.Input("y").Bindings[0].Name
				}
			}
		}, reason.PairingPlace, "connected otherwise"},
		{"another activation", func(t *testing.T, f *mil.Function) {
			for _, op := range f.Body.Ops {
				if op.Outputs[0].Name == "blocks_1_mlp_0_gelu_mode" {
					op.Attrs = slices.Clone(op.Attrs)
					for i := range op.Attrs {
						if op.Attrs[i].Name == "val" {
							op.Attrs[i].Value = mil.StringValue("SIGMOID_APPROXIMATION")
						}
					}
				}
			}
		}, reason.PairingPlace, "GELU is approximated: mode SIGMOID_APPROXIMATION"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := rewire.Clone(r.main())
			c.change(t, f)
			report := r.inspect(t, f)
			if len(report.Reasons) != 1 || report.Reasons[0].Code != c.code || !strings.Contains(report.Reasons[0].Found, c.found) {
				t.Errorf("want %s with %q, found %v", c.code, c.found, report.Reasons)
			}
		})
	}
}

// Of two hundred random rewirings each one that changes the output by more than 60 dB is refused, and of a hundred ways to
// write the same none is.
func TestRandomRewirings(t *testing.T) {
	r := newRewired(t, milencoder.Float32)
	m, err := ggml.Read(bytes.NewReader(modelBytes(t, smallest)), int64(len(modelBytes(t, smallest))))
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for seed := range uint64(200) {
		f, what := rewire.Break(r.main(), rand.New(rand.NewPCG(seed, 1)))
		trace, err := dataflow.Run(t.Context(), f, r.art, m.Hyperparameters, plain(m))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if trace.Step("output").SNR > 60 {
			continue // query for query, or a key's bias, which softmax takes out
		}
		changed++
		if report := r.inspect(t, f); report.Verdict != reason.Failed {
			t.Errorf("seed %d, %s: %s with %.1f dB", seed, what, report.Verdict, trace.Step("output").SNR)
		}
	}
	if changed < 150 {
		t.Errorf("only %d rewirings changed the output", changed)
	}
	for seed := range uint64(100) {
		f, changes := rewire.Keep(r.main(), rand.New(rand.NewPCG(seed, 2)))
		if report := r.inspect(t, f); report.Verdict != reason.Pass || changes < 10 {
			t.Errorf("seed %d: %s after %d changes: %v", seed, report.Verdict, changes, report.Reasons)
		}
	}
}

func plain(m *ggml.Model) func(string, []int) ([]float32, error) {
	return func(name string, _ []int) ([]float32, error) {
		t, _ := m.Tensor("encoder." + name)
		return m.Float32s(t)
	}
}
