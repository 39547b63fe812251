package main

import (
	"strings"
	"testing"
)

func TestMerge(t *testing.T) {
	library := "first\n" + commonLine + "middle\n" + implLine + "last\n"
	got, err := merge([]byte(library), []byte("COMMON\n"), []byte("IMPL\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "first\nCOMMON\nmiddle\nIMPL\nlast\n"; string(got) != want {
		t.Errorf("merged %q, want %q", got, want)
	}
	for name, text := range map[string]string{
		"no common": "first\n" + implLine,
		"no impl":   commonLine,
		"two":       commonLine + commonLine + implLine,
	} {
		if _, err := merge([]byte(text), nil, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestAssemblyHoldsBytes(t *testing.T) {
	got := string(assembly([]byte("A\x00\xff" + strings.Repeat("b", 32))))
	for _, want := range []string{"_ggml_metallib_start:\n.byte 65,0,255,98", "\n_ggml_metallib_end:\n", ".section __DATA,__ggml_metallib\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("assembly lacks %q:\n%s", want, got)
		}
	}
	if n := strings.Count(got, ".byte"); n != 2 {
		t.Errorf("%d lines of bytes, want 2", n)
	}
}
