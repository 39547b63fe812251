package artifact

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/dataflow/rewire"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	milencoder "github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
)

// found looks for a reason or note of a code whose text holds some words.
func found(t *testing.T, r *Report, code string, words ...string) {
	t.Helper()
	for _, x := range append(append([]reason.Reason{}, r.Reasons...), r.Notes...) {
		all := x.Code == code
		for _, w := range words {
			all = all && strings.Contains(x.Where+" "+x.Expected+" "+x.Found, w)
		}
		if all {
			return
		}
	}
	t.Errorf("want %s with %q, found %v and the notes %v", code, words, r.Reasons, r.Notes)
}

// Each fault goes by its own name.
func TestNamedFaults(t *testing.T) {
	data := func(enc string) string { return filepath.Join(enc, "coremldata.bin") }
	change := func(t *testing.T, path string, do func([]byte) []byte) {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, do(b))
	}
	container := func(v ...uint64) func([]byte) []byte {
		return func(b []byte) []byte {
			for i, x := range v {
				binary.LittleEndian.PutUint64(b[4+8*i:], x)
			}
			return b
		}
	}
	mark := func(b []byte) []byte { return append([]byte("\xEF\xBB\xBF"), b...) }
	for _, c := range []struct {
		name   string
		change func(t *testing.T, enc string)
		codes  []string // of reasons; none is a pass
		code   string   // one of them, or a note
		words  []string
	}{
		{"an old container", func(t *testing.T, enc string) { change(t, data(enc), container(1, 2, 1)) }, nil, "", nil},
		{"another old container", func(t *testing.T, enc string) { change(t, data(enc), container(1, 3, 0)) }, nil, "", nil},
		{"an unknown container", func(t *testing.T, enc string) { change(t, data(enc), container(6, 0, 0)) }, []string{"CONTAINER_VERSION"}, "CONTAINER_VERSION", []string{"6.0.0", "5.0.0"}},
		{"bytes where all files have zeros", func(t *testing.T, enc string) {
			change(t, data(enc), func(b []byte) []byte { b[0x40] = 1; return b })
		}, []string{"ARTIFACT_MALFORMED"}, "ARTIFACT_MALFORMED", []string{"not zero"}},
		{"a byte-order mark before the program", func(t *testing.T, enc string) { change(t, filepath.Join(enc, "model.mil"), mark) }, []string{"ARTIFACT_MALFORMED"}, "ARTIFACT_MALFORMED", []string{"byte-order mark"}},
		{"a byte-order mark before the metadata", func(t *testing.T, enc string) { change(t, filepath.Join(enc, "metadata.json"), mark) }, []string{"ARTIFACT_MALFORMED"}, "ARTIFACT_MALFORMED", []string{"byte-order mark"}},
		{"a program in UTF-16", func(t *testing.T, enc string) {
			change(t, filepath.Join(enc, "model.mil"), wide16(binary.LittleEndian, true))
		}, []string{"ARTIFACT_MALFORMED"}, "ARTIFACT_MALFORMED", []string{"FF FE", "UTF-8"}},
		{"metadata in UTF-16", func(t *testing.T, enc string) {
			change(t, filepath.Join(enc, "metadata.json"), wide16(binary.BigEndian, true))
		}, []string{"ARTIFACT_MALFORMED"}, "ARTIFACT_MALFORMED", []string{"FE FF", "UTF-8"}},
		{"a program in UTF-16 without a mark", func(t *testing.T, enc string) {
			change(t, filepath.Join(enc, "model.mil"), wide16(binary.BigEndian, false))
		}, []string{"ARTIFACT_MALFORMED"}, "ARTIFACT_MALFORMED", []string{"UTF-16", "UTF-8"}},
		{"a path spelled with a dot", func(t *testing.T, enc string) {
			edit(t, filepath.Join(enc, "model.mil"), "@model_path/weights/", "@model_path/./weights//")
		}, nil, "", nil},
		{"bytes behind the weights", func(t *testing.T, enc string) {
			change(t, filepath.Join(enc, "weights", "weight.bin"), func(b []byte) []byte { return append(b, make([]byte, 4096)...) })
		}, []string{"WEIGHTS_UNCOVERED"}, "WEIGHTS_UNCOVERED", []string{"belong to no weight"}},
		{"a weight that the program does not read", func(t *testing.T, enc string) {
			change(t, filepath.Join(enc, "weights", "weight.bin"), func(b []byte) []byte {
				b = append(b, make([]byte, -len(b)&63)...)
				meta := make([]byte, 128)
				binary.LittleEndian.PutUint32(meta, 0xDEADBEEF)
				binary.LittleEndian.PutUint32(meta[4:], 1)
				binary.LittleEndian.PutUint64(meta[8:], 64)
				binary.LittleEndian.PutUint64(meta[16:], uint64(len(b)+64))
				return append(b, meta...)
			})
		}, nil, "WEIGHTS_UNREAD", []string{"1 more"}},
		{"a sidecar of the Finder's", func(t *testing.T, enc string) {
			writeFile(t, filepath.Join(enc, "._model.mil"), []byte("\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X"))
		}, nil, "FINDER_FILE", []string{"._model.mil"}},
		{"another file by that name", func(t *testing.T, enc string) {
			writeFile(t, filepath.Join(enc, "._model.mil"), []byte("#!/bin/sh"))
		}, []string{"EXTRA_FILE"}, "EXTRA_FILE", []string{"._model.mil"}},
		{"a link into a download cache", func(t *testing.T, enc string) {
			w := filepath.Join(enc, "weights", "weight.bin")
			blob := filepath.Join(filepath.Dir(enc), "blobs", "0123")
			if err := os.MkdirAll(filepath.Dir(blob), 0o755); err != nil {
				t.Fatal(err)
			}
			rename(t, w, blob)
			if err := os.Symlink("../../blobs/0123", w); err != nil {
				t.Fatal(err)
			}
		}, nil, "ARTIFACT_HUB_CACHE", []string{"../../blobs/0123"}},
		{"a range of one shape", func(t *testing.T, enc string) {
			describe(t, enc, func(d *bundle.CoreMLData) {
				d.Description.Inputs[0].Array.Ranges = []spec.Range{{Lower: 1, Upper: 1}, {Lower: 80, Upper: 80}, {Lower: 40, Upper: 40}}
			})
		}, []string{"INPUT_FLEXIBLE"}, "INPUT_FLEXIBLE", []string{"is a range all the same"}},
		{"a state in program and description", func(t *testing.T, enc string) {
			edit(t, filepath.Join(enc, "model.mil"), "(tensor<fp32, [1, 80, 40]> logmel_data)", "(state<tensor<fp16, [1]>> cache, tensor<fp32, [1, 80, 40]> logmel_data)")
			describe(t, enc, func(d *bundle.CoreMLData) {
				d.Description.States = []spec.Feature{{Name: "cache", Kind: spec.StateFeature, Array: &spec.Array{Shape: []int64{1}, DType: spec.ArrayFloat16}}}
			})
		}, []string{"FEATURE_STATE"}, "FEATURE_STATE", nil},
		{"a state on the way to the output", func(t *testing.T, enc string) {
			path := filepath.Join(enc, "model.mil")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			at := strings.LastIndex(string(b), "> output = ")
			kind := string(b[strings.LastIndex(string(b[:at]), "tensor<") : at+1])
			writeFile(t, path, []byte(strings.Replace(string(b[:at])+strings.Replace(string(b[at:]), "> output = ", "> computed = ", 1), "} -> (output)", kind+" output = read_state(input = cache)[name = string(\"read\")];\n        } -> (output)", 1)))
			edit(t, path, "(tensor<fp32, [1, 80, 40]> logmel_data)", "(state<"+kind+"> cache, tensor<fp32, [1, 80, 40]> logmel_data)")
			describe(t, enc, func(d *bundle.CoreMLData) {
				d.Description.States = []spec.Feature{{Name: "cache", Kind: spec.StateFeature, Array: &spec.Array{Shape: []int64{1}, DType: spec.ArrayFloat16}}}
			})
		}, []string{"FEATURE_STATE", "OPERATION_TOO_NEW"}, "FEATURE_STATE", nil},
		{"GELU by tanh", func(t *testing.T, enc string) {
			edit(t, filepath.Join(enc, "model.mil"), "EXACT", "TANH_APPROXIMATION")
		}, nil, "GELU_APPROXIMATE", []string{"TANH_APPROXIMATION"}},
		{"GELU by sigmoid", func(t *testing.T, enc string) {
			edit(t, filepath.Join(enc, "model.mil"), "EXACT", "SIGMOID_APPROXIMATION")
		}, []string{"PAIRING_PLACE"}, "GELU_APPROXIMATE", []string{"SIGMOID_APPROXIMATION"}},
		{"an operation of a later set", func(t *testing.T, enc string) {
			edit(t, filepath.Join(enc, "model.mil"), "= softmax(", "= scaled_dot_product_attention(")
		}, nil, "OPERATION_TOO_NEW", []string{"iOS 18", "scaled_dot_product_attention"}},
		{"an operation of no set", func(t *testing.T, enc string) {
			edit(t, filepath.Join(enc, "model.mil"), "= softmax(", "= flash_attention(")
		}, nil, "OPERATION_UNKNOWN", []string{"flash_attention"}},
		{"an operation that is not evaluated", func(t *testing.T, enc string) {
			edit(t, filepath.Join(enc, "model.mil"), "= softmax(", "= lstm(")
		}, []string{"PLACE_UNKNOWN"}, "PLACE_UNKNOWN", []string{"lstm", "layer 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, model, enc := pair(t)
			c.change(t, enc)
			r, err := Inspect(model, enc, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if c.code != "" {
				found(t, r, c.code, c.words...)
			}
			if note := reason.IsNote(c.code) || c.code == ""; c.codes != nil || note {
				if got := codes(r.Reasons); fmt.Sprint(got) != fmt.Sprint(c.codes) {
					t.Errorf("want the reasons %v, found %v", c.codes, r.Reasons)
				}
			}
		})
	}
}

