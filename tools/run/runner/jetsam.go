package runner

import (
	"bytes"
	"encoding/json"
	"strings"
)

// jetsamKilled says whether a JetsamEvent report (an .ips file of macOS) tells that the system killed a
// process for want of memory. Such a file is one line of JSON about itself, then one JSON object with
// the processes that there were; those that were killed have a reason.
func jetsamKilled(report []byte, pid int) bool {
	_, body, ok := bytes.Cut(report, []byte("\n"))
	if !ok {
		return false
	}
	event := struct {
		Processes []struct {
			PID    int    `json:"pid"`
			Reason string `json:"reason"`
		} `json:"processes"`
	}{}
	if json.Unmarshal(body, &event) != nil {
		return false
	}
	for _, p := range event.Processes {
		if p.PID == pid && aboutMemory(p.Reason) {
			return true
		}
	}
	return false
}

// aboutMemory leaves out the reasons that have nothing to do with memory, such as idle-exit.
func aboutMemory(why string) bool {
	return strings.HasPrefix(why, "vm-") || why == "per-process-limit" || why == "highwater" || why == "fc-thrashing"
}
