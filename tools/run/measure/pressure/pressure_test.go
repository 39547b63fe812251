package pressure

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/fit"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
)

const mib = int64(memory.MiB)

func p(v int64) *int64 { return &v }

// TestLevel holds the order (heat, what is left, the share in use) and each bound from both sides.
func TestLevel(t *testing.T) {
	const plenty = 100 << 10 // MiB
	for name, c := range map[string]struct {
		thermal                string
		available, used, total int64 // MiB; below zero: not known
		want                   Level
	}{
		"idle":                            {"nominal", plenty, 10, plenty, Comfortable},
		"critical heat, memory free":      {"critical", plenty, 10, plenty, Critical},
		"serious heat, memory free":       {"serious", plenty, 10, plenty, High},
		"serious heat, no memory":         {"serious", 1, 10, plenty, High},
		"fair heat decides nothing":       {"fair", plenty, 10, plenty, Comfortable},
		"unknown heat decides nothing":    {"unknown", plenty, 10, plenty, Comfortable},
		"heat is enough":                  {"critical", -1, -1, -1, Critical},
		"255 MiB":                         {"nominal", 255, 10, plenty, Critical},
		"256 MiB":                         {"nominal", 256, 10, plenty, High},
		"511 MiB":                         {"nominal", 511, 10, plenty, High},
		"512 MiB":                         {"nominal", 512, 10, plenty, Elevated},
		"1023 MiB":                        {"nominal", 1023, 10, plenty, Elevated},
		"1024 MiB":                        {"nominal", 1024, 10, plenty, Comfortable},
		"below 70 per cent":               {"nominal", 5000, 6999, 10512, Comfortable},
		"70 per cent":                     {"nominal", 5000, 7000, 10512, Elevated},
		"below 88 per cent":               {"nominal", 5000, 8799, 10512, Elevated},
		"88 per cent":                     {"nominal", 5000, 8800, 10512, High},
		"below 98 per cent":               {"nominal", 5000, 9799, 10512, High},
		"98 per cent":                     {"nominal", 5000, 9800, 10512, Critical},
		"a budget smaller than its spare": {"nominal", 5000, 0, 512, Critical},
		"nothing known":                   {"unknown", -1, -1, -1, Unknown},
		"no footprint known":              {"nominal", 5000, -1, 10512, Unknown},
		"no budget known":                 {"nominal", 5000, 5, -1, Unknown},
		"little is left, budget unknown":  {"nominal", 5, -1, -1, Critical},
	} {
		known := func(v int64) *int64 {
			if v < 0 {
				return nil
			}
			return p(v * mib)
		}
		s := Snapshot{Strain: environment.Strain{Thermal: c.thermal}, AvailableBytes: known(c.available), FootprintBytes: known(c.used), BudgetBytes: known(c.total)}
		if got := s.Level(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestSnapshot holds that a snapshot says when it was taken, in UTC, and what was read then.
func TestSnapshot(t *testing.T) {
	at := time.Date(2026, 8, 1, 13, 0, 5, 9, time.FixedZone("CEST", 7200))
	s := snapshot(at, environment.Strain{Thermal: "fair", LowPower: "off"}, fit.Budget{AvailableBytes: p(7), FootprintBytes: p(5), Bytes: p(12)})
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"at":"2026-08-01T11:00:05Z","thermal":"fair","low_power":"off","available_bytes":7,"footprint_bytes":5,"budget_bytes":12}`
	if string(data) != want {
		t.Errorf("%s, want %s", data, want)
	}
	if now := Now(); now.AvailableBytes == nil || now.Level() == Unknown {
		t.Errorf("this machine is %+v, level %s", now, now.Level())
	}
}

// TestThreads holds what limits threads, and that an unknown state limits nothing but the processors do.
func TestThreads(t *testing.T) {
	for name, c := range map[string]struct {
		processors        int
		thermal, lowPower string
		keep              Spare
		want              int
	}{
		"one is kept":                    {8, "nominal", "off", KeepOne, 7},
		"none is kept":                   {8, "nominal", "off", KeepNone, unlimited},
		"one processor":                  {1, "nominal", "off", KeepOne, 1},
		"two processors":                 {2, "nominal", "off", KeepOne, 1},
		"low power":                      {8, "nominal", "on", KeepOne, 4},
		"low power on a worker":          {8, "nominal", "on", KeepNone, 4},
		"serious heat":                   {8, "serious", "off", KeepOne, 4},
		"critical heat":                  {8, "critical", "off", KeepOne, 2},
		"critical heat and low power":    {12, "critical", "on", KeepNone, 4},
		"critical heat, two processors":  {2, "critical", "off", KeepNone, 1},
		"fair heat":                      {8, "fair", "off", KeepOne, 7},
		"unknown":                        {8, "unknown", "unknown", KeepNone, unlimited},
		"three processors, low power":    {3, "nominal", "on", KeepOne, 1},
		"two processors, low power, all": {2, "nominal", "on", KeepNone, 1},
	} {
		s := environment.Strain{Thermal: c.thermal, LowPower: c.lowPower}
		if got := MostThreads(c.processors, s, c.keep); got != c.want {
			t.Errorf("%s: at most %d, want %d", name, got, c.want)
		}
		if err := CheckThreads(c.want, c.processors, s, c.keep); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var refused *reason.Error
		if err := CheckThreads(c.want+1, c.processors, s, c.keep); !errors.As(err, &refused) || refused.Code != reason.ThreadsExceed || refused.Where != "threads" {
			t.Errorf("%s: %v, want %s", name, err, reason.ThreadsExceed)
		}
	}
	for thermal, want := range map[string]bool{"nominal": true, "fair": true, "unknown": true, "serious": false, "critical": false} {
		if WarmUp(environment.Strain{Thermal: thermal}) != want {
			t.Errorf("thermal state %s: warm-up %v, want %v", thermal, !want, want)
		}
	}
}
