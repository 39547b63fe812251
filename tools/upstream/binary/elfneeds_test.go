package binary

import (
	"debug/elf"
	"slices"
	"testing"
)

func TestNewestVersions(t *testing.T) {
	needs := func(library string, versions ...string) (n elf.DynamicVersionNeed) {
		n.Name = library
		for _, v := range versions {
			n.Needs = append(n.Needs, elf.DynamicVersionDep{Dep: v})
		}
		return n
	}
	got := newestOf([]elf.DynamicVersionNeed{
		needs("libstdc++.so.6", "GLIBCXX_3.4.9", "GLIBCXX_3.4.30", "CXXABI_1.3", "GLIBCXX_3.4"),
		needs("libc.so.6", "GLIBC_2.9", "GLIBC_2.38", "GLIBC_2.2.5", "unversioned"),
	})
	want := []string{"libc.so.6 GLIBC_2.38", "libstdc++.so.6 CXXABI_1.3", "libstdc++.so.6 GLIBCXX_3.4.30"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"2.9", "2.38", true}, {"2.38", "2.9", false}, {"2.2.5", "2.2", false}, {"2.2", "2.2.5", true}, {"3.4.30", "3.4.9", false}, {"1.3", "1.3", false},
		{"PRIVATE", "2.2", false}, {"2.2", "PRIVATE", true},
	} {
		if got := older(c.a, c.b); got != c.want {
			t.Errorf("%s is older than %s: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
