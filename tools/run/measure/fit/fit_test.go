package fit

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/measuretest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
)

func p(v int64) *int64 { return &v }

const mib = int64(memory.MiB)

// TestGates holds both gates at their bounds, and the three answers.
func TestGates(t *testing.T) {
	budget := Budget{AvailableBytes: p(1000 * mib), FootprintBytes: p(10 * mib), Bytes: p(1010 * mib), LimitBytes: p(1500 * mib), Source: "MemAvailable", Measured: true}
	need := func(footprint, resident, largest int64, measured bool) Need {
		return Need{Stage: Run, FootprintBytes: footprint * mib, ResidentBytes: resident * mib, LargestBytes: largest * mib, Measured: measured}
	}
	for name, c := range map[string]struct {
		need   Need
		budget Budget
		status Status
		gate   int
		over   int64
		codes  []string
	}{
		"fits, to the byte":                   {need(808, 1308, 100, true), budget, Fits, 0, 0, nil},
		"gate 1":                              {need(809, 809, 100, true), budget, DoesNotFit, 1, 1, []string{reason.FitExceeded}},
		"gate 2: mapped files count":          {need(500, 1309, 100, true), budget, DoesNotFit, 2, 1, []string{reason.FitExceeded}},
		"one allocation":                      {need(500, 500, 1001, true), budget, DoesNotFit, 1, 1, []string{reason.FitExceeded}},
		"a lower bound never fits":            {need(1, 1, 1, false), budget, CannotTell, 0, 0, []string{reason.FitUnknown}},
		"a lower bound can fail":              {need(900, 900, 1, false), budget, DoesNotFit, 1, 92, []string{reason.FitExceeded}},
		"nothing readable":                    {need(1, 1, 1, true), Budget{Source: "unknown"}, CannotTell, 0, 0, []string{reason.FitUnknown}},
		"no limit readable":                   {need(1, 1, 1, true), Budget{AvailableBytes: p(1000 * mib), Source: "x", Measured: true}, CannotTell, 0, 0, []string{reason.FitUnknown}},
		"a guess says that it is one":         {need(1, 1, 1, true), Budget{AvailableBytes: p(1000 * mib), LimitBytes: p(1500 * mib), Source: "MemAvailable"}, Fits, 0, 0, []string{reason.FitGuessed}},
		"sizes that would overflow are large": {Need{Stage: Run, FootprintBytes: 1<<63 - 1, Measured: true}, budget, DoesNotFit, 1, 1<<63 - 1 - 1000*mib, []string{reason.FitExceeded}},
	} {
		c.need.Stage = Run
		a := Assess(c.need, c.budget, 192*mib)
		over := c.over
		if over < 1<<40 {
			over *= mib
		}
		if a.Status != c.status || a.Gate != c.gate || a.OverBytes != over {
			t.Errorf("%s: %s, gate %d, %d too much; want %s, gate %d, %d", name, a.Status, a.Gate, a.OverBytes, c.status, c.gate, over)
		}
		var codes []string
		for _, r := range a.Reasons() {
			codes = append(codes, r.Code)
		}
		if !slices.Equal(codes, c.codes) {
			t.Errorf("%s: %v, want %v", name, codes, c.codes)
		}
		var refused *reason.Error
		if err := a.Refusal(); errors.As(err, &refused) != (c.status == DoesNotFit) {
			t.Errorf("%s: refusal %v", name, err)
		}
	}
}

// TestBudget holds that a live reading is never lowered by a table, and what macOS is left.
func TestBudget(t *testing.T) {
	room := memory.Room{Bytes: p(1000), LimitBytes: p(16<<30 - 1<<30), Source: "vm_stat", Measured: true}
	b := budget(room, p(24), "darwin")
	if *b.AvailableBytes != 1000 || *b.Bytes != 1024 || *b.LimitBytes != 10<<30 || !b.Measured {
		t.Errorf("%+v", b)
	}
	small := budget(memory.Room{Bytes: p(1000), LimitBytes: p(3 << 30)}, p(24), "darwin")
	if *small.LimitBytes != 0 {
		t.Errorf("a Mac of 4 GB has a limit of %d, want none left", *small.LimitBytes)
	}
	if b := budget(memory.Room{Bytes: p(5), LimitBytes: p(9)}, nil, "linux"); b.Bytes != nil || *b.LimitBytes != 9 {
		t.Errorf("%+v, want no budget without a footprint", b)
	}
	if now := Now(); now.AvailableBytes == nil || now.FootprintBytes == nil || *now.Bytes != *now.AvailableBytes+*now.FootprintBytes {
		t.Errorf("this machine's budget is %+v", now)
	}
}

