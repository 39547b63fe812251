package main

import (
	"syscall"
	"time"
)

// threadTime is the processor time of this thread so far.
func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		panic(err) // the kernel knows it since 2.6.26
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
