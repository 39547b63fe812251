package strictjson_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

type inner struct {
	A int `json:"a"`
}

type outer struct {
	Name  string            `json:"name"`
	Inner inner             `json:"inner"`
	Opt   *inner            `json:"opt,omitempty"`
	Null  *string           `json:"null"`
	List  []inner           `json:"list"`
	Map   map[string]string `json:"map"`
	Any   map[string]any    `json:"any"`
	Float float64           `json:"float"`
}

const good = `{"any":{"x":[1,{"y":null}]},"float":0.5,"inner":{"a":1},"list":[{"a":2}],"map":{"k":"v"},"name":"n","null":null}`

func TestDecode(t *testing.T) {
	var got outer
	if err := strictjson.DecodeCanonical([]byte(good), &got); err != nil {
		t.Fatal(err)
	}
	want := outer{Name: "n", Inner: inner{1}, List: []inner{{2}}, Map: map[string]string{"k": "v"}, Any: map[string]any{"x": []any{1.0, map[string]any{"y": nil}}}, Float: 0.5}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, from, to, why string }{
		{"unknown", `"name"`, `"extra":1,"name"`, "unknown field"},
		{"unknown, nested", `{"a":1}`, `{"a":1,"b":1}`, "$.inner: unknown field"},
		{"unknown, in a list", `{"a":2}`, `{"a":2,"b":1}`, "$.list[0]: unknown field"},
		{"missing", `,"name":"n"`, ``, `"name" is missing`},
		{"missing, nested", `{"a":1}`, `{}`, `"a" is missing`},
		{"case", `"name"`, `"Name"`, "unknown field"},
		{"twice", `"name"`, `"name":"m","name"`, "duplicate"},
		{"twice in free form", `"x":`, `"x":1,"x":`, "duplicate"},
		{"twice, escaped", `"name"`, `"n\u0061me":"m","name"`, "duplicate"},
		{"case twins", `"k":"v"`, `"k":"v","K":"w"`, "differ only in case"},
		{"null for a struct", `{"a":1}`, `null`, "$.inner: expected an object, found null"},
		{"null for a list", `[{"a":2}]`, `null`, "$.list: expected an array, found null"},
		{"list for an object", `{"a":1}`, `[1]`, "expected an object"},
		{"object for a list", `[{"a":2}]`, `{}`, "expected an array"},
		{"string for a number", `"a":1`, `"a":"1"`, `$.inner.a: expected a whole number, written without a point or exponent, found a string`},
		{"fraction for an int", `"a":1`, `"a":1.5`, "found the number 1.5"},
		{"an int with a point", `"a":1`, `"a":1.0`, "found the number 1.0"},
		{"an int with an exponent", `"a":1`, `"a":1e0`, "found the number 1e0"},
		{"below zero", `"a":1`, `"a":-0`, "canonical"},
		{"too small", `0.5`, `1e-999`, "canonical"},
		{"number for a string", `"n"`, `7`, "$.name: expected a string, found the number 7"},
		{"truth for a string", `"n"`, `true`, "$.name: expected a string, found true"},
		{"object for a string", `"n"`, `{}`, "$.name: expected a string, found an object"},
		{"string for a float", `0.5`, `"0.5"`, "$.float: expected a number"},
		{"byte-order mark", `{"any"`, "\ufeff{\"any\"", "byte-order mark"},
		{"UTF-16", `{"any"`, "{\x00\"\x00any\"", "UTF-16"},
		{"UTF-32", `{"any"`, "{\x00\x00\x00\"\x00\x00\x00any\"", "UTF-32"},
		{"UTF-32 with a mark", `{"any"`, "\xff\xfe\x00\x00{\x00\x00\x00", "UTF-32"},
		{"a NUL byte before it", `{"any"`, "\x00{\"any\"", "NUL byte before"},
		{"a zstd file", `{"any"`, "\x28\xb5\x2f\xfd", "zstd file"},
		{"a web page", `{"any"`, "\n<!DOCTYPE HTML><html>", "web page"},
		{"a Git LFS pointer", `{"any"`, "version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
		{"YAML", `{"any"`, "---\n{\"any\"", "YAML"},
		{"a comment", `{"any"`, "// {\"any\"", "comment"},
		{"UTF-16 with a mark", `{"any"`, "\xff\xfe{\x00", "UTF-16"},
		{"gzip", `{"any"`, "\x1f\x8b\x08", "a gzip file"},
		{"a key", `{"any"`, "-----BEGIN PUBLIC KEY-----", "PEM"},
		{"nothing", good, " \n", "an empty file"},
		{"NUL behind it", `"null":null}`, "\"null\":null}\x00", "trailing"},
		{"no-break space before it", `{"any"`, "\u00a0{\"any\"", "expected a value"},
		{"big", `"a":1`, `"a":9007199254740992`, "2^53"},
		{"big float", `0.5`, `1e300`, "2^53"},
		{"too big", `0.5`, `1e999`, "float64"},
		{"leading zero", `0.5`, `00.5`, "malformed number"},
		{"plus", `0.5`, `+0.5`, "expected a value"},
		{"bare point", `0.5`, `.5`, "expected a value"},
		{"NaN", `0.5`, `NaN`, "expected a value"},
		{"control character", `"n"`, "\"\x01\"", "control"},
		{"bad escape", `"n"`, `"\x"`, "escape"},
		{"lone surrogate", `"n"`, `"\udc00"`, "surrogate"},
		{"half a pair", `"n"`, `"\ud800\u0041"`, "surrogate"},
		{"not UTF-8", `"n"`, "\"\xc3\"", "byte 0xc3 at offset"},
		{"comment", `{"any"`, `/**/{"any"`, "found a comment"},
		{"trailing comma", `"null":null}`, `"null":null,}`, "expected a key"},
		{"trailing", `"null":null}`, `"null":null}0`, "trailing"},
		{"space", `"n"`, ` "n"`, "canonical"},
		{"order", `"name":"n","null":null`, `"null":null,"name":"n"`, "canonical"},
		{"empty optional", `"null":null`, `"null":null,"opt":null`, "canonical"},
		{"number spelled otherwise", `0.5`, `5e-1`, "canonical"},
		{"escape that need not be", `"n"`, `"\u006e"`, "canonical"},
	} {
		bad := strings.Replace(good, c.from, c.to, 1)
		if bad == good {
			t.Fatalf("%s: %q does not stand there", c.name, c.from)
		}
		if err := strictjson.DecodeCanonical([]byte(bad), &outer{}); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: error %v, want one that says %q", c.name, err, c.why)
		}
	}
	deep := `{"any":{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}}`
	if err := strictjson.Decode([]byte(deep), &outer{}); err == nil || !strings.Contains(err.Error(), "deeper") {
		t.Errorf("depth: %v", err)
	}
}

