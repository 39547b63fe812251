package supervisor

import (
	"os"
	"syscall"
)

// descriptors is where the kernel lists the open descriptors of a process.
const descriptors = "/dev/fd"

// attributes makes the program lead a process group.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func platformIsolate() error { return nil }

// killDescendants finds no process beside the group's: macOS has neither a parent-death signal nor a process
// that adopts orphans below it.
func killDescendants(int) int { return 0 }

// niceness is this process's, from -20 to 20.
func niceness() int {
	n, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return n
}

// peakBytes is the largest resident set of the program; macOS counts in bytes.
func peakBytes(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return int64(usage.Maxrss)
}
