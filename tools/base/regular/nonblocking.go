//go:build unix

package regular

import "syscall"

// nonBlocking keeps an open from waiting for a FIFO's writer; it changes nothing for regular files.
const nonBlocking = syscall.O_NONBLOCK
