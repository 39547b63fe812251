package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope/envelopetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
)

// hostile steers a terminal, writes a line of its own into a log, and turns the direction of writing.
const hostile = "x\n::error::y\x1b[2J\u009b31m\u202e\u200b"

// TestHidden gives every command that reads receipts a text of hostile: nothing of it reaches a terminal or a log raw.
func TestHidden(t *testing.T) {
	w := gatefixture.New(t)
	receipt := string(w.Receipt(t))
	escaped := strings.NewReplacer("\n", `\n`, "\x1b", `\u001b`).Replace(hostile)
	bent := w.File(t, "bent.json", strings.Replace(receipt, `"name":"audio"`, `"name":"`+escaped+`"`, 1))
	other := w.File(t, "other.json", strings.Replace(receipt, `"compiler":"clang"`, `"compiler":"`+escaped+`"`, 1))
	good := w.File(t, "good.json", receipt)
	private, public := envelopetest.Write(t, envelopetest.Ed25519(t))
	key, err := envelope.ReadPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	signed := func(name, payload string) string {
		data, err := envelope.Sign(t.Context(), key, []byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		return w.File(t, name, string(data))
	}
	foreign := signed("foreign.json", strings.Replace(receipt, `"predicateType":"https`, `"predicateType":"`+escaped, 1))
	malformed := signed("malformed.json", strings.Replace(receipt, `"name":"audio"`, `"name":"`+escaped+`"`, 1))
	folder := filepath.Join(t.TempDir(), "ships")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "a\n::error::y\x1b[2J"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id   string
		args []string
	}{
		{"X02 verify --json of another predicate", []string{"verify", "--json", "--key", public, foreign}},
		{"X02 verify of another predicate", []string{"verify", "--key", public, foreign}},
		{"X02 verify --json of a name", []string{"verify", "--json", "--key", public, malformed}},
		{"X02 verify of a folder", []string{"verify", "--key", public, "--release", folder, signed("good.sig", receipt)}},
		{"X02 verify --json of a folder", []string{"verify", "--json", "--key", public, "--release", folder, signed("good.sig", receipt)}},
		{"X07 diff --json", []string{"diff", "--json", good, other}},
		{"X07 diff", []string{"diff", good, other}},
		{"X24report", []string{"report", "--format", "text", bent}},
		{"X24diff", []string{"diff", good, bent}},
		{"X24sign", []string{"sign", "--key", private, bent}},
		{"X24audit", []string{"audit", bent}},
		{"X24audit --json", []string{"audit", "--json", bent}},
		{"a file that is not there", []string{"verify", "--key", public, hostile}},
		{"a flag that is none", []string{"verify", "--" + hostile}},
		{"a code that is none", []string{"explain", hostile}},
	} {
		code, stdout, stderr := call(t, "", c.args...)
		if code == 0 {
			t.Errorf("%s: exit 0", c.id)
		}
		for name, text := range map[string]string{"stdout": stdout, "stderr": stderr} {
			if i := strings.IndexFunc(text, func(r rune) bool { return reason.Hidden(r) && r != '\n' }); i >= 0 {
				t.Errorf("%s: %s has %q", c.id, name, text[i:min(len(text), i+12)])
			}
			if strings.Contains(text, "\n::error") {
				t.Errorf("%s: %s has a line of its own:\n%s", c.id, name, text)
			}
		}
		if stderr != "" && strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: stderr has more than its line:\n%s", c.id, stderr)
		}
	}
}

// TestY04 holds the same of the words that a public run heard.
func TestY04(t *testing.T) {
	var b strings.Builder
	printHeard(&b, []string{"ask not", "\x1b]0;owned\x07\u009b31m\u202e"})
	if got, want := b.String(), "ask not\n"+`\u001b]0;owned\u0007\u009b31m\u202e`+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
