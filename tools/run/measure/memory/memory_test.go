package memory

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"testing"
	"testing/fstest"
	"time"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

const meminfo = "MemTotal:       24683892 kB\nMemFree:        21363456 kB\nMemAvailable:   23301120 kB\n"

// TestLinuxRoom holds that the least of the machine's memory and of every control group above the process counts, in both
// versions, also where the hierarchy is mounted from a group on, as in a container.
func TestLinuxRoom(t *testing.T) {
	const v1Mount = "30 25 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
	const v2Mount = "30 25 0:26 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n"
	for name, c := range map[string]struct {
		files       fstest.MapFS
		left, limit int64
		source      string
	}{
		"no groups": {fstest.MapFS{}, 23301120 << 10, 24683892 << 10, "MemAvailable"},
		"version 1, its own": {fstest.MapFS{
			"proc/self/cgroup": file("4:memory:/a/b\n0::/\n"), "proc/self/mountinfo": file(v1Mount),
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": file("1000000000\n"), "sys/fs/cgroup/memory/a/b/memory.usage_in_bytes": file("600000000\n"),
			"sys/fs/cgroup/memory/a/b/memory.stat":       file("cache 5\ntotal_inactive_file 100000000\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n"), "sys/fs/cgroup/memory/memory.usage_in_bytes": file("1\n"),
		}, 500000000, 1000000000, "cgroup"},
		"version 2, one above": {fstest.MapFS{
			"proc/self/cgroup": file("0::/a/b\n"), "proc/self/mountinfo": file(v2Mount),
			"sys/fs/cgroup/a/b/memory.max": file("max\n"), "sys/fs/cgroup/a/b/memory.current": file("5\n"),
			"sys/fs/cgroup/a/memory.max": file("2000000000\n"), "sys/fs/cgroup/a/memory.current": file("1999999999\n"), "sys/fs/cgroup/a/memory.stat": file("inactive_file 0\n"),
		}, 1, 2000000000, "cgroup"},
		"version 2 in a container": {fstest.MapFS{
			"proc/self/cgroup": file("0::/pod/x\n"), "proc/self/mountinfo": file("30 25 0:26 /pod /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
			"sys/fs/cgroup/x/memory.max": file("3000000000\n"), "sys/fs/cgroup/x/memory.current": file("1000000000\n"),
		}, 2000000000, 3000000000, "cgroup"},
		"a limit above the machine": {fstest.MapFS{
			"proc/self/cgroup": file("0::/\n"), "proc/self/mountinfo": file(v2Mount),
			"sys/fs/cgroup/memory.max": file("900000000000\n"), "sys/fs/cgroup/memory.current": file("0\n"),
		}, 23301120 << 10, 24683892 << 10, "MemAvailable"},
		"usage above the limit": {fstest.MapFS{
			"proc/self/cgroup": file("0::/\n"), "proc/self/mountinfo": file(v2Mount),
			"sys/fs/cgroup/memory.max": file("1000\n"), "sys/fs/cgroup/memory.current": file("4000\n"),
		}, 0, 1000, "cgroup"},
	} {
		c.files["proc/meminfo"] = file(meminfo)
		r := linuxRoom(c.files)
		if r.Bytes == nil || *r.Bytes != c.left || *r.LimitBytes != c.limit || r.Source != c.source {
			t.Errorf("%s: %v of %v from %s, want %d of %d from %s", name, ShowMaybe(r.Bytes), ShowMaybe(r.LimitBytes), r.Source, c.left, c.limit, c.source)
		}
		if measured := c.files["proc/self/cgroup"] != nil; r.Measured != measured {
			t.Errorf("%s: measured %v, want %v", name, r.Measured, measured)
		}
	}
	if r := linuxRoom(fstest.MapFS{"proc/meminfo": file("MemFree: 5 kB\n")}); r.Bytes != nil || r.Measured || r.Source != "unknown" {
		t.Errorf("without MemAvailable: %+v, want unknown", r)
	}
}

// TestVMStat reads outputs of two machines.
func TestVMStat(t *testing.T) {
	for name, pages := range map[string]int64{"vm_stat-m4max.txt": 3174400 + 37587 + 2775337, "vm_stat-swapping.txt": 11887 + 102040 + 363803} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := parseVMStat(string(text)); !ok || got != pages*16384 {
			t.Errorf("%s: %d, %v, want %d", name, got, ok, pages*16384)
		}
	}
	for _, bad := range []string{"", "Pages free: 5.\n", "(page size of 16384 bytes)\nPages free: 5.\nPages inactive: 5.\n", "(page size of 0 bytes)\nPages free: 1.\nPages inactive: 1.\nPages speculative: 1.\n"} {
		if got, ok := parseVMStat(bad); ok {
			t.Errorf("%q: %d, want nothing", bad, got)
		}
	}
}

