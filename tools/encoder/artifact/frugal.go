package artifact

import (
	"math"
	"runtime/debug"
	"slices"
)

// What is inspected is large and dropped at once: collecting sooner costs little and bounds the memory.
const (
	// collectAt is by how many percent the memory may grow before garbage is collected.
	collectAt = 20
	// keepBelow is the memory that the pairing of weights that are not compressed is kept below, the program's own text aside.
	// Below 30 MB of it are in use at the largest published size; the collector gives the rest back before it takes more.
	keepBelow = 44 << 20
)

// frugal bounds the process's memory until what it gives is called. Compressed weights are in memory whole, so that no limit would hold for them.
func frugal(list []*weight) (restore func()) {
	limit := int64(math.MaxInt64)
	if !slices.ContainsFunc(list, func(w *weight) bool { return w.op != nil }) {
		limit = keepBelow
	}
	percent, before := debug.SetGCPercent(collectAt), debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, limit))
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(before)
	}
}
