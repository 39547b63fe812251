package memory

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// What follows reads the text of macOS's own commands. It is compiled everywhere, so that recorded outputs are tested everywhere.

var (
	pageSize = regexp.MustCompile(`page size of (\d+) bytes`)
	pageLine = regexp.MustCompile(`(?m)^"?([^":\n]+)"?:\s+(\d+)\.?\s*$`)
)

// parseVMStat reads vm_stat: pages that are free or inactive, in bytes. vm_stat leaves the speculative pages out of what it
// calls free, and the kernel's own free count has them.
func parseVMStat(text string) (int64, bool) {
	m := pageSize.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	size, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || size < 512 || size > 1<<20 {
		return 0, false
	}
	pages := map[string]int64{}
	for _, l := range pageLine.FindAllStringSubmatch(text, -1) {
		v, err := strconv.ParseInt(l[2], 10, 64)
		if err != nil || v > math.MaxInt64/size/4 {
			return 0, false
		}
		pages[l[1]] = v
	}
	for _, name := range []string{"Pages free", "Pages inactive", "Pages speculative"} {
		if _, ok := pages[name]; !ok {
			return 0, false
		}
	}
	return (pages["Pages free"] + pages["Pages speculative"] + pages["Pages inactive"]) * size, true
}

// darwinRoom is what vm_stat says is available, with the machine's memory less 1 GiB for the system as the limit. Where vm_stat says
// nothing, the limit less what is to spare is a guess, and says so. A live reading is never lowered by it.
func darwinRoom(vmStat, memsize string) Room {
	r := Room{Source: "unknown"}
	if total, err := strconv.ParseInt(strings.TrimSpace(memsize), 10, 64); err == nil && total > 1024*MiB && total < 1<<50 {
		limit := total - 1024*MiB
		guess := Conservative(limit)
		r = Room{Bytes: &guess, LimitBytes: &limit, Source: "hw.memsize"}
	}
	if bytes, ok := parseVMStat(vmStat); ok {
		r.Bytes, r.Source, r.Measured = &bytes, "vm_stat", true
	}
	return r
}

// parseTopMem reads the last line of `top -l 1 -pid PID -stats pid,mem`: the footprint, with a unit, and a sign of its trend.
func parseTopMem(text string, pid int) (int64, bool) {
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) < 2 || strings.TrimRight(f[0], "*") != strconv.Itoa(pid) {
			continue
		}
		return parseUnits(strings.TrimRight(f[1], "+-"))
	}
	return 0, false
}

var units = map[byte]float64{'B': 1, 'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'T': 1 << 40}

func parseUnits(s string) (int64, bool) {
	if s == "" {
		return 0, false
	}
	unit, ok := units[s[len(s)-1]]
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseFloat(s[:len(s)-1], 64)
	if err != nil || v < 0 || v*unit > 1<<60 {
		return 0, false
	}
	return int64(v * unit), true
}

// parsePsGroup reads `ps -axo pid=,pgid=,rss=` into the processes of a group, with their resident sets.
func parsePsGroup(text string, pgid int) map[int]int64 {
	out := map[int]int64{}
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) != 3 || f[1] != strconv.Itoa(pgid) {
			continue
		}
		pid, err1 := strconv.Atoi(f[0])
		kb, err2 := strconv.ParseInt(f[2], 10, 64)
		if err1 == nil && err2 == nil && kb >= 0 && kb < 1<<50 {
			out[pid] = kb << 10
		}
	}
	return out
}

// parseTime reads the two peaks that `/usr/bin/time -l` prints at the end of a program.
func parseTime(text string) (resident, footprint *int64) {
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		v, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil || v < 0 {
			continue
		}
		switch strings.Join(f[1:], " ") {
		case "maximum resident set size":
			resident = &v
		case "peak memory footprint":
			footprint = &v
		}
	}
	return resident, footprint
}
