package environment

import (
	"regexp"
	"strconv"
	"strings"
)

// What follows reads the text of macOS's own commands. It is compiled everywhere, so that recorded outputs are tested everywhere.

// parseSysctl reads "name: value" lines.
func parseSysctl(text string) map[string]string {
	out := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		name, value, ok := strings.Cut(line, ": ")
		if ok && !strings.HasPrefix(name, "sysctl") && !strings.ContainsAny(name, " \t") {
			out[name] = strings.TrimSpace(value)
		}
	}
	return out
}

// darwinMachine fills a machine from sysctl's answers.
func darwinMachine(m *Machine, answers map[string]string) {
	m.Hardware = known(answers["hw.model"])
	m.Chip = known(answers["machdep.cpu.brand_string"])
	m.OS = known(strings.TrimSpace("macOS " + answers["kern.osproductversion"]))
	if answers["kern.osproductversion"] == "" {
		m.OS = Unknown
	}
	m.OSBuild = known(answers["kern.osversion"])
	m.Kernel = known(answers["kern.osrelease"])
	m.MemoryBytes = number(answers["hw.memsize"])
	m.VirtualMachine = map[string]string{"0": "no", "1": "yes"}[answers["kern.hv_vmm_present"]]
	if m.VirtualMachine == "" {
		m.VirtualMachine = Unknown
	}
	if n := count(answers["hw.logicalcpu"]); n != nil {
		m.Cores.Logical = *n
	}
	m.Cores.Physical = count(answers["hw.physicalcpu"])
	if answers["hw.perflevel1.physicalcpu"] != "" {
		m.Cores.Performance = count(answers["hw.perflevel0.physicalcpu"])
		m.Cores.Efficiency = count(answers["hw.perflevel1.physicalcpu"])
	}
}

func known(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return Unknown
	}
	return s
}

func number(s string) *int64 {
	v, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || v < 0 {
		return nil
	}
	return &v
}

func count(s string) *int {
	v := number(s)
	if v == nil || *v < 1 || *v > 1<<20 {
		return nil
	}
	n := int(*v)
	return &n
}

// thermalNames are NSProcessInfoThermalState's numbers.
var thermalNames = map[string]string{"0": "nominal", "1": "fair", "2": "serious", "3": "critical"}

// parseProcessInfo reads what osascript printed: the thermal state and whether low-power mode is on, "0 false".
func parseProcessInfo(text string) (thermal, lowPower string) {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return Unknown, Unknown
	}
	thermal, lowPower = thermalNames[fields[0]], map[string]string{"true": "on", "false": "off"}[fields[1]]
	if thermal == "" || lowPower == "" {
		return Unknown, Unknown
	}
	return thermal, lowPower
}

var lowPowerLine = regexp.MustCompile(`(?m)^\s*lowpowermode\s+(\d+)\s*$`)

// parsePmset reads low-power mode from `pmset -g`, whose one section is what is in use. Several different answers are none.
func parsePmset(text string) string {
	found := map[string]bool{}
	for _, m := range lowPowerLine.FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	switch {
	case len(found) == 1 && found["0"]:
		return "off"
	case len(found) == 1 && found["1"]:
		return "on"
	}
	return Unknown
}

// darwinStrain reads what NSProcessInfo and pmset said. They are two sources of low-power mode: where both answer and differ, there is no answer.
func darwinStrain(info, pmset string) Strain {
	var s Strain
	s.Thermal, s.LowPower = parseProcessInfo(info)
	if other := parsePmset(pmset); other != Unknown && other != s.LowPower {
		s.LowPower = map[bool]string{true: other, false: Unknown}[s.LowPower == Unknown]
	}
	return s
}

var (
	drawing = regexp.MustCompile(`(?m)^Now drawing from '(AC|Battery) Power'`)
	battery = regexp.MustCompile(`(?m)InternalBattery-\S+(?: \(id=\d+\))?\s+(\d{1,3})%;\s*([a-zA-Z ]+?)\s*(?:;|$)`)
)

// parseBattery reads `pmset -g batt` into a state.
func parseBattery(text string, s *State) {
	s.PowerSource, s.BatteryState, s.BatteryLevel = Unknown, Unknown, nil
	m := drawing.FindStringSubmatch(text)
	if m == nil {
		return
	}
	s.PowerSource = map[string]string{"AC": "ac", "Battery": "battery"}[m[1]]
	b := battery.FindStringSubmatch(text)
	if b == nil {
		if !strings.Contains(text, "InternalBattery") {
			s.BatteryState = "none"
		}
		return
	}
	if level, err := strconv.Atoi(b[1]); err == nil && level <= 100 {
		share := float64(level) / 100
		s.BatteryLevel = &share
	}
	switch strings.ToLower(b[2]) {
	case "charging", "finishing charge":
		s.BatteryState = "charging"
	case "discharging":
		s.BatteryState = "discharging"
	case "charged", "ac attached":
		s.BatteryState = "charged"
	}
}

var topUsage = regexp.MustCompile(`(?m)^CPU usage: ([0-9.]+)% user, ([0-9.]+)% sys, ([0-9.]+)% idle`)

// parseTop reads the last "CPU usage" line: the first sample of top is of the time since boot.
func parseTop(text string) *float64 {
	all := topUsage.FindAllStringSubmatch(text, -1)
	if len(all) < 2 {
		return nil
	}
	idle, err := strconv.ParseFloat(all[len(all)-1][3], 64)
	if err != nil || idle > 100 {
		return nil
	}
	busy := (100 - idle) / 100
	return &busy
}

var dfLine = regexp.MustCompile(`(?m)^\S+.*?\s(\d+)\s+(\d+)\s+(\d+)\s+\d+%`)

// parseDf reads the free bytes of `df -k PATH`.
func parseDf(text string) *int64 {
	m := dfLine.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	v := number(m[3])
	if v == nil || *v > 1<<50 {
		return nil
	}
	*v *= 1024
	return v
}

// parsePs lists programs of ours in `ps -axo pid=,ppid=,comm=` that do not descend from a process.
func parsePs(text string, self int) []string {
	parents, names := map[int]int{}, map[int]string{}
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		pid, err1 := strconv.Atoi(f[0])
		ppid, err2 := strconv.Atoi(f[1])
		if err1 == nil && err2 == nil {
			parents[pid], names[pid] = ppid, baseName(strings.Join(f[2:], " "))
		}
	}
	return strangers(parents, names, self)
}
