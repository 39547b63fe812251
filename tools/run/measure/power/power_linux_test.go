package power

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// zone is one RAPL zone of a made sysfs tree.
type zone struct{ name, value, limit string }

// sysfs makes a tree as Linux has it: the zones below /sys/devices, and links to them below /sys/class/powercap.
func sysfs(t *testing.T, zones map[string]zone) string {
	t.Helper()
	root := t.TempDir()
	class := filepath.Join(root, "sys/class/powercap")
	if err := os.MkdirAll(class, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir, z := range zones {
		real := filepath.Join(root, "sys/devices/virtual/powercap/intel-rapl", dir)
		if err := os.MkdirAll(real, 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"name": z.name, "energy_uj": z.value, "max_energy_range_uj": z.limit} {
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(real, file), []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(filepath.Join("../../devices/virtual/powercap/intel-rapl", dir), filepath.Join(class, dir)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func count(t *testing.T, root, dir, value string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, "sys/class/powercap", dir, "energy_uj"), []byte(value+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// twoSockets has two packages with their parts, and the platform's counter beside them.
func twoSockets() map[string]zone {
	return map[string]zone{
		"intel-rapl:0": {"package-0", "9000000", "10000000"}, "intel-rapl:0:0": {"core", "7", "10000000"}, "intel-rapl:0:1": {"dram", "7", "10000000"},
		"intel-rapl:1": {"package-1", "1000000", "10000000"}, "intel-rapl:2": {"psys", "5000000", "10000000"},
	}
}

// TestRAPL holds that packages count, each once, and neither their parts nor the platform; and that a counter may begin again.
func TestRAPL(t *testing.T) {
	root := sysfs(t, twoSockets())
	instrument, err := FindIn(os.DirFS(root))
	if err != nil || instrument.Name() != "rapl" {
		t.Fatalf("%v, %v", instrument, err)
	}
	start := time.Now()
	w, err := instrument.Begin()
	if err != nil {
		t.Fatal(err)
	}
	count(t, root, "intel-rapl:0", "1000000") // 2 J: over the end of the counter
	time.Sleep(10 * time.Millisecond)
	w.Mark()
	count(t, root, "intel-rapl:1", "4000000") // 3 J
	w.Mark()                                  // the first mark counts
	count(t, root, "intel-rapl:0:0", "9000000")
	count(t, root, "intel-rapl:2", "9999999")
	time.Sleep(10 * time.Millisecond)
	r, after, err := w.End()
	most := time.Since(start).Seconds()
	if err != nil || r.Samples != 2 || r.Seconds < 0.01 || r.Seconds > most || strconv.FormatFloat(r.MeanWatts*r.Seconds, 'f', 6, 64) != "5.000000" {
		t.Errorf("%+v, %v, want 5 J", r, err)
	}
	if after.Samples != 2 || after.Seconds < 0.01 || after.Seconds > r.Seconds-0.01 || strconv.FormatFloat(after.MeanWatts*after.Seconds, 'f', 6, 64) != "3.000000" {
		t.Errorf("after the mark %+v of %+v, want 3 J of 5", after, r)
	}
	if w, err = instrument.Begin(); err != nil {
		t.Fatal(err)
	}
	if _, after, err := w.End(); err != nil || after != (Reading{}) {
		t.Errorf("without a mark: %+v, %v", after, err)
	}
}

// TestRAPLFails holds that a machine which does not tell everything gives no figure, before a window or at its end.
func TestRAPLFails(t *testing.T) {
	with := func(dir string, z zone) map[string]zone {
		zones := twoSockets()
		zones[dir] = z
		return zones
	}
	for name, zones := range map[string]map[string]zone{
		"no counters":                      {},
		"the platform's counter alone":     {"intel-rapl:0": {"psys", "1", "10"}},
		"parts alone":                      {"intel-rapl:0:0": {"core", "1", "10"}},
		"a counter that cannot be read":    with("intel-rapl:1", zone{"package-1", "", "10"}),
		"a counter that is no number":      with("intel-rapl:1", zone{"package-1", "permission denied", "10"}),
		"a counter below zero":             with("intel-rapl:1", zone{"package-1", "-1", "10"}),
		"a counter without its limit":      with("intel-rapl:1", zone{"package-1", "1", ""}),
		"a zone that does not name itself": with("intel-rapl:1", zone{"", "1", "10"}),
		"a zone of another kind":           with("intel-rapl:1", zone{"uncore", "1", "10"}),
	} {
		if i, err := FindIn(os.DirFS(sysfs(t, zones))); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %v, %v, want no instrument", name, i, err)
		}
	}
	for name, change := range map[string]func(root string){
		"a package that went away": func(root string) {
			if err := os.Remove(filepath.Join(root, "sys/class/powercap/intel-rapl:1")); err != nil {
				t.Fatal(err)
			}
		},
		"a counter that went away": func(root string) {
			if err := os.Remove(filepath.Join(root, "sys/class/powercap/intel-rapl:1/energy_uj")); err != nil {
				t.Fatal(err)
			}
		},
		"a counter of another range": func(root string) { lower(t, root) },
	} {
		root := sysfs(t, twoSockets())
		i, err := FindIn(os.DirFS(root))
		if err != nil {
			t.Fatal(err)
		}
		w, err := i.Begin()
		if err != nil {
			t.Fatal(err)
		}
		change(root)
		if r, _, err := w.End(); err == nil {
			t.Errorf("%s: %+v, want an error", name, r)
		}
	}
	var gone fs.FS = os.DirFS(filepath.Join(t.TempDir(), "absent"))
	if _, err := FindIn(gone); !errors.Is(err, ErrNone) {
		t.Errorf("a machine without /sys: %v", err)
	}
}

// lower makes the range of the first counter smaller.
func lower(t *testing.T, root string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, "sys/class/powercap/intel-rapl:0/max_energy_range_uj"), []byte("10\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
