package reason_test

import (
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"//gate:receipt é 音 �", "//gate:receipt é 音 �"},
		{"a\nverify: pass", `a\nverify: pass`},
		{"\x1b[31m\x00\t\u009b", `\u001b[31m\u0000\u0009\u009b`},
		{"\u202egnorw\u2066\u2028\uffff", `\u202egnorw\u2066\u2028\uffff`},
		{"cut\xff", `cut\xff`},
	} {
		if got := reason.Visible(c.in); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}
