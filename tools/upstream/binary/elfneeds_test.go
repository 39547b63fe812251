package binary

import (
	"slices"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

func TestNewestVersions(t *testing.T) {
	got := newestOf([]Need{
		{"libstdc++.so.6", "GLIBCXX_3.4.9"}, {"libstdc++.so.6", "GLIBCXX_3.4.30"}, {"libstdc++.so.6", "CXXABI_1.3"}, {"libstdc++.so.6", "GLIBCXX_3.4"},
		{"libc.so.6", "GLIBC_2.9"}, {"libc.so.6", "GLIBC_2.38"}, {"libc.so.6", "GLIBC_2.2.5"}, {"libc.so.6", "unversioned"},
		// What glibc asks of a program with packed relocations hides no number.
		{"libc.so.6", "GLIBC_ABI_DT_RELR"}, {"libc.so.6", "GLIBC_PRIVATE"},
	})
	want := []string{"libc.so.6 GLIBC_2.38", "libc.so.6 GLIBC_ABI_DT_RELR", "libc.so.6 GLIBC_PRIVATE", "libstdc++.so.6 CXXABI_1.3", "libstdc++.so.6 GLIBCXX_3.4.30"}
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

// What the machine lacks is asked of a program for it alone.
func TestCheckLibraries(t *testing.T) {
	lacking := func(*Identity, string) []Lack { return []Lack{{"libc.so.6 with GLIBC_2.38", "GLIBC_2.34 at most"}} }
	id := &Identity{Format: "elf", OS: "linux", Arch: "x86_64", CLI: true}
	if got := Check("cli", id, Want{OS: "linux", Arch: "x86_64", Lacking: lacking}); len(got) != 1 || got[0].Code != reason.BinaryLibraryMissing || got[0].Expected != "libc.so.6 with GLIBC_2.38" {
		t.Errorf("%v", got)
	}
	if got := Check("cli", id, Want{OS: "linux", Arch: "arm64", Lacking: lacking}); len(got) != 1 || got[0].Code != reason.BinaryPlatform {
		t.Errorf("of another machine: %v", got)
	}
}
