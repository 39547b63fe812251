package runner

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// oomKills returns how many processes the kernel killed for want of memory in the control group of
// this process, or 0 where the system does not say (memory.events of cgroup v2, memory.oom_control
// of v1). Only a count that grew during a run says that a SIGKILL was about memory.
func oomKills() int {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	total := 0
	for _, path := range oomFiles(string(data)) {
		if text, err := os.ReadFile(path); err == nil {
			total += parseOOMKills(string(text))
		}
	}
	return total
}

// oomFiles lists the files that count, from the text of /proc/self/cgroup: lines
// "ID:CONTROLLERS:PATH", with no controllers for version 2.
func oomFiles(cgroup string) []string {
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(cgroup), "\n") {
		id, rest, ok := strings.Cut(line, ":")
		controllers, path, ok2 := strings.Cut(rest, ":")
		switch {
		case !ok || !ok2:
		case id == "0" && controllers == "":
			out = append(out, filepath.Join("/sys/fs/cgroup", path, "memory.events"))
		case strings.Contains(","+controllers+",", ",memory,"):
			out = append(out, filepath.Join("/sys/fs/cgroup/memory", path, "memory.oom_control"))
		}
	}
	return out
}

// parseOOMKills reads the "oom_kill N" line of either file.
func parseOOMKills(text string) int {
	for _, line := range strings.Split(text, "\n") {
		if value, ok := strings.CutPrefix(line, "oom_kill "); ok {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}
