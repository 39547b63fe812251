package environment

import (
	"os"
	"slices"
	"testing"
	"testing/fstest"
	"time"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestDarwinMachine reads what two Macs printed; what neither printed is unknown.
func TestDarwinMachine(t *testing.T) {
	var m Machine
	darwinMachine(&m, parseSysctl(read(t, "sysctl-m2pro.txt")))
	if m.Hardware != "Mac14,9" || m.Chip != "Apple M2 Pro" || *m.MemoryBytes != 17179869184 || m.Cores.Logical != 12 || *m.Cores.Performance != 8 || *m.Cores.Efficiency != 4 {
		t.Errorf("%+v", m)
	}
	if m.VirtualMachine != Unknown || m.OSBuild != Unknown || m.OS != Unknown {
		t.Errorf("what was not printed is %q, %q, %q, want unknown", m.VirtualMachine, m.OSBuild, m.OS)
	}
	m = Machine{}
	darwinMachine(&m, parseSysctl(read(t, "sysctl-m1pro.txt")+"kern.hv_vmm_present: 1\nkern.osversion: 25F80\nkern.osproductversion: 26.5.1\n"))
	if m.Chip != "Apple M1 Pro" || *m.Cores.Performance != 6 || *m.Cores.Efficiency != 2 || m.VirtualMachine != "yes" || m.OSBuild != "25F80" || m.OS != "macOS 26.5.1" || m.MemoryBytes != nil {
		t.Errorf("%+v", m)
	}
}

func TestDarwinPower(t *testing.T) {
	if got := parsePmset(read(t, "pmset-laptop.txt")); got != "off" {
		t.Errorf("low power %q, want off", got)
	}
	for text, want := range map[string]string{" lowpowermode         1\n": "on", "": Unknown, " lowpowermode 2\n": Unknown, " lowpowermode 0\n lowpowermode 1\n": Unknown} {
		if got := parsePmset(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string][2]string{"0 false\n": {"nominal", "off"}, "2 true": {"serious", "on"}, "3 false": {"critical", "off"}, "4 false": {Unknown, Unknown}, "": {Unknown, Unknown}, "0": {Unknown, Unknown}, "nominal false": {Unknown, Unknown}} {
		if thermal, low := parseProcessInfo(text); thermal != want[0] || low != want[1] {
			t.Errorf("%q: %s, %s, want %v", text, thermal, low, want)
		}
	}
	for _, c := range []struct {
		text, source, state string
		level               float64
	}{
		{"Now drawing from 'Battery Power'\n -InternalBattery-0 (id=22806627)\t78%; discharging; 5:05 remaining present: true\n", "battery", "discharging", 0.78},
		{"Now drawing from 'AC Power'\n -InternalBattery-0 (id=22806627)\t83%; charging; 1:00 remaining present: true\n", "ac", "charging", 0.83},
		{"Now drawing from 'AC Power'\n -InternalBattery-0 (id=123)\t85%; charged; 0:00 remaining present: true\n", "ac", "charged", 0.85},
		{"Now drawing from 'AC Power'\n", "ac", "none", -1},
		{"", Unknown, Unknown, -1},
	} {
		var s State
		parseBattery(c.text, &s)
		if s.PowerSource != c.source || s.BatteryState != c.state || (s.BatteryLevel == nil) != (c.level < 0) || s.BatteryLevel != nil && *s.BatteryLevel != c.level {
			t.Errorf("%q: %+v", c.text, s)
		}
	}
	if busy := parseTop("CPU usage: 12.5% user, 8.3% sys, 79.2% idle\nX\nCPU usage: 1.0% user, 1.0% sys, 98.0% idle \n"); busy == nil || *busy > 0.021 || *busy < 0.019 {
		t.Errorf("busy %v, want the second sample's 0.02", busy)
	}
	if busy := parseTop("CPU usage: 12.5% user, 8.3% sys, 79.2% idle\n"); busy != nil {
		t.Errorf("one sample, which is since boot, gave %v", *busy)
	}
	if free := parseDf("Filesystem   1024-blocks      Used Available Capacity iused      ifree %iused  Mounted on\n/dev/disk3s5   971350180 801234567 146789012    85% 4000000 1467890120    0%   /System/Volumes/Data\n"); free == nil || *free != 146789012<<10 {
		t.Errorf("free %v", free)
	}
}

// TestOurActions holds that programs of ours are seen that do not descend from us, and no others.
func TestOurActions(t *testing.T) {
	got := parsePs("    1     0 /sbin/launchd\n  100     1 /usr/local/bin/coregate\n  101   100 /private/tmp/x/whisper-cli\n  200     1 bazel\n  201   200 /private/tmp/y/whisper-cli\n  202   201 gate_evaluator\n", 100)
	if !slices.Equal(got, []string{"gate_evaluator", "whisper-cli"}) {
		t.Errorf("%v", got)
	}
	root := fstest.MapFS{
		"proc/1/stat": file("1 (init) S 0 1 1"), "proc/100/stat": file("100 (coregate) S 1 1"), "proc/101/stat": file("101 (whisper-cli) R 100 1"),
		"proc/300/stat": file("300 (whisper-cli) R 1 1"), "proc/301/stat": file("301 (gate_run) Z 1 1"), "proc/302/stat": file("302 (a) b (x) R 1 1"), "proc/meminfo": file(""),
	}
	if got := linuxActions(root, 100); !slices.Equal(got, []string{"whisper-cli"}) {
		t.Errorf("%v, want the other whisper-cli alone", got)
	}
}

func TestLinuxMachine(t *testing.T) {
	const cpu = "processor\t: 0\nmodel name\t: AMD EPYC\nphysical id\t: 0\ncore id\t: 0\nflags\t: fpu hypervisor avx2\n\nprocessor\t: 1\nmodel name\t: AMD EPYC\nphysical id\t: 0\ncore id\t: 1\nflags\t: fpu hypervisor avx2\n"
	root := fstest.MapFS{"proc/cpuinfo": file(cpu), "proc/meminfo": file("MemTotal: 8 kB\n"), "proc/sys/kernel/osrelease": file("6.18.44\n"), "etc/os-release": file("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\n")}
	var m Machine
	linuxMachine(&m, root)
	if m.Chip != "AMD EPYC" || m.Cores.Logical != 2 || *m.Cores.Physical != 2 || m.VirtualMachine != "yes" || m.Hardware != Unknown || *m.MemoryBytes != 8192 || m.Kernel != "6.18.44" {
		t.Errorf("%+v", m)
	}
	for want, files := range map[string]fstest.MapFS{
		"no":    {"proc/cpuinfo": file("flags\t: fpu avx2\n")},
		"yes":   {"proc/cpuinfo": file("flags\t: fpu avx2\n"), "sys/class/dmi/id/sys_vendor": file("QEMU\n")},
		Unknown: {"proc/cpuinfo": file("Features\t: fp asimd\n")},
	} {
		var m Machine
		linuxMachine(&m, files)
		if m.VirtualMachine != want {
			t.Errorf("virtual machine %q, want %q", m.VirtualMachine, want)
		}
	}
}

func TestLinuxState(t *testing.T) {
	zone := func(temp string) fstest.MapFS {
		return fstest.MapFS{
			"sys/class/thermal/thermal_zone0/temp": file(temp), "sys/class/thermal/thermal_zone0/trip_point_0_type": file("passive\n"), "sys/class/thermal/thermal_zone0/trip_point_0_temp": file("95000\n"),
			"sys/class/thermal/thermal_zone0/trip_point_1_type": file("critical\n"), "sys/class/thermal/thermal_zone0/trip_point_1_temp": file("105000\n"),
		}
	}
	for temp, want := range map[string]string{"45000": "nominal", "95000": "serious", "105000": "critical", "": Unknown} {
		if got := thermalOf(zone(temp)); got != want {
			t.Errorf("at %q: %s, want %s", temp, got, want)
		}
	}
	if got := thermalOf(fstest.MapFS{}); got != Unknown {
		t.Errorf("without a zone: %s, want unknown", got)
	}
	var s State
	linuxPower(fstest.MapFS{"sys/class/power_supply/BAT0/type": file("Battery\n"), "sys/class/power_supply/BAT0/capacity": file("42\n"), "sys/class/power_supply/BAT0/status": file("Discharging\n"),
		"sys/class/power_supply/AC/type": file("Mains\n"), "sys/class/power_supply/AC/online": file("0\n")}, &s)
	if s.PowerSource != "battery" || *s.BatteryLevel != 0.42 || s.BatteryState != "discharging" {
		t.Errorf("%+v", s)
	}
	for want, files := range map[string]fstest.MapFS{
		"on": {"sys/firmware/acpi/platform_profile": file("low-power\n")}, "off": {"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": file("performance\n")}, Unknown: {},
	} {
		if got := linuxLowPower(files); got != want {
			t.Errorf("low power %s, want %s", got, want)
		}
	}
	busy, all, ok := cpuTimes("cpu  100 5 20 300 50 1 2 3 0 0\ncpu0 1\n")
	if !ok || busy != 131 || all != 481 {
		t.Errorf("%d of %d, %v", busy, all, ok)
	}
}

// TestCapture holds that this machine answers with no field left empty.
func TestCapture(t *testing.T) {
	m := CaptureMachine("id")
	if m.Chip == "" || m.Hardware == "" || m.OSBuild == "" || m.VirtualMachine == "" || m.Cores.Logical < 1 {
		t.Errorf("%+v", m)
	}
	s := Capture(".", 50*time.Millisecond)
	if s.Thermal == "" || s.LowPower == "" || s.PowerSource == "" || s.BatteryState == "" || s.BusyShare == nil || s.AvailableBytes == nil || s.FreeDiskBytes == nil || s.OurActions == nil {
		t.Errorf("%+v", s)
	}
}

// TestStrain holds that heat and low-power mode are read without the rest, and that two sources which differ give no answer.
func TestStrain(t *testing.T) {
	for name, c := range map[string]struct {
		info, pmset string
		want        Strain
	}{
		"both agree":         {"2 true\n", " lowpowermode         1\n", Strain{"serious", "on"}},
		"they differ":        {"0 false\n", " lowpowermode         1\n", Strain{"nominal", Unknown}},
		"pmset alone":        {"", " lowpowermode         1\n", Strain{Unknown, "on"}},
		"NSProcessInfo only": {"3 false\n", "", Strain{"critical", "off"}},
		"neither":            {"", "", Strain{Unknown, Unknown}},
	} {
		if got := darwinStrain(c.info, c.pmset); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	hot := fstest.MapFS{
		"sys/class/thermal/thermal_zone0/temp": {Data: []byte("96000\n")}, "sys/class/thermal/thermal_zone0/trip_point_0_type": {Data: []byte("passive\n")},
		"sys/class/thermal/thermal_zone0/trip_point_0_temp": {Data: []byte("95000\n")}, "sys/firmware/acpi/platform_profile": {Data: []byte("low-power\n")},
	}
	if got := strain(hot); got != (Strain{"serious", "on"}) {
		t.Errorf("%+v of a laptop that is hot and saves power", got)
	}
}

func FuzzTexts(f *testing.F) {
	f.Add("hw.model: Mac14,9\n")
	f.Add("Now drawing from 'AC Power'\n")
	f.Fuzz(func(t *testing.T, text string) {
		var m Machine
		var s State
		darwinMachine(&m, parseSysctl(text))
		parseBattery(text, &s)
		parsePmset(text)
		parseTop(text)
		parseDf(text)
		parsePs(text, 1)
		linuxMachine(&m, fstest.MapFS{"proc/cpuinfo": file(text), "proc/meminfo": file(text), "etc/os-release": file(text)})
		if m.VirtualMachine == "" || s.PowerSource == "" {
			t.Errorf("%q left a field empty", text)
		}
	})
}
