package power

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// Find returns the machine's instrument.
func Find() (Instrument, error) { return FindIn(os.DirFS("/")) }

// FindIn returns the instrument of a machine whose file system is root.
func FindIn(root fs.FS) (Instrument, error) {
	if _, ok := packages(root); !ok {
		return nil, ErrNone
	}
	return rapl{root}, nil
}

type rapl struct{ root fs.FS }

func (rapl) Name() string { return "rapl" }

func (r rapl) Begin() (Window, error) {
	counters, ok := packages(r.root)
	if !ok {
		return nil, ErrNone
	}
	return &raplWindow{root: r.root, start: point{time.Now(), counters}}, nil
}

// point is what the counters said at one time.
type point struct {
	at       time.Time
	counters []counter
}

type raplWindow struct {
	root        fs.FS
	start, mark point
}

func (w *raplWindow) Mark() {
	if counters, ok := packages(w.root); ok && w.mark.counters == nil {
		w.mark = point{time.Now(), counters}
	}
}

func (w *raplWindow) End() (all, after Reading, err error) {
	now := time.Now()
	counters, ok := packages(w.root)
	since := func(p point) (Reading, bool) {
		seconds := now.Sub(p.at).Seconds()
		joules, ok := between(p.counters, counters)
		if !ok || seconds <= 0 {
			return Reading{}, false
		}
		return Reading{joules / seconds, seconds, 2}, true
	}
	if all, ok2 := since(w.start); ok && ok2 {
		after, _ = since(w.mark)
		return all, after, nil
	}
	return all, after, fmt.Errorf("read RAPL: the counters changed while they were read")
}

func readText(root fs.FS, name string) string {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return string(data)
}

// packages reads the counters of the processor packages: the zones intel-rapl:N whose name is package-N (AMD's have the same), and none
// of their parts. A zone psys counts the platform, packages included, and would count them twice.
func packages(root fs.FS) ([]counter, bool) {
	dirs, _ := fs.Glob(root, "sys/class/powercap/intel-rapl:*")
	var out []counter
	for _, dir := range dirs {
		if strings.Count(path.Base(dir), ":") != 1 {
			continue
		}
		name := strings.TrimSpace(readText(root, path.Join(dir, "name")))
		if name == "psys" {
			continue
		}
		if !strings.HasPrefix(name, "package-") {
			return nil, false
		}
		value, err1 := fs.ReadFile(root, path.Join(dir, "energy_uj"))
		limit, err2 := fs.ReadFile(root, path.Join(dir, "max_energy_range_uj"))
		v, ok1 := whole(string(value))
		l, ok2 := whole(string(limit))
		if err1 != nil || err2 != nil || !ok1 || !ok2 {
			// Since 2020 kernels let root alone read a counter; the sum of some packages would be no figure.
			return nil, false
		}
		out = append(out, counter{v, l})
	}
	return out, len(out) > 0
}
