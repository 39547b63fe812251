package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"serve"}, {"load", "x"}, {"serve", "x", "y"}} {
		var out, err bytes.Buffer
		if code := run(args, strings.NewReader(""), &out, &err); code != 2 || out.Len() > 0 || !strings.Contains(err.String(), "serve PATH") {
			t.Errorf("%q: exit %d, %q, %q", args, code, out.String(), err.String())
		}
	}
}

// What cannot be loaded is told in the protocol, not on stderr: the runtime's
// log belongs to the runtime.
func TestMissingArtifact(t *testing.T) {
	var out, err bytes.Buffer
	if code := run([]string{"serve", t.TempDir() + "/none.mlmodelc"}, strings.NewReader(""), &out, &err); code != 1 || err.Len() > 0 {
		t.Errorf("exit %d, stderr %q", code, err.String())
	}
	if !bytes.HasPrefix(out.Bytes(), []byte("CGEV\x01\x00\x00\x00\x01\x00\x00\x00")) || !strings.Contains(out.String(), "none.mlmodelc") {
		t.Errorf("hello is %q", out.String())
	}
}
