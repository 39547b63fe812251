package environment

import (
	"io/fs"
	"math"
	"os"
	"syscall"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
)

var system = os.DirFS("/")

// CaptureMachine describes this machine.
func CaptureMachine(id string) Machine {
	m := Machine{ID: id}
	linuxMachine(&m, system)
	return m
}

// Capture describes the state of this machine now. It takes as long as window, over which it watches how busy the machine is.
func Capture(dir string, window time.Duration) State {
	return capture(system, dir, window)
}

// CaptureStrain reads heat and low-power mode now.
func CaptureStrain() Strain { return strain(system) }

func strain(root fs.FS) Strain {
	return Strain{Thermal: thermalOf(root), LowPower: linuxLowPower(root)}
}

func capture(root fs.FS, dir string, window time.Duration) State {
	s := State{At: time.Now().UTC().Format(time.RFC3339)}
	now := strain(root)
	s.Thermal, s.LowPower = now.Thermal, now.LowPower
	linuxPower(root, &s)
	var stat syscall.Statfs_t
	if syscall.Statfs(dir, &stat) == nil {
		free := int64(stat.Bavail) * int64(stat.Bsize)
		s.FreeDiskBytes = &free
	}
	s.AvailableBytes = memory.Available().Bytes
	s.OurActions = linuxActions(root, os.Getpid())
	s.BusyShare = busy(root, window)
	return s
}

func busy(root fs.FS, window time.Duration) *float64 {
	busy1, all1, ok1 := cpuTimes(readText(root, "proc/stat"))
	time.Sleep(window)
	busy2, all2, ok2 := cpuTimes(readText(root, "proc/stat"))
	if !ok1 || !ok2 || all2 <= all1 {
		return nil
	}
	share := math.Round(1000*float64(busy2-busy1)/float64(all2-all1)) / 1000
	return &share
}

// Times are the busy and all ticks of all processors so far; ok is false where the system does not say.
func Times() (busy, all float64, ok bool) {
	b, a, ok := cpuTimes(readText(system, "proc/stat"))
	// USER_HZ is 100 on every architecture that Go runs on.
	return float64(b) / 100, float64(a) / 100, ok
}
