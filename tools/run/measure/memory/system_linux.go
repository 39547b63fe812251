package memory

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

var system = os.DirFS("/")

// Available reads how much this process, and what it starts, can still allocate.
func Available() Room { return linuxRoom(system) }

// Group reads what a process and all that descends from it use; ok is false when nothing of it is left.
func Group(pid int) (Process, bool) {
	var sum Process
	found := false
	for _, id := range tree(system, pid, 0) {
		text, ok := readText(system, "proc/"+strconv.Itoa(id)+"/status")
		if !ok {
			continue
		}
		p, ok := parseStatus(text)
		if !ok {
			continue
		}
		found = true
		sum = Process{Sum(sum.Footprint, p.Footprint), Sum(sum.Resident, p.Resident), Sum(sum.PeakResident, p.PeakResident)}
	}
	return sum, found
}

// tree lists a process and its descendants.
func tree(root fs.FS, pid, depth int) []int {
	out := []int{pid}
	if depth > 16 {
		return out
	}
	tasks, _ := fs.ReadDir(root, "proc/"+strconv.Itoa(pid)+"/task")
	for _, t := range tasks {
		text, _ := readText(root, "proc/"+strconv.Itoa(pid)+"/task/"+t.Name()+"/children")
		for _, f := range strings.Fields(text) {
			if child, err := strconv.Atoi(f); err == nil {
				out = append(out, tree(root, child, depth+1)...)
			}
		}
	}
	return out
}

// Interval is the least time between two readings of a program.
const Interval = 100 * time.Millisecond