// A root that is a link is refused where places count, and followed where only contents do.
func TestLinkedRoot(t *testing.T) {
	dir, model, enc := pair(t)
	other := filepath.Join(dir, "elsewhere")
	rename(t, enc, other)
	if err := os.Symlink(other, enc); err != nil {
		t.Fatal(err)
	}
	r := expect(t, model, enc, Options{}, "ARTIFACT_LINK")
	found(t, r, "ARTIFACT_LINK", other)
	expect(t, model, enc, Options{ContentsOnly: true})
}

// A file that may not be read is not a fault of the artifact.
func TestDenied(t *testing.T) {
	err := denied([]*bundle.Fault{{File: "model.mil", Err: errors.New("x")}, {File: "weights/weight.bin", Err: fmt.Errorf("weight file: %w", fs.ErrPermission)}})
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "weights/weight.bin") {
		t.Errorf("%v", err)
	}
	if err := denied([]*bundle.Fault{{File: "model.mil", Err: fs.ErrNotExist}}); err != nil {
		t.Errorf("%v", err)
	}
}

// What the runtime cannot run is refused as a model of the gate, and taken as a reference of numbers.
func TestRunnable(t *testing.T) {
	for _, c := range []struct {
		name string
		o    synthetic.Options
		want []string
	}{
		{"English", synthetic.Options{}, nil},
		{"99 languages", synthetic.Options{Multilingual: true}, nil},
		{"100 languages", synthetic.Options{Vocab: 51866}, nil},
		{"more tokens than languages account for", synthetic.Options{Vocab: 51900}, []string{"MODEL_VOCABULARY"}},
		{"fewer tokens", synthetic.Options{Vocab: 50257}, []string{"MODEL_VOCABULARY"}},
		{"float32", synthetic.Options{Float32: true}, []string{"MODEL_FLOAT32"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := c.o
			o.Layers, o.TextLayers, o.State, o.Heads, o.AudioCtx, o.TextCtx = 1, 1, 8, 2, 16, 4
			dir := t.TempDir()
			model := filepath.Join(dir, "ggml-x.bin")
			b := modelBytes(t, o)
			writeFile(t, model, b)
			writeEncoder(t, dir, "ggml-x-encoder", b, milencoder.Float16)
			enc := filepath.Join(dir, "ggml-x-encoder.mlmodelc")
			expect(t, model, enc, Options{}, c.want...)
			expect(t, model, enc, Options{ContentsOnly: true})
		})
	}
}

