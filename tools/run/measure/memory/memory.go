// Package memory reads how much memory there is and how much a program uses, in the two figures that differ: its footprint,
// which is what it wrote itself (dirty pages), and its resident set, which has the files that it maps as well.
//
// The footprint says what running allocates, the resident set how much memory is needed; neither replaces the other, so a
// [Reading] has both, labelled. On Linux the footprint is RssAnon + RssShmem + VmSwap of /proc/PID/status; on macOS it is the
// task's phys_footprint, as top prints it. Memory that another process holds on a program's behalf, such as Core ML's
// daemons on macOS, is in neither.
package memory

import (
	"fmt"
	"math"
)

// MiB is 2^20 bytes.
const MiB = 1 << 20

// Reading is memory at one time; null where the system does not say.
type Reading struct {
	// Seconds since the program started.
	Seconds float64 `json:"seconds"`
	// AvailableBytes is what could still be allocated on the machine, or in the control group.
	AvailableBytes *int64 `json:"available_bytes"`
	// FootprintBytes and ResidentBytes are of the program and what it started.
	FootprintBytes *int64 `json:"footprint_bytes"`
	ResidentBytes  *int64 `json:"resident_bytes"`
}

// Room is how much memory can still be allocated, with the limit that holds and where both come from.
type Room struct {
	// Bytes can still be allocated; nil if the system does not say.
	Bytes *int64 `json:"bytes"`
	// LimitBytes is the whole of what Bytes is a part of: the control group's limit, or the machine's memory.
	LimitBytes *int64 `json:"limit_bytes"`
	// Source is cgroup, MemAvailable, vm_stat, hw.memsize or unknown.
	Source string `json:"source"`
	// Measured is true for a reading of the machine as it is, false for a guess.
	Measured bool `json:"measured"`
}

// Process is what one process uses.
type Process struct {
	Footprint, Resident, PeakResident int64
}

// Recovery says whether memory came back after a program ended.
type Recovery string

// The four answers. An increase has a name of its own: taken for unchanged, nobody would look into it.
const (
	Recovered   Recovery = "recovered"
	Unchanged   Recovery = "unchanged"
	Increased   Recovery = "increased"
	Unavailable Recovery = "unavailable"
)

const (
	// SettleMilliseconds is how long memory is given to come back before it is read again.
	SettleMilliseconds = 500
	// RecoveryBytes is the least change that counts.
	RecoveryBytes = 32 * MiB
)

// Recover compares the memory that was available while a program still ran with what is available after it ended and the
// machine settled.
func Recover(before, after *int64) Recovery {
	if before == nil || after == nil || *before < 0 || *after < 0 {
		return Unavailable
	}
	switch released := *after - *before; {
	case released >= RecoveryBytes:
		return Recovered
	case released <= -RecoveryBytes:
		return Increased
	}
	return Unchanged
}

// spareBytes is what a conservative budget leaves for what nobody counted.
const spareBytes = 512 * MiB

// Conservative is a budget less what is to spare, and never below zero: who plans up to the limit reaches it.
func Conservative(bytes int64) int64 { return max(0, bytes-spareBytes) }

// Sum adds sizes and stops at the largest number instead of turning negative.
func Sum(sizes ...int64) int64 {
	var total int64
	for _, s := range sizes {
		if s > 0 && total > math.MaxInt64-s {
			return math.MaxInt64
		}
		total += s
	}
	return total
}

// Show writes bytes for people, in MiB.
func Show(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/MiB) }

// ShowMaybe is [Show], or "unknown" for nil.
func ShowMaybe(bytes *int64) string {
	if bytes == nil {
		return "unknown"
	}
	return Show(*bytes)
}
