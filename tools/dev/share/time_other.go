//go:build !linux

package main

import "time"

var start = time.Now()

// threadTime is the time that passed: other systems do not tell a thread's.
func threadTime() time.Duration { return time.Since(start) }
