package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// fact is something about the host that the gate depends on.
type fact struct {
	Name     string `json:"name"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
	OK       bool   `json:"ok"`
}

// What a cold build of everything takes, with room to spare.
const (
	needDisk   = 20 << 30
	needMemory = 8 << 30
)

func findBazel() (string, error) {
	for _, name := range []string{os.Getenv("BAZEL"), "bazelisk", "bazel"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("expected bazelisk or bazel on PATH, found neither: install bazelisk, or name a Bazel by BAZEL")
}

// ask is the first line that a command prints, or "none (…)".
func ask(command ...string) string {
	out, err := exec.Command(command[0], command[1:]...).Output()
	if err != nil {
		return fmt.Sprintf("none (%v)", err)
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

// host checks what the gate depends on. Whatever is wrong, the other steps run.
func (s *session) host(log io.Writer) error {
	facts := []fact{s.disk(), s.memory(), {Name: "bazel", Expected: "7.4 or newer", Found: ask(s.bazel, "--version")}}
	facts[2].OK = strings.HasPrefix(facts[2].Found, "bazel ")
	if s.mac {
		facts = append(facts, macFacts()...)
	} else {
		clang, objc := ask("uname", "-srm"), "Linux, with the stand-in for Core ML"
		facts = append(facts, fact{Name: "system", Expected: objc, Found: clang, OK: strings.HasPrefix(clang, "Linux")})
	}
	s.summary.Host = facts
	var wrong []string
	for _, f := range facts {
		fmt.Fprintf(log, "%-10s expected %s, found %s\n", f.Name, f.Expected, f.Found)
		if !f.OK {
			wrong = append(wrong, fmt.Sprintf("%s: expected %s, found %s", f.Name, f.Expected, f.Found))
		}
	}
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "; "))
	}
	return nil
}

func macFacts() []fact {
	facts := []fact{
		{Name: "macos", Expected: "13.3 or newer; 14.4 for a compute plan", Found: ask("/usr/bin/sw_vers", "-productVersion")},
		{Name: "build", Expected: "the build of the system", Found: ask("/usr/bin/sw_vers", "-buildVersion")},
		{Name: "chip", Expected: "Apple silicon", Found: ask("/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string")},
		{Name: "hardware", Expected: "a model identifier", Found: ask("/usr/sbin/sysctl", "-n", "hw.model")},
		{Name: "xcode", Expected: "a full Xcode, 16 or newer", Found: ask("/usr/bin/xcodebuild", "-version")},
		{Name: "selected", Expected: "a developer folder inside Xcode", Found: ask("/usr/bin/xcode-select", "-p")},
		{Name: "coremlc", Expected: "Xcode's coremlc", Found: ask("/usr/bin/xcrun", "--find", "coremlc")},
	}
	for i := range facts {
		facts[i].OK = !strings.HasPrefix(facts[i].Found, "none")
	}
	facts[0].OK = facts[0].OK && atLeast(facts[0].Found, 13, 3)
	facts[2].OK = strings.HasPrefix(facts[2].Found, "Apple ")
	facts[4].OK = atLeast(strings.TrimPrefix(facts[4].Found, "Xcode "), 16, 0)
	facts[5].OK = strings.Contains(facts[5].Found, ".app/")
	return facts
}

// atLeast says whether a version such as "15.6.1 …" is not below major.minor.
func atLeast(version string, major, minor int) bool {
	word, _, _ := strings.Cut(version, " ")
	parts := strings.Split(word+".0", ".")
	a, err := strconv.Atoi(parts[0])
	b, err2 := strconv.Atoi(parts[1])
	return err == nil && err2 == nil && (a > major || a == major && b >= minor)
}

func (s *session) disk() fact {
	var fs syscall.Statfs_t
	f := fact{Name: "disk", Expected: fmt.Sprintf("%d GB free", needDisk>>30), Found: "unknown"}
	if err := syscall.Statfs(".", &fs); err == nil {
		free := uint64(fs.Bavail) * uint64(fs.Bsize)
		f.Found, f.OK = fmt.Sprintf("%d GB", free>>30), free >= needDisk
	}
	return f
}

func (s *session) memory() fact {
	f := fact{Name: "memory", Expected: fmt.Sprintf("%d GB", needMemory>>30), Found: "unknown"}
	var total uint64
	if s.mac {
		total, _ = strconv.ParseUint(ask("/usr/sbin/sysctl", "-n", "hw.memsize"), 10, 64)
	} else if data, err := os.ReadFile("/proc/meminfo"); err == nil {
		_, _ = fmt.Sscanf(string(data), "MemTotal: %d kB", &total)
		total <<= 10
	}
	if total > 0 {
		f.Found, f.OK = fmt.Sprintf("%d GB", total>>30), total >= needMemory
	}
	return f
}
