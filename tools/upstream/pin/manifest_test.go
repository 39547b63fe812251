package pin

import (
	"bytes"
	"strings"
	"testing"
)

const (
	zeros = "0000000000000000000000000000000000000000000000000000000000000000"
	ones  = "1111111111111111111111111111111111111111111111111111111111111111"
)

func TestParseManifest(t *testing.T) {
	good := zeros + "  a/b.c\n" + ones + "  a/with space\n" + ones + "  b\n"
	m, err := ParseManifest([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(m.Format()); got != good {
		t.Errorf("Format() = %q, want %q", got, good)
	}
	if d, ok := m.Find("a/with space"); !ok || d != ones {
		t.Errorf("Find = %q, %v", d, ok)
	}
	if _, ok := m.Find("a"); ok {
		t.Error("Find found a folder")
	}
}

func TestParseManifestRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"empty":             {"", "line feed"},
		"no final LF":       {zeros + "  a", "line feed"},
		"CRLF":              {zeros + "  a\r\n", "plain relative path"},
		"blank line":        {zeros + "  a\n\n", "line 2"},
		"upper case":        {strings.Repeat("A", 64) + "  a\n", "hexadecimal"},
		"short digest":      {zeros[1:] + "  a\n", "hexadecimal"},
		"one space":         {zeros + " a\n", "two spaces"},
		"binary mark":       {zeros + " *a\n", "two spaces"},
		"no path":           {zeros + "  \n", "plain relative path"},
		"absolute":          {zeros + "  /a\n", "plain relative path"},
		"parent":            {zeros + "  a/../b\n", "plain relative path"},
		"dot":               {zeros + "  ./a\n", "plain relative path"},
		"trailing slash":    {zeros + "  a/\n", "plain relative path"},
		"backslash":         {zeros + "  a\\b\n", "plain relative path"},
		"unsorted":          {zeros + "  b\n" + zeros + "  a\n", "sort after"},
		"twice":             {zeros + "  a\n" + zeros + "  a\n", "sort after"},
		"more than a limit": {strings.Repeat("x", MaxManifestBytes+1), "limit"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseManifest([]byte(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(zeros + "  a/b\n"))
	f.Add([]byte(zeros + "  a\n" + ones + "  b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(data)
		if err == nil && !bytes.Equal(m.Format(), data) {
			t.Errorf("accepted a second spelling: %q", data)
		}
	})
}
