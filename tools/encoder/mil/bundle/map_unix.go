//go:build unix

package bundle

import (
	"os"
	"syscall"
)

// mapFile maps size bytes of f read-only. The file must not shrink meanwhile.
func mapFile(f *os.File, size int64) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_PRIVATE)
}

func unmapFile(mem []byte) error {
	if mem == nil {
		return nil
	}
	return syscall.Munmap(mem)
}
