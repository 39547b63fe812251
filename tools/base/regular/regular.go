// Package regular opens regular files and nothing else: opening a FIFO waits for a writer that may never come, and a
// device has no end.
package regular

import (
	"fmt"
	"io"
	"os"
)

// Open opens a regular file, through links. The file is looked at before it is opened and after, so that one put in its
// place meanwhile is refused too.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, refused(path, info)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = refused(path, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func refused(path string, info os.FileInfo) error {
	return fmt.Errorf("%s is of mode %s, expected a regular file (a pipe is standard input, \"-\", where a command takes it)", path, info.Mode().Type())
}

// ReadFile reads a regular file whole.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
