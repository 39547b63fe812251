// Package pressure says how hard a machine is pressed at one time, and what it may be asked for then.
//
// Heat counts first: a hot machine is a small one, however much memory is free. Then what is left of the memory counts in
// absolute terms, since 256 MiB are little on any machine. Then the share of the budget that is in use counts.
// Levels and limits of threads are those of a shipping app, Noema (clauses S2-030 and S2-049 in docs/clauses.md).
package pressure

import (
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/fit"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
)

// Level is how hard a machine is pressed.
type Level string

// The levels, and what is said where nothing that counts can be read.
const (
	Comfortable Level = "comfortable"
	Elevated    Level = "elevated"
	High        Level = "high"
	Critical    Level = "critical"
	Unknown     Level = "unknown"
)

// Snapshot is a machine at one time. It is a value: two of them can be compared.
type Snapshot struct {
	// At is when, RFC 3339 in UTC.
	At string `json:"at"`
	environment.Strain
	// AvailableBytes can still be allocated, FootprintBytes is what this process and what it started have, and BudgetBytes
	// is their sum; null where the system does not say.
	AvailableBytes *int64 `json:"available_bytes"`
	FootprintBytes *int64 `json:"footprint_bytes"`
	BudgetBytes    *int64 `json:"budget_bytes"`
}

// Now reads a snapshot.
func Now() Snapshot { return snapshot(time.Now(), Strained(), fit.Now()) }

// Strained reads what limits threads: heat and low-power mode.
func Strained() environment.Strain { return environment.CaptureStrain() }

func snapshot(at time.Time, s environment.Strain, b fit.Budget) Snapshot {
	return Snapshot{At: at.UTC().Format(time.RFC3339), Strain: s, AvailableBytes: b.AvailableBytes, FootprintBytes: b.FootprintBytes, BudgetBytes: b.Bytes}
}

// floors are the bytes that are left below which a level holds on any machine.
var floors = []struct {
	below int64
	level Level
}{{256 * memory.MiB, Critical}, {512 * memory.MiB, High}, {1024 * memory.MiB, Elevated}}

// shares are the shares of the conservative budget in use from which a level holds.
var shares = []struct {
	from  float64
	level Level
}{{0.98, Critical}, {0.88, High}, {0.70, Elevated}, {0, Comfortable}}

// Level is how hard the machine is pressed. It is [Unknown] only where neither heat nor memory decides.
func (s Snapshot) Level() Level {
	switch s.Thermal {
	case "critical":
		return Critical
	case "serious":
		return High
	}
	if s.AvailableBytes == nil {
		return Unknown
	}
	for _, f := range floors {
		if *s.AvailableBytes < f.below {
			return f.level
		}
	}
	if s.FootprintBytes == nil || s.BudgetBytes == nil {
		return Unknown
	}
	// A budget that is spent to the end has no room for what nobody counted.
	conservative := memory.Conservative(*s.BudgetBytes)
	if conservative == 0 {
		return Critical
	}
	used := float64(*s.FootprintBytes) / float64(conservative)
	for _, step := range shares {
		if used >= step.from {
			return step.level
		}
	}
	return Unknown
}