// TestNowIsReadAnew holds that nothing of a budget is kept: what this process took since is in the next one.
func TestNowIsReadAnew(t *testing.T) {
	before := Now()
	// Beside Go's own memory, some of which may come back meanwhile.
	taken, err := syscall.Mmap(-1, 0, int(256*mib), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(taken); i += 4096 {
		taken[i] = 1
	}
	after := Now()
	if err := syscall.Munmap(taken); err != nil {
		t.Error(err)
	}
	if grown := *after.FootprintBytes - *before.FootprintBytes; grown < 128*mib {
		t.Errorf("the budget's footprint grew by %s after 256 MiB were taken", memory.Show(grown))
	}
}

func tinyHeader() []byte {
	var b []byte
	for _, v := range []uint32{0x67676d6c, 51864, 1500, 384, 6, 4, 448, 384, 6, 4, 80, 1} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func writeHeader(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ggml.bin")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLowerBound holds the bound of tiny.en under what the runtime prints for it: "model size = 77.11 MB", "kv self size =
// 3.15 MB", "kv cross size = 9.44 MB", "kv pad size = 2.36 MB".
func TestLowerBound(t *testing.T) {
	h, err := ReadHeader(writeHeader(t, tinyHeader()))
	if err != nil {
		t.Fatal(err)
	}
	n := LowerBound(h, Run)
	if printed := int64(92.06 * 1e6); n.FootprintBytes > printed || n.FootprintBytes < printed*8/10 {
		t.Errorf("tiny.en allocates %d bytes at least, and the runtime prints %d", n.FootprintBytes, printed)
	}
	if n.Measured || n.LargestBytes < Scores(h) || Scores(h) != 6*1500*1500*4 {
		t.Errorf("%+v, scores %d", n, Scores(h))
	}
	for name, data := range map[string][]byte{"short": tinyHeader()[:40], "other": append([]byte("GGUF"), tinyHeader()[4:]...), "zero layers": slices.Concat(tinyHeader()[:20], make([]byte, 4), tinyHeader()[24:])} {
		if _, err := ReadHeader(writeHeader(t, data)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestMeasured holds that a peak is of one encoder, one set of units and one build of the system, and of no other.
func TestMeasured(t *testing.T) {
	s := measuretest.Sample(1)
	a := s.Arms[0]
	asked := Asked{ModelSHA256: a.Artifact.ModelSHA256, EncoderDigest: a.Artifact.EncoderDigest, Units: "all", OSBuild: s.Machine.OSBuild, Lane: s.Lane, Stage: Run}
	n, ok := FromSubmissions([]*measure.Submission{s}, asked)
	if !ok || !n.Measured || n.FootprintBytes != 150*mib || n.ResidentBytes != 200*mib || n.From != s.Session {
		t.Errorf("%+v, %v", n, ok)
	}
	for name, change := range map[string]func(*Asked){
		"another build":   func(a *Asked) { a.OSBuild = "25G1" },
		"other units":     func(a *Asked) { a.Units = "cpu" },
		"another encoder": func(a *Asked) { a.EncoderDigest = measuretest.Digest("9") },
		"another model":   func(a *Asked) { a.ModelSHA256 = measuretest.Digest("9") },
		"another lane":    func(a *Asked) { a.Lane = "physical" },
		"coremlc":         func(a *Asked) { a.Stage = Compile },
	} {
		other := asked
		change(&other)
		if n, ok := FromSubmissions([]*measure.Submission{s}, other); ok || n.Measured {
			t.Errorf("%s: %+v is taken", name, n)
		}
	}
	first := asked
	first.Stage = FirstLoad
	s.Arms[0].Runs[0].Memory.PeakFootprintBytes = p(900 * mib)
	if n, _ := FromSubmissions([]*measure.Submission{s}, first); n.FootprintBytes != 900*mib {
		t.Errorf("a first load needs %d, want the cold run's peak", n.FootprintBytes)
	}
	if got := Reserve([]*measure.Submission{s}, asked); got != 750*mib {
		t.Errorf("reserve %d, want what the largest peak lies above the median", got)
	}
	if got := Reserve(nil, asked); got != DefaultReserve {
		t.Errorf("reserve %d without a peak, want %d", got, DefaultReserve)
	}
	if got := Reserve([]*measure.Submission{measuretest.Sample(1)}, asked); got != leastReserve {
		t.Errorf("reserve %d with even peaks, want %d", got, leastReserve)
	}
}
