package runner

import (
	"os"
	"syscall"
	"time"
)

// machineName is what this machine calls itself and no other, or "".
func machineName() string {
	data, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		return ""
	}
	return string(data)
}

// machineIdentity is what a physical lane's identity must say about this machine; there is no physical
// lane on Linux.
func machineIdentity() map[string]string { return map[string]string{} }

// memoryWatch remembers what the system had killed before a run.
type memoryWatch struct{ kills int }

func watchMemory() memoryWatch { return memoryWatch{oomKills()} }

// killed says whether the kernel killed something of this control group since. It counts, and does not
// say which process: callers ask only about one that got SIGKILL.
func (w memoryWatch) killed(int, time.Time) bool { return oomKills() > w.kills }

// fileIdentity is what stays the same of a file that nobody replaced or wrote. The kernel sets the time of
// change itself, so that no process can put it back.
type fileIdentity struct {
	dev, inode       uint64
	mode             uint32
	size             int64
	modified, status syscall.Timespec
}

func identityOf(info os.FileInfo) fileIdentity {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileIdentity{}
	}
	return fileIdentity{s.Dev, s.Ino, s.Mode, s.Size, s.Mtim, s.Ctim}
}