// Another spelling of equal length is told by where it parts from the canonical one, and not by two equal numbers.
func TestNotCanonicalSaysWhere(t *testing.T) {
	for found, want := range map[string]string{
		`{"any":{"x":[1,{"y":null}]},"float":5e-1}`:                           "missing",
		strings.Replace(good, "0.5", "5E-1", 1):                               `expected "0.5,`,
		strings.Replace(good, `"n","null":null}`, `"\u006e","null":null}`, 1): `expected "n\`,
		good + " ": `expected the end, found " "`,
		strings.Replace(strings.Replace(good, `"name":"n",`, "", 1), `{"any"`, `{"name":"n","any"`, 1): `expected "any`,
	} {
		err := strictjson.DecodeCanonical([]byte(found), &outer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, want %q", found, err, want)
		}
	}
}

// TestCanonicalReadsBack holds that what could not be read is not written.
func TestCanonicalReadsBack(t *testing.T) {
	if _, err := strictjson.Canonical(outer{}); err == nil {
		t.Error("a nil list is written as null, which Decode refuses")
	}
	if _, err := strictjson.Canonical(inner{A: 1 << 60}); err == nil {
		t.Error("a number that Decode refuses is written")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"a":"\ud83d\ude00"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v outer
		if err := strictjson.DecodeCanonical(data, &v); err != nil {
			return
		}
		again, err := strictjson.Canonical(v)
		if err != nil || string(again) != string(data) {
			t.Fatalf("accepted bytes do not encode to themselves: %v", err)
		}
	})
}
