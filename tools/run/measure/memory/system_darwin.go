package memory

import (
	"os/exec"
	"strconv"
	"time"
)

func output(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil && len(out) == 0 {
		return ""
	}
	return string(out)
}

// Available reads how much this process, and what it starts, can still allocate: free and inactive pages.
func Available() Room {
	return darwinRoom(output("/usr/bin/vm_stat"), output("/usr/sbin/sysctl", "-n", "hw.memsize"))
}

// Group reads what a process's group uses; ok is false when nothing of it is left. Each reading starts two commands, so it
// is at most one every [Interval].
func Group(pgid int) (Process, bool) {
	members := parsePsGroup(output("/bin/ps", "-axo", "pid=,pgid=,rss="), pgid)
	var sum Process
	for pid, resident := range members {
		footprint, _ := parseTopMem(output("/usr/bin/top", "-l", "1", "-pid", strconv.Itoa(pid), "-stats", "pid,mem"), pid)
		sum = Process{Sum(sum.Footprint, footprint), Sum(sum.Resident, resident), Sum(sum.PeakResident, resident)}
	}
	return sum, len(members) > 0
}

// Interval is the least time between two readings of a program: commands take part of a second.
const Interval = time.Second
