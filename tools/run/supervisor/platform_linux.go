package supervisor

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// descriptors is where the kernel lists the open descriptors of a process.
const descriptors = "/proc/self/fd"

// attributes makes the program lead a process group and die with its supervisor.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

const (
	prSetChildSubreaper = 36
	sigSetMask          = 2
)

// platformIsolate unblocks all signals of this thread, whose mask a started program gets, and makes this
// process the parent of orphans below it.
func platformIsolate() error {
	var none uint64
	if _, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, sigSetMask, uintptr(unsafe.Pointer(&none)), 0, unsafe.Sizeof(none), 0, 0); e != 0 {
		return fmt.Errorf("unblock signals: %w", e)
	}
	if _, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); e != 0 {
		return fmt.Errorf("adopt orphans of the run: %w", e)
	}
	return nil
}

// killDescendants sends SIGKILL to every process below this one and waits for the dead, except for the
// program itself, which has a waiter. It returns how many there were besides the program.
func killDescendants(program int) int {
	parents := processes()
	self, found := os.Getpid(), 0
	for pid := range parents {
		if pid == program || !below(parents, pid, self) {
			continue
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
		if parents[pid] == self {
			if got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil); err == nil && got == pid {
				continue
			}
		}
		found++
	}
	return found
}

// below says whether pid is a descendant of ancestor.
func below(parents map[int]int, pid, ancestor int) bool {
	for range parents {
		parent, ok := parents[pid]
		if !ok || parent == pid {
			return false
		}
		if parent == ancestor {
			return true
		}
		pid = parent
	}
	return false
}

// processes maps each process to its parent.
func processes() map[int]int {
	out := map[int]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return out
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// pid (name) state ppid …, and a name may hold parentheses.
		_, rest, ok := bytes.Cut(data[max(bytes.LastIndexByte(data, ')'), 0):], []byte(" "))
		fields := bytes.Fields(rest)
		if !ok || len(fields) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(string(fields[1])); err == nil {
			out[pid] = parent
		}
	}
	return out
}

// niceness is this process's, from -20 to 19.
func niceness() int {
	raw, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return 20 - raw // the system call counts from 40 down to 1
}

// peakBytes is the largest resident set of the program; Linux counts in KiB.
func peakBytes(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return int64(usage.Maxrss) * 1024
}
