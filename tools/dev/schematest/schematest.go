// Package schematest holds JSON Schemas against the Go types that they describe.
package schematest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "write schemas and goldens in place of comparing them")

// Update says that the flag -update was given.
func Update() bool { return *update }

// Check compares a schema with what follows from type T, and samples of the type with the schema.
// With -update it writes the file instead.
func Check[T any](t *testing.T, file string, schema []byte, title string, samples ...[]byte) {
	t.Helper()
	s, err := jsonschema.For[T](nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", title
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want.String(), string(schema)); diff != "" {
		t.Errorf("%s is not what the Go type says; run this test with -update (-want +got):\n%s", file, diff)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, sample := range samples {
		var v any
		if err := json.Unmarshal(sample, &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); err != nil {
			t.Errorf("sample %d does not satisfy %s: %v", i, file, err)
		}
		object, ok := v.(map[string]any)
		if !ok {
			t.Fatalf("sample %d is not an object", i)
		}
		object["stranger"] = true
		if resolved.Validate(object) == nil {
			t.Errorf("%s lets an unknown member through", file)
		}
	}
}
