package runner

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// machineName is what this machine calls itself and no other, or "".
func machineName() string { return sysctl("kern.uuid") }

// machineIdentity is what a physical lane's identity must say about this machine.
func machineIdentity() map[string]string {
	return map[string]string{"os_build": sysctl("kern.osversion"), "hardware": sysctl("hw.model"), "chip": sysctl("machdep.cpu.brand_string")}
}

func sysctl(name string) string {
	value, err := syscall.Sysctl(name)
	if err != nil {
		return ""
	}
	return value
}

// jetsamReports is where macOS writes why it killed processes.
const jetsamReports = "/Library/Logs/DiagnosticReports/JetsamEvent-*.ips"

// memoryWatch has nothing to remember: reports name the process.
type memoryWatch struct{}

func watchMemory() memoryWatch { return memoryWatch{} }

// killed says whether a report written since tells that the process was killed for want of memory. The
// report may come a moment after the kill.
func (memoryWatch) killed(pid int, since time.Time) bool {
	for range 10 {
		paths, _ := filepath.Glob(jetsamReports)
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil || info.ModTime().Before(since) {
				continue
			}
			if report, err := os.ReadFile(path); err == nil && jetsamKilled(report, pid) {
				return true
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
	return false
}

// fileIdentity is what stays the same of a file that nobody replaced or wrote. The time of change is left
// out: macOS's own services set attributes of files that they look at.
type fileIdentity struct {
	dev      int32
	inode    uint64
	mode     uint16
	size     int64
	modified syscall.Timespec
}

func identityOf(info os.FileInfo) fileIdentity {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileIdentity{}
	}
	return fileIdentity{s.Dev, s.Ino, s.Mode, s.Size, s.Mtimespec}
}
