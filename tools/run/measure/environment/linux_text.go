package environment

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// What follows reads Linux's files below a root, which tests replace.

func readText(root fs.FS, name string) string {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.Trim(string(data), "\x00"))
}

// linuxMachine fills a machine from /proc and /sys.
func linuxMachine(m *Machine, root fs.FS) {
	m.Hardware = known(strings.TrimSpace(readText(root, "sys/class/dmi/id/sys_vendor") + " " + readText(root, "sys/class/dmi/id/product_name")))
	if m.Hardware == Unknown {
		m.Hardware = known(readText(root, "sys/firmware/devicetree/base/model"))
	}
	m.Kernel = known(readText(root, "proc/sys/kernel/osrelease"))
	release := osRelease(readText(root, "etc/os-release"))
	m.OS = known(release["PRETTY_NAME"])
	// A distribution's image may carry a build; the kernel's is the next that tells two systems of one version apart.
	m.OSBuild = known(strings.TrimSpace(release["VERSION_ID"] + " " + readText(root, "proc/sys/kernel/version")))
	cpu := readText(root, "proc/cpuinfo")
	m.Chip = known(cpuField(cpu, "model name"))
	if m.Chip == Unknown {
		m.Chip = known(cpuField(cpu, "Hardware"))
	}
	if n := strings.Count("\n"+cpu, "\nprocessor\t"); n > 0 {
		m.Cores.Logical = n
	}
	m.Cores.Physical = physicalCores(cpu)
	m.MemoryBytes = meminfo(readText(root, "proc/meminfo"), "MemTotal")
	m.VirtualMachine = virtual(root, cpu)
}

func osRelease(text string) map[string]string {
	out := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		if k, v, ok := strings.Cut(line, "="); ok {
			out[k] = strings.Trim(v, `"'`)
		}
	}
	return out
}

