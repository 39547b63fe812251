package artifact

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
)

func TestModels(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(good []byte) []byte
		want string
	}{
		{"an empty file", func([]byte) []byte { return nil }, "MODEL_NOT_GGML"},
		{"an LFS pointer", func([]byte) []byte { return []byte(pointer) }, "MODEL_NOT_GGML"},
		{"a web page", func([]byte) []byte { return []byte("<!DOCTYPE html>") }, "MODEL_NOT_GGML"},
		{"half a download", func(b []byte) []byte { return b[:len(b)/2] }, "MODEL_TRUNCATED"},
		{"one tensor short", func(b []byte) []byte {
			m, err := ggml.Read(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			last := m.Tensors[len(m.Tensors)-1]
			return b[:last.Offset-int64(12+4*len(last.Dims)+len(last.Name))]
		}, "MODEL_INCOMPLETE"},
		{"a test stub (A01)", func(b []byte) []byte {
			m, err := ggml.Read(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			first := m.Tensors[0]
			return b[:first.Offset-int64(12+4*len(first.Dims)+len(first.Name))]
		}, "MODEL_TEST_STUB"},
		{"a negative size", func(b []byte) []byte {
			b = bytes.Clone(b)
			b[7] = 0xff
			return b
		}, "MODEL_MALFORMED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, model, enc := pair(t)
			good, err := os.ReadFile(model)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, model, c.make(good))
			r, err := Inspect(model, enc, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := codes(r.Reasons); !contains(got, c.want) || r.Verdict != reason.Failed {
				t.Errorf("expected %s, found %v", c.want, r.Reasons)
			}
		})
	}
	t.Run("the encoder as the model (A03)", func(t *testing.T) {
		_, _, enc := pair(t)
		for _, given := range []string{enc, filepath.Join(enc, "coremldata.bin"), filepath.Join(enc, "weights", "weight.bin")} {
			r, err := Inspect(given, "", Options{})
			if err != nil {
				t.Fatal(err)
			}
			// Nothing is said of the place of an encoder of this "model": renaming something to it is no remedy.
			if got := codes(r.Reasons); !slices.Equal(got, []string{"MODEL_NOT_GGML"}) || r.Derived != nil {
				t.Errorf("%s: expected MODEL_NOT_GGML alone, found %v, derived %v", filepath.Base(given), r.Reasons, r.Derived)
			}
			if r, err = Inspect(given, enc, Options{}); err != nil {
				t.Fatal(err)
			}
			if got := codes(r.Reasons); !slices.Equal(got, []string{"MODEL_NOT_GGML"}) {
				t.Errorf("%s with the encoder: expected MODEL_NOT_GGML alone, found %v", filepath.Base(given), r.Reasons)
			}
		}
	})
	t.Run("nothing", func(t *testing.T) {
		_, model, enc := pair(t)
		remove(t, model)
		expect(t, model, enc, Options{}, "MODEL_MISSING")
	})
}

func contains(list []string, want string) bool {
	for _, s := range list {
		if s == want {
			return true
		}
	}
	return false
}
