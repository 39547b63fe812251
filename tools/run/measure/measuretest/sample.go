// Package measuretest makes submissions for tests: figures without a machine.
package measuretest

import (
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/ceiling"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
)

// Digest is a SHA-256 made of one digit.
func Digest(digit string) string { return strings.Repeat(digit, 64) }

// P is a pointer to a value.
func P[T any](v T) *T { return &v }

// Quiet is the state of a machine that passes the filter.
func Quiet() environment.State {
	return environment.State{At: "2026-12-01T00:00:00Z", Thermal: "nominal", LowPower: "off", PowerSource: "ac", BatteryState: "none", BusyShare: P(0.01), OurActions: []string{}}
}

// Sample is a burst session of arms a and b on a physical machine, with eight pairs, in which a takes the given share of b's time.
func Sample(share float64) *measure.Submission {
	p, err := measure.LoadProtocol(measure.DefaultProtocol)
	if err != nil {
		panic(err)
	}
	s := &measure.Submission{
		Schema: measure.Schema, Protocol: p.Ref, Mode: measure.Burst, Status: measure.Complete, StartedAt: "2026-12-01T00:00:00Z", Lane: "emulated", Control: "b",
		Machine: environment.Machine{ID: "0123456789abcdef", Hardware: "Mac16,10", Chip: "Apple M4", OS: "macOS 26.5.1", OSBuild: "25F80", Kernel: "25.5.0", VirtualMachine: "no", Cores: environment.Cores{Logical: 10}},
		Ceiling: ceiling.Ceiling{Units: "cpu", FLOPPerSecond: 1e11, BytesPerSecond: 1e10, Kernel: "test", Threads: 2, Margin: 2, BufferBytes: 1 << 20},
		Work:    measure.Work{AudioSHA256: Digest("a"), Language: "en", Threads: 2, Arguments: []string{"whisper-cli"}, Environment: map[string]string{"LC_ALL": "C"}, DeadlineSeconds: 900},
	}
	for i, name := range []string{"b", "a"} {
		s.Arms = append(s.Arms, measure.Arm{Name: name, Program: environment.Program{SHA256: Digest("c"), Flavour: "coreml", BuildMode: "release", Compiler: "clang"},
			Artifact: measure.Artifact{ModelSHA256: Digest("d"), EncoderDigest: Digest(fmt.Sprint(i)), EncoderBytes: 1000, Weights: "float32", Compute: "float32", Units: "all",
				Compression: []measure.Scheme{}, FLOP: P(1e10), Bytes: P(int64(1e8))}})
	}
	index := 0
	add := func(arm int, kind measure.Kind, pair int, encode float64) {
		if arm == 1 {
			encode *= share
		}
		s.Arms[arm].Runs = append(s.Arms[arm].Runs, Run(kind, index, pair, encode))
		index++
	}
	for _, kind := range []measure.Kind{measure.Cold, measure.WarmUp, measure.Warm, measure.Warm, measure.Warm} {
		encode := map[measure.Kind]float64{measure.Cold: 3, measure.WarmUp: 2, measure.Warm: 1}[kind]
		add(0, kind, 0, encode)
		add(1, kind, 0, encode)
	}
	for n := range 8 {
		add(n%2, measure.Paired, n+1, 1+0.001*float64(n))
		add(1-n%2, measure.Paired, n+1, 1+0.001*float64(n))
	}
	return Seal(s)
}

// Run is one run that ended well.
func Run(kind measure.Kind, index, pair int, encode float64) measure.Run {
	return measure.Run{
		Kind: kind, Index: index, Pair: pair, SecondsIn: float64(index), Before: Quiet(), After: Quiet(), OthersShare: P(0.01), PageCache: "kept", Exit: "code 0", WallSeconds: encode + 1,
		Timings: measure.Timings{LoadMS: 10, TotalMS: 1000 * encode, Encode: measure.Timing{MS: 1000 * encode, Runs: 1}, Decode: measure.Timing{MS: 500, Runs: 25}},
		Words:   measure.Words{Count: 22, SHA256: Digest("e")},
		Memory: measure.Memory{BeforeLoad: memory.Reading{}, AtLoad: &memory.Reading{Seconds: 0.1}, AfterWords: &memory.Reading{Seconds: 1}, Series: []memory.Reading{{Seconds: 0, ResidentBytes: P(int64(5)), FootprintBytes: P(int64(4))}, {Seconds: 1, ResidentBytes: P(int64(9)), FootprintBytes: P(int64(7))}},
			PeakResidentBytes: P(int64(200 << 20)), PeakFootprintBytes: P(int64(150 << 20)), LimitBytes: P(int64(16 << 30)), Overcommit: P(0.01), Recovery: memory.Recovered, OutOfProcess: "none"},
		Excluded: []string{},
	}
}

// Seal draws exclusions again and names the submission, after a test changed it.
func Seal(s *measure.Submission) *measure.Submission {
	p, err := measure.LoadProtocol(s.Protocol.Name)
	if err != nil {
		panic(err)
	}
	for i := range s.Arms {
		for j := range s.Arms[i].Runs {
			r := &s.Arms[i].Runs[j]
			r.Excluded = p.Excluded(s.Machine, s.Arms[i].Program, r)
		}
	}
	if _, err := measure.EncodeSubmission(s); err != nil {
		panic(err)
	}
	return s
}

// EachRun changes every run and seals the submission.
func EachRun(s *measure.Submission, change func(a *measure.Arm, r *measure.Run)) *measure.Submission {
	for i := range s.Arms {
		for j := range s.Arms[i].Runs {
			change(&s.Arms[i], &s.Arms[i].Runs[j])
		}
	}
	return Seal(s)
}
