//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the most memory that an ended process had, mapped files included.
func peak(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return u.Maxrss
	}
	return u.Maxrss * 1024
}
