package supervisor

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"syscall"
)

// unlimited is RLIM_INFINITY or more, on Linux and on macOS.
const unlimited = math.MaxInt64

// resetLimits gives the soft resource limits fixed values, and returns the hard ones that are lower: a run
// under those may end differently, and its observations say so.
func resetLimits() (map[string]string, error) {
	lower := map[string]string{}
	for _, l := range []struct {
		name     string
		resource int
		want     uint64
	}{
		{"core", syscall.RLIMIT_CORE, 0}, // a core file would hold words that may not leave the action
		{"cpu", syscall.RLIMIT_CPU, unlimited},
		{"file_size", syscall.RLIMIT_FSIZE, unlimited},
		{"data", syscall.RLIMIT_DATA, unlimited},
		{"address_space", syscall.RLIMIT_AS, unlimited},
		{"stack", syscall.RLIMIT_STACK, 8 << 20},
		{"open_files", syscall.RLIMIT_NOFILE, 1024},
	} {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(l.resource, &now); err != nil {
			return nil, fmt.Errorf("read resource limit %s: %w", l.name, err)
		}
		if hard := uint64(now.Max); hard < l.want {
			lower["limit_"+l.name] = strconv.FormatUint(hard, 10)
			now.Cur = now.Max
		} else if l.want == unlimited {
			now.Cur = now.Max
		} else {
			now.Cur = l.want
		}
		if err := syscall.Setrlimit(l.resource, &now); err != nil {
			return nil, fmt.Errorf("set resource limit %s to %d: %w", l.name, now.Cur, err)
		}
	}
	return lower, nil
}

// closeOnExec keeps every descriptor above standard error from the program.
func closeOnExec() error {
	dir := descriptors
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list open descriptors: %w: expected %s, which a started program must not inherit from", err, dir)
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}
