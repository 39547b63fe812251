package binary

import (
	"cmp"
	"debug/elf"
	"slices"
	"strconv"
	"strings"
)

// versionNeeds are the newest versions of each library's interfaces that a program asks for, as "libc.so.6 GLIBC_2.38": an
// older library lets the loader refuse it. They are read from the sections, which the loader does not need, and so are
// shown and never judged.
func versionNeeds(f *elf.File) []string {
	needs, err := f.DynamicVersionNeeds()
	if err != nil {
		return []string{}
	}
	return newestOf(needs)
}

// newestOf names the newest version of each family (GLIBC, GLIBCXX, CXXABI, …) of each library.
func newestOf(needs []elf.DynamicVersionNeed) []string {
	out := []string{}
	for _, n := range needs {
		newest := map[string]string{}
		for _, v := range n.Needs {
			family, number, ok := strings.Cut(v.Dep, "_")
			if !ok {
				continue
			}
			if have, known := newest[family]; !known || older(have, number) {
				newest[family] = number
			}
		}
		for family, number := range newest {
			out = append(out, n.Name+" "+family+"_"+number)
		}
	}
	slices.Sort(out)
	return out
}

// older compares two versions part by part, as numbers where both are.
func older(a, b string) bool {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		m, errX := strconv.Atoi(x)
		n, errY := strconv.Atoi(y)
		if errX != nil || errY != nil {
			return strings.Compare(x, y)
		}
		return cmp.Compare(m, n)
	}) < 0
}
