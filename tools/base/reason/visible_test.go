package reason_test

import (
	"encoding/json"
	"errors"
	"maps"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"//gate:receipt é 音 �", "//gate:receipt é 音 �"},
		{"a\nverify: pass", `a\nverify: pass`},
		{"\x1b[31m\x00\t\u009b", `\u001b[31m\u0000\u0009\u009b`},
		{"\u202egnorw\u2066\u2028\uffff", `\u202egnorw\u2066\u2028\uffff`},
		{"a\u200bb\u00adc\ufeff\U000e0041", `a\u200bb\u00adc\ufeff\U000e0041`},
		{"cut\xff", `cut\xff`},
	} {
		if got := reason.Visible(c.in); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestVisibleJSON(t *testing.T) {
	const in = "{\n  \"a\u009b\": \"x\u202e\u200b\U000e0041é\\u001b\"\n}\n"
	const want = "{\n  \"a\\u009b\": \"x\\u202e\\u200b\\udb40\\udc41é\\u001b\"\n}\n"
	got := reason.VisibleJSON(in)
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var a, b map[string]string
	if err := errors.Join(json.Unmarshal([]byte(in), &a), json.Unmarshal([]byte(got), &b)); err != nil || !maps.Equal(a, b) {
		t.Errorf("%v and %v are not one document: %v", a, b, err)
	}
}
