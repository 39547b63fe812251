package agreement

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

func wide(text string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// A reference that is no plain text is refused by what it is, whatever its words would have been worth.
func TestReferenceIsPlainText(t *testing.T) {
	p, err := policy.Frozen("gate_v2")
	if err != nil {
		t.Fatal(err)
	}
	const words = evidencetest.Reference
	for says, text := range map[string]string{
		"U+0000":                      words + "\x00",
		"as in UTF-16":                wide(words),
		"byte 0xff":                   "\xff\xfe" + wide(words),
		"byte 0xe9":                   "caf\xe9 " + words,
		"U+0003":                      "PK\x03\x04" + words,
		"byte 0x8b":                   "\x1f\x8b\x08" + words,
		"git lfs pull":                "version https://git-lfs.github.com/spec/v1\n",
		"git annex get":               "/annex/objects/SHA256E-s12--ab.txt\n",
		"a web page":                  "\n<!DOCTYPE html><html>" + words,
		"rich text":                   `{\rtf1 ` + words + "}",
		"markup":                      "<p>" + words + "</p>",
		"subtitles":                   "1\n00:00:00,000 --> 00:00:11,000\n" + words,
		"time stamps: write":          "[00:00:00.000 --> 00:00:11.000]   " + words,
		"JSON: write the words alone": `{"text": "` + words + `"}`,
	} {
		j, err := Judge(evidencetest.Sample("coreml"), evidencetest.Sample("contrast"), text, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(j.Reasons) != 1 || j.Reasons[0].Code != reason.ReferenceText || !strings.Contains(j.Reasons[0].Found, says) {
			t.Errorf("%q: %v, want REFERENCE_TEXT with %q", text, j.Reasons, says)
		}
	}
	for _, text := range []string{words, "\ufeff" + words, strings.ReplaceAll(words, " ", "\r\n"), words + "\f", `"` + words + `"` + "\n\"and more\"", words + " a < b > c"} {
		if found := notPlain(text); found != "" {
			t.Errorf("%q: %s", text, found)
		}
	}
}