// TestDarwinRoom holds that a live reading is taken as it is, and that without one the machine's memory gives a guess that says it is one.
func TestDarwinRoom(t *testing.T) {
	text, err := os.ReadFile("testdata/vm_stat-swapping.txt")
	if err != nil {
		t.Fatal(err)
	}
	const live, gib = (11887 + 102040 + 363803) * 16384, 1 << 30
	for name, c := range map[string]struct {
		vmStat, memsize string
		bytes, limit    int64 // below zero: not known
		source          string
		measured        bool
	}{
		"both":                          {string(text), "17179869184\n", live, 15 * gib, "vm_stat", true},
		"a machine smaller than live":   {string(text), "2147483648", live, gib, "vm_stat", true},
		"no size":                       {string(text), "", live, -1, "vm_stat", true},
		"no live reading":               {"", "17179869184\n", 15*gib - 512*MiB, 15 * gib, "hw.memsize", false},
		"a reading that is cut":         {string(text[:60]), "8589934592", 7*gib - 512*MiB, 7 * gib, "hw.memsize", false},
		"less than what is to spare":    {"", "1342177280", 0, 256 * MiB, "hw.memsize", false},
		"no more than the system's GiB": {"", "1073741824", -1, -1, "unknown", false},
		"a size that is no number":      {"", "hw.memsize: 17179869184", -1, -1, "unknown", false},
		"a size that is negative":       {"", "-17179869184", -1, -1, "unknown", false},
		"nothing":                       {"", "", -1, -1, "unknown", false},
	} {
		r := darwinRoom(c.vmStat, c.memsize)
		for what, side := range map[string]struct {
			got  *int64
			want int64
		}{"available": {r.Bytes, c.bytes}, "limit": {r.LimitBytes, c.limit}} {
			if (side.got == nil) != (side.want < 0) || side.got != nil && *side.got != side.want {
				t.Errorf("%s: %s %s, want %d bytes", name, what, ShowMaybe(side.got), side.want)
			}
		}
		if r.Source != c.source || r.Measured != c.measured {
			t.Errorf("%s: source %s, measured %v, want %s, %v", name, r.Source, r.Measured, c.source, c.measured)
		}
	}
}

func TestDarwinProcess(t *testing.T) {
	if got, ok := parseTopMem("Processes: 412 total\nPID    MEM\n4711   1234M+\n", 4711); !ok || got != 1234<<20 {
		t.Errorf("top: %d, %v", got, ok)
	}
	if got, ok := parseTopMem("PID    MEM\n4711*  2.5G\n", 4711); !ok || got != 5<<29 {
		t.Errorf("top: %d, %v", got, ok)
	}
	for _, bad := range []string{"", "PID MEM\n4712 5M\n", "PID MEM\n4711 5\n", "PID MEM\n4711 -5M\n"} {
		if got, ok := parseTopMem(bad, 4711); ok {
			t.Errorf("%q: %d, want nothing", bad, got)
		}
	}
	group := parsePsGroup("  100   100  2048\n  101   100  1024\n  102   102  9999\n oops\n", 100)
	if len(group) != 2 || group[100] != 2048<<10 || group[101] != 1024<<10 {
		t.Errorf("ps: %v", group)
	}
	resident, footprint := parseTime("        1.23 real         0.50 user         0.11 sys\n           225783808  maximum resident set size\n                   0  average shared memory size\n           183980032  peak memory footprint\n")
	if resident == nil || *resident != 225783808 || footprint == nil || *footprint != 183980032 {
		t.Errorf("time: %v, %v", ShowMaybe(resident), ShowMaybe(footprint))
	}
}

