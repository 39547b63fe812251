package environment

import (
	"os"
	"os/exec"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
)

// output runs a command of the system; one that fails says nothing.
func output(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil && len(out) == 0 {
		return ""
	}
	return string(out)
}

// CaptureMachine describes this machine.
func CaptureMachine(id string) Machine {
	m := Machine{ID: id}
	darwinMachine(&m, parseSysctl(output("/usr/sbin/sysctl", "hw.model", "machdep.cpu.brand_string", "kern.osproductversion", "kern.osversion", "kern.osrelease",
		"hw.memsize", "kern.hv_vmm_present", "hw.logicalcpu", "hw.physicalcpu", "hw.perflevel0.physicalcpu", "hw.perflevel1.physicalcpu")))
	return m
}

// processInfo asks NSProcessInfo, for which there is no command.
const processInfo = `ObjC.import("Foundation"); var p = $.NSProcessInfo.processInfo; Number(p.thermalState) + " " + Boolean(p.isLowPowerModeEnabled)`

// CaptureStrain reads heat and low-power mode now.
func CaptureStrain() Strain {
	return darwinStrain(output("/usr/bin/osascript", "-l", "JavaScript", "-e", processInfo), output("/usr/bin/pmset", "-g"))
}

// Capture describes the state of this machine now. It takes a second, which is top's, whatever the window.
func Capture(dir string, _ time.Duration) State {
	s := State{At: time.Now().UTC().Format(time.RFC3339)}
	now := CaptureStrain()
	s.Thermal, s.LowPower = now.Thermal, now.LowPower
	parseBattery(output("/usr/bin/pmset", "-g", "batt"), &s)
	s.FreeDiskBytes = parseDf(output("/bin/df", "-k", dir))
	s.AvailableBytes = memory.Available().Bytes
	s.OurActions = parsePs(output("/bin/ps", "-axo", "pid=,ppid=,comm="), os.Getpid())
	s.BusyShare = parseTop(output("/usr/bin/top", "-l", "2", "-n", "0", "-s", "1"))
	return s
}

// Times are not known on macOS without a system call of its own.
func Times() (busy, all float64, ok bool) { return 0, 0, false }
