package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestOffers holds that an answer which lacks a word, or has one that does not belong there, is refused.
func TestOffers(t *testing.T) {
	for _, c := range []struct {
		name, shell, line, out string
		want                   []string
		ok                     bool
	}{
		{"all", "bash", "coregate ver", "verify   (Verify)\nversion  (Print)\n", []string{"verify", "version"}, true},
		{"one is missing", "bash", "coregate ver", "verify\n", []string{"verify", "version"}, false},
		{"a part of a word", "fish", "coregate verify --la", "--lanes\n", []string{"--lane"}, false},
		{"another command", "fish", "coregate ver", "judge\nverify\nversion\n", []string{"verify", "version"}, false},
		{"nothing", "zsh", "coregate ver", "\r\ncoregate ver\a\a", []string{"verify", "version"}, false},
		{"typed into the line", "zsh", "coregate explain CANARY_SIG", "coregate explain CANARY_SIGNAL \r\nDONE", []string{"CANARY_SIGNAL"}, true},
	} {
		if got := offers(c.shell, c.line, c.out, c.want); got != c.ok {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// TestMissing holds that a program which is not there is named with its package, and nothing passes.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out, errs bytes.Buffer
	if code := run(t.Context(), &out, &errs); code != 2 || !strings.Contains(errs.String(), "install the package") {
		t.Errorf("exit %d, %s%s", code, out.String(), errs.String())
	}
}
