package bundle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/realtest"
)

func FuzzCoreMLData(f *testing.F) {
	f.Add([]byte(realtest.Text(f, "add_model.mlmodelc/coremldata.bin")))
	f.Add([]byte(realtest.Text(f, "transpose_encoder.mlmodelc/coremldata.bin")))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := ParseCoreMLData(b)
		if err != nil {
			return
		}
		first, err := d.Encode()
		if err != nil {
			return
		}
		if _, err := ParseCoreMLData(first); err != nil {
			t.Fatalf("what was written does not read back: %v", err)
		}
	})
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(realtest.Text(f, "sample.mlpackage/Manifest.json")))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseManifest(b)
		if err != nil {
			return
		}
		first, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseManifest(first)
		if err != nil {
			t.Fatalf("what was written does not read back: %v\n%s", err, first)
		}
		if diff := cmp.Diff(m, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzMetadata(f *testing.F) {
	f.Add([]byte(realtest.Text(f, "tiny_encoder.mlmodelc/metadata.json")))
	f.Add([]byte(realtest.Text(f, "transpose_encoder.mlmodelc/metadata.json")))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseMetadata(b)
		if err != nil {
			return
		}
		if _, err := m.Encode(); err != nil {
			t.Fatal(err)
		}
	})
}