// A hundred thousand items, sixty gigabytes that are not there, and an archive that unpacks without end are refused at once.
func TestBoundedInputs(t *testing.T) {
	t.Run("a manifest of 100000 items", func(t *testing.T) {
		dir, model, _ := pair(t)
		pkg := filepath.Join(dir, "source", "ggml-x-encoder.mlpackage")
		var b bytes.Buffer
		b.WriteString(`{"fileFormatVersion": "1.0.0", "rootModelIdentifier": "0", "itemInfoEntries": {`)
		for i := range 100_000 {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, `"%d": {"author": "a", "description": "d", "name": "n", "path": "p%d"}`, i, i)
		}
		b.WriteString("}}")
		writeFile(t, filepath.Join(pkg, "Manifest.json"), b.Bytes())
		r, err := Inspect(model, pkg, Options{ContentsOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		found(t, r, "ARTIFACT_MALFORMED", "100000 items", "1000")
	})
	for _, name := range []string{"weights/weight.bin", "model.mil", "coremldata.bin", "metadata.json"} {
		for _, size := range []int64{60 << 30, maxBytes} {
			t.Run(fmt.Sprintf("sparse %s of %d bytes", name, size), func(t *testing.T) {
				_, model, enc := pair(t)
				if err := os.Truncate(filepath.Join(enc, filepath.FromSlash(name)), size); err != nil {
					t.Fatal(err)
				}
				if r := expect(t, model, enc, Options{}, "ARTIFACT_TOO_LARGE"); r.Encoder != nil && r.Encoder.Digest != "" {
					t.Error("it was read whole")
				}
			})
		}
	}
	t.Run("a sparse model", func(t *testing.T) {
		_, model, enc := pair(t)
		if err := os.Truncate(model, 60<<30); err != nil {
			t.Fatal(err)
		}
		expect(t, model, enc, Options{}, "MODEL_MALFORMED")
	})
	t.Run("an archive of zeros", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "x.mlmodelc.tar.gz")
		const size, part = 2 << 30, 1 << 20
		var header bytes.Buffer
		if err := tar.NewWriter(&header).WriteHeader(&tar.Header{Name: "zeros", Mode: 0o644, Size: size}); err != nil {
			t.Fatal(err)
		}
		// A gzip file may have parts: one of zeros is compressed once, and written as often as it takes; 1024 zeros end a tar.
		b := compressed(t, header.Bytes())
		b = append(b, bytes.Repeat(compressed(t, make([]byte, part)), size/part)...)
		writeFile(t, path, append(b, compressed(t, make([]byte, 1024))...))
		r, err := Inspect("", path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		found(t, r, "ARTIFACT_IS_ARCHIVE", "more than 1073741824 bytes unpacked")
	})
}