func cpuField(text, name string) string {
	for _, line := range strings.Split(text, "\n") {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func physicalCores(cpu string) *int {
	seen := map[string]bool{}
	socket := ""
	for _, line := range strings.Split(cpu, "\n") {
		k, v, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(k) {
		case "physical id":
			socket = v
		case "core id":
			seen[socket+"/"+v] = true
		}
	}
	if len(seen) == 0 {
		return nil
	}
	n := len(seen)
	return &n
}

func meminfo(text, field string) *int64 {
	for _, line := range strings.Split(text, "\n") {
		if k, v, ok := strings.Cut(line, ":"); ok && k == field {
			kb := number(strings.TrimSuffix(strings.TrimSpace(v), " kB"))
			if kb == nil || *kb > 1<<50 {
				return nil
			}
			*kb *= 1024
			return kb
		}
	}
	return nil
}

// virtual says whether this is a guest: the processor's own flag on x86, the hypervisor's nodes, a maker's name. Without a
// sign it is "no" only where the sign would be there: the flag is set by every hypervisor that follows the architecture.
func virtual(root fs.FS, cpu string) string {
	vendor := strings.ToLower(readText(root, "sys/class/dmi/id/sys_vendor") + " " + readText(root, "sys/class/dmi/id/product_name"))
	for _, name := range []string{"qemu", "kvm", "vmware", "virtualbox", "innotek", "xen", "bochs", "parallels", "amazon ec2", "google compute engine", "virtual machine", "firecracker", "openstack"} {
		if strings.Contains(vendor, name) {
			return "yes"
		}
	}
	if readText(root, "sys/hypervisor/type") != "" {
		return "yes"
	}
	flags := cpuField(cpu, "flags")
	switch {
	case strings.Contains(" "+flags+" ", " hypervisor "):
		return "yes"
	case flags != "":
		return "no"
	}
	return Unknown
}

// thermalOf compares every zone with its own trip points.
func thermalOf(root fs.FS) string {
	zones, _ := fs.Glob(root, "sys/class/thermal/thermal_zone[0-9]*")
	state := Unknown
	for _, zone := range zones {
		temp := number(readText(root, path.Join(zone, "temp")))
		if temp == nil {
			continue
		}
		trips, _ := fs.Glob(root, path.Join(zone, "trip_point_[0-9]*_type"))
		for _, trip := range trips {
			at := number(readText(root, strings.TrimSuffix(trip, "type")+"temp"))
			if at == nil || *at <= 0 {
				continue
			}
			found := "nominal"
			if *temp >= *at {
				found = map[string]string{"active": "fair", "passive": "serious", "hot": "critical", "critical": "critical"}[readText(root, trip)]
			}
			if rank(found) > rank(state) {
				state = found
			}
		}
	}
	return state
}

var ranks = []string{Unknown, "nominal", "fair", "serious", "critical"}

func rank(state string) int {
	for i, s := range ranks {
		if s == state {
			return i
		}
	}
	return 0
}

// linuxPower reads /sys/class/power_supply: with no battery and a mains supply, or with neither, the machine is on mains only
// if it says so.
func linuxPower(root fs.FS, s *State) {
	s.PowerSource, s.BatteryState, s.BatteryLevel = Unknown, Unknown, nil
	supplies, err := fs.Glob(root, "sys/class/power_supply/*")
	if err != nil || len(supplies) == 0 {
		return
	}
	s.BatteryState = "none"
	for _, supply := range supplies {
		switch readText(root, path.Join(supply, "type")) {
		case "Mains", "USB":
			if readText(root, path.Join(supply, "online")) == "1" {
				s.PowerSource = "ac"
			}
		case "Battery":
			if readText(root, path.Join(supply, "scope")) == "Device" {
				continue
			}
			if level, err := strconv.Atoi(readText(root, path.Join(supply, "capacity"))); err == nil && level >= 0 && level <= 100 {
				share := float64(level) / 100
				s.BatteryLevel = &share
			}
			s.BatteryState = map[string]string{"Charging": "charging", "Discharging": "discharging", "Full": "charged", "Not charging": "charged"}[readText(root, path.Join(supply, "status"))]
			if s.BatteryState == "" {
				s.BatteryState = Unknown
			}
			if s.BatteryState == "discharging" {
				s.PowerSource = "battery"
			}
		}
	}
}

// linuxLowPower reads the platform profile, and the frequency governor where there is none.
func linuxLowPower(root fs.FS) string {
	switch readText(root, "sys/firmware/acpi/platform_profile") {
	case "low-power", "quiet", "cool":
		return "on"
	case "balanced", "balanced-performance", "performance":
		return "off"
	}
	governors, _ := fs.Glob(root, "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
	if len(governors) == 0 {
		return Unknown
	}
	for _, g := range governors {
		if name := readText(root, g); name == "powersave" && readText(root, path.Join(path.Dir(g), "scaling_driver")) != "intel_pstate" {
			return "on"
		}
	}
	return "off"
}

// cpuTimes are the busy and all ticks of the first line of /proc/stat.
func cpuTimes(text string) (busy, all int64, ok bool) {
	line, _, _ := strings.Cut(text, "\n")
	f := strings.Fields(line)
	if len(f) < 6 || f[0] != "cpu" {
		return 0, 0, false
	}
	for i, v := range f[1:min(len(f), 9)] {
		n := number(v)
		if n == nil {
			return 0, 0, false
		}
		all += *n
		// Fields 4 and 5 are idle and waiting for input or output.
		if i != 3 && i != 4 {
			busy += *n
		}
	}
	return busy, all, true
}

// linuxActions lists programs of ours from /proc that do not descend from a process.
func linuxActions(root fs.FS, self int) []string {
	parents, names := map[int]int{}, map[int]string{}
	entries, _ := fs.ReadDir(root, "proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// "PID (NAME) STATE PPID …", and a name may hold parentheses and blanks.
		text := readText(root, path.Join("proc", e.Name(), "stat"))
		open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
		if open < 0 || end < open {
			continue
		}
		f := strings.Fields(text[end+1:])
		if len(f) < 2 || f[0] == "Z" {
			continue
		}
		if ppid, err := strconv.Atoi(f[1]); err == nil {
			parents[pid], names[pid] = ppid, text[open+1:end]
		}
	}
	return strangers(parents, names, self)
}
