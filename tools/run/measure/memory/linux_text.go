package memory

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

func readText(root fs.FS, name string) (string, bool) {
	data, err := fs.ReadFile(root, strings.TrimPrefix(path.Clean(name), "/"))
	return strings.TrimSpace(string(data)), err == nil
}

// field reads "NAME: N kB" of /proc/meminfo or /proc/PID/status, in bytes.
func field(text, name string) (int64, bool) {
	for _, line := range strings.Split(text, "\n") {
		k, v, ok := strings.Cut(line, ":")
		if !ok || k != name {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(v), " kB"), 10, 64)
		if err != nil || n < 0 || n > 1<<50 {
			return 0, false
		}
		return n << 10, true
	}
	return 0, false
}

// linuxRoom is the lesser of MemAvailable and what each control group above the process has left.
func linuxRoom(root fs.FS) Room {
	r := Room{Source: "unknown"}
	text, _ := readText(root, "proc/meminfo")
	available, ok := field(text, "MemAvailable")
	total, okTotal := field(text, "MemTotal")
	if !ok || !okTotal {
		return r
	}
	r = Room{Bytes: &available, LimitBytes: &total, Source: "MemAvailable", Measured: true}
	groups, readable := groupsOf(root)
	if !readable {
		// Without the list of groups a limit may hold that is not known.
		r.Measured = false
	}
	for _, g := range groups {
		limit, left, ok := g.left(root)
		if !ok {
			continue
		}
		if left < *r.Bytes {
			r.Bytes, r.Source = &left, "cgroup"
		}
		if limit < *r.LimitBytes {
			r.LimitBytes = &limit
		}
	}
	return r
}

// group is one control group's folder of memory files.
type group struct {
	dir string
	v2  bool
}

// groupsOf lists the control groups that bound this process: its own, and all above it.
func groupsOf(root fs.FS) ([]group, bool) {
	text, ok := readText(root, "proc/self/cgroup")
	if !ok {
		return nil, false
	}
	mounts, _ := readText(root, "proc/self/mountinfo")
	var out []group
	for _, line := range strings.Split(text, "\n") {
		id, rest, ok := strings.Cut(line, ":")
		controllers, name, ok2 := strings.Cut(rest, ":")
		if !ok || !ok2 {
			continue
		}
		v2 := id == "0" && controllers == ""
		if !v2 && !strings.Contains(","+controllers+",", ",memory,") {
			continue
		}
		for _, m := range mountsOf(mounts, v2) {
			for at := relative(name, m.root); ; at = path.Dir(at) {
				out = append(out, group{path.Join(m.point, at), v2})
				if at == "/" || at == "." {
					break
				}
			}
		}
	}
	return out, true
}

// relative is a group's path below a mount that shows the hierarchy from root on (as in a container).
func relative(name, root string) string {
	if root != "/" {
		if below, ok := strings.CutPrefix(name+"/", root+"/"); ok {
			return path.Clean("/" + below)
		}
	}
	return path.Clean("/" + name)
}

type mount struct{ root, point string }

// mountsOf finds where the memory hierarchy is mounted: "… ROOT POINT … - TYPE SOURCE OPTIONS".
func mountsOf(mountinfo string, v2 bool) []mount {
	var out []mount
	for _, line := range strings.Split(mountinfo, "\n") {
		left, right, ok := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 5 || len(r) < 3 {
			continue
		}
		if v2 && r[0] == "cgroup2" || !v2 && r[0] == "cgroup" && strings.Contains(","+r[2]+",", ",memory,") {
			out = append(out, mount{l[3], l[4]})
		}
	}
	return out
}

// left reads a group's limit and what is left of it. Pages of files that were not used lately count as left, as they do in
// MemAvailable: the kernel takes them back before it kills.
func (g group) left(root fs.FS) (limit, left int64, ok bool) {
	names := []string{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
	if g.v2 {
		names = []string{"memory.max", "memory.current", "inactive_file"}
	}
	limit, ok = g.number(root, names[0])
	used, okUsed := g.number(root, names[1])
	// A version 1 group without a limit says a number near 2^63.
	if !ok || !okUsed || limit >= 1<<62 {
		return 0, 0, false
	}
	idle := int64(0)
	stat, _ := readText(root, path.Join(g.dir, "memory.stat"))
	for _, line := range strings.Split(stat, "\n") {
		if v, ok := strings.CutPrefix(line, names[2]+" "); ok {
			idle, _ = strconv.ParseInt(v, 10, 64)
		}
	}
	return limit, max(0, limit-max(0, used-max(0, idle))), true
}

func (g group) number(root fs.FS, name string) (int64, bool) {
	text, ok := readText(root, path.Join(g.dir, name))
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseInt(text, 10, 64)
	return v, err == nil && v >= 0
}

// parseStatus reads a process's /proc/PID/status; a process without memory (a zombie) has none.
func parseStatus(text string) (Process, bool) {
	anon, ok := field(text, "RssAnon")
	resident, okR := field(text, "VmRSS")
	if !ok || !okR {
		return Process{}, false
	}
	shared, _ := field(text, "RssShmem")
	swapped, _ := field(text, "VmSwap")
	peak, _ := field(text, "VmHWM")
	return Process{Footprint: Sum(anon, shared, swapped), Resident: resident, PeakResident: max(peak, resident)}, true
}
