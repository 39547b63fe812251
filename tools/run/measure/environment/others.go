package environment

import (
	"path"
	"slices"
)

func baseName(s string) string { return path.Base(s) }

// strangers lists the names of programs of ours that neither are self nor descend from it, sorted, each once.
func strangers(parents map[int]int, names map[int]string, self int) []string {
	out := []string{}
	for pid, name := range names {
		// The kernel cuts names on Linux at 15 bytes; ours are shorter.
		if slices.Contains(ours, name) && !descends(parents, pid, self) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func descends(parents map[int]int, pid, from int) bool {
	// A cycle cannot be, but a list that was read while processes came and went is not trusted to have none.
	for range len(parents) + 1 {
		if pid == from {
			return true
		}
		next, ok := parents[pid]
		if !ok || next == pid || next <= 0 {
			return false
		}
		pid = next
	}
	return false
}
