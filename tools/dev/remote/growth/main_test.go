package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestWorkspace holds that every gate is there once, and bound by one release a package and one above.
func TestWorkspace(t *testing.T) {
	for n, packages := range map[int]int{1: 1, 25: 1, 26: 2, 500: 20} {
		files := workspace("/rules", n)
		gates, releases := 0, 0
		for name, text := range files {
			if strings.HasPrefix(name, "models_") {
				gates += strings.Count(text, "\nsmall_gate(")
				releases += strings.Count(text, "\ngate_release(")
			}
		}
		if gates != n || releases != packages || strings.Count(files["BUILD.bazel"], ":release\"") != packages {
			t.Errorf("%d gates: found %d in %d releases, and a root with\n%s", n, gates, releases, files["BUILD.bazel"])
		}
		for i := range n {
			if name := fmt.Sprintf("models_%03d/BUILD.bazel", i/perPackage); strings.Count(files[name], fmt.Sprintf("\":gate_%04d_receipt\"", i)) != 1 {
				t.Errorf("%d gates: gate %d is not released once", n, i)
			} else if strings.Count(files[name], fmt.Sprintf("\":gate_%04d_sound\"", i)) != 1 {
				t.Errorf("%d gates: gate %d is not tested once", n, i)
			}
		}
	}
}

func TestMedian(t *testing.T) {
	if got := median([]float64{3, 1, 2}); got != 2 {
		t.Errorf("median %v, want 2", got)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"--gates=0"}, {"--repeats=0"}, {"--gates=many"}, {"--gates=1,,2"}, {"--frob"}} {
		var stderr bytes.Buffer
		if code := run(args, &stderr, &stderr); code != 2 {
			t.Errorf("%v: exit %d, want 2", slices.Clone(args), code)
		}
	}
}