// compressed is a part of a gzip file.
func compressed(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Every operation that other models hold is named with its line and layer where it is not evaluated, or has the wrong arguments.
func TestOperationsOfOtherModels(t *testing.T) {
	r := newRewired(t, milencoder.Float16)
	for _, name := range strings.Fields(`avg_pool batch_norm classify equal floor_div gather gather_along_axis greater_equal leaky_relu less list_gather
		list_scatter logical_and logical_not lstm make_list max_pool pad range_1d reduce_argmax reverse select shape tile topk upsample_nearest_neighbor
		quantize dequantize read_state while_loop`) {
		f := rewire.Clone(r.main())
		f.Opset = "CoreML8"
		for _, op := range f.Body.Ops {
			if op.Outputs[0].Name == "blocks_1_mlp_0_gelu_cast" {
				op.Type = name
			}
		}
		report := r.inspectVersion(t, f, 9)
		codes := map[string]bool{}
		for _, x := range report.Reasons {
			codes[x.Code] = true
		}
		if len(codes) != 1 || !codes[reason.PlaceUnknown] || !strings.Contains(report.Reasons[0].Found, name) || !strings.Contains(report.Reasons[0].Where, "layer 1") {
			t.Errorf("%s: %v", name, report.Reasons)
		}
	}
}

// wide16 gives ASCII as UTF-16.
func wide16(order binary.AppendByteOrder, mark bool) func([]byte) []byte {
	return func(b []byte) []byte {
		var out []byte
		if mark {
			out = order.AppendUint16(out, 0xFEFF)
		}
		for _, c := range b {
			out = order.AppendUint16(out, uint16(c))
		}
		return out
	}
}