func TestStatus(t *testing.T) {
	p, ok := parseStatus("Name:\twhisper-cli\nVmHWM:\t  150000 kB\nVmRSS:\t  140000 kB\nRssAnon:\t  100000 kB\nRssFile:\t   39000 kB\nRssShmem:\t    1000 kB\nVmSwap:\t     500 kB\n")
	if !ok || p.Footprint != 101500<<10 || p.Resident != 140000<<10 || p.PeakResident != 150000<<10 {
		t.Errorf("%+v, %v", p, ok)
	}
	if _, ok := parseStatus("Name:\tzombie\nState:\tZ (zombie)\n"); ok {
		t.Error("a zombie has memory")
	}
}

// TestRecover holds the four answers and what lies just on either side of the least change.
func TestRecover(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for _, c := range []struct {
		before, after *int64
		want          Recovery
	}{
		{n(100 * MiB), n(132 * MiB), Recovered}, {n(100 * MiB), n(132*MiB - 1), Unchanged}, {n(100 * MiB), n(68*MiB + 1), Unchanged},
		{n(100 * MiB), n(68 * MiB), Increased}, {nil, n(1), Unavailable}, {n(1), nil, Unavailable}, {n(-1), n(1), Unavailable},
	} {
		if got := Recover(c.before, c.after); got != c.want {
			t.Errorf("%s to %s: %s, want %s", ShowMaybe(c.before), ShowMaybe(c.after), got, c.want)
		}
	}
}

func TestSumSaturates(t *testing.T) {
	if got := Sum(math.MaxInt64-1, 5); got != math.MaxInt64 {
		t.Errorf("%d, want the largest number", got)
	}
}

// TestGroup follows a real process and what it starts: the memory of both counts, and nothing is left after its end.
func TestGroup(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sh -c 'x=$(head -c 30000000 /dev/zero | tr \"\\\\0\" a); read y' & read z; kill $!")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := Watch(cmd.Process.Pid, time.Now())
	var p Process
	for range 6000 {
		var ok bool
		if p, ok = Group(cmd.Process.Pid); ok && p.Footprint > 28<<20 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if p.Footprint < 28<<20 || p.Resident < p.Footprint || p.PeakResident < p.Resident {
		t.Errorf("%+v, want the child's 30 MB in the sum", p)
	}
	r := s.Now()
	fmt.Fprintln(stdin)
	if err := cmd.Wait(); err != nil {
		t.Log(err)
	}
	f := s.Stop()
	if _, ok := Group(cmd.Process.Pid); ok {
		t.Error("an ended process has memory")
	}
	if f.PeakFootprint == nil || *f.PeakFootprint < *r.FootprintBytes || len(f.Series) == 0 {
		t.Errorf("followed %d readings with a peak of %s, want at least %s", len(f.Series), ShowMaybe(f.PeakFootprint), ShowMaybe(r.FootprintBytes))
	}
}

func FuzzTexts(f *testing.F) {
	f.Add(meminfo)
	f.Add("Mach Virtual Memory Statistics: (page size of 16384 bytes)\nPages free: 5.\n")
	f.Fuzz(func(t *testing.T, text string) {
		if v, ok := parseVMStat(text); ok && v < 0 {
			t.Errorf("%d", v)
		}
		linuxRoom(fstest.MapFS{"proc/meminfo": file(text), "proc/self/cgroup": file(text), "proc/self/mountinfo": file(text)})
		parseStatus(text)
		parseTopMem(text, 1)
		parsePsGroup(text, 1)
	})
}
