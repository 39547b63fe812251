//go:build !unix

package bundle

import (
	"io"
	"os"
)

// mapFile reads the file into memory where there is no mmap.
func mapFile(f *os.File, size int64) ([]byte, error) {
	b := make([]byte, size)
	_, err := io.ReadFull(io.NewSectionReader(f, 0, size), b)
	return b, err
}

func unmapFile([]byte) error { return nil }
