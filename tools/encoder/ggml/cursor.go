package ggml

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// cursor reads small things in order from a file of known size. A small window
// serves most reads, since directory entries lie far apart.
type cursor struct {
	r    io.ReaderAt
	at   int64
	size int64

	window      [512]byte
	windowStart int64
	windowLen   int
}

func (c *cursor) i32(what string) (int32, error) {
	b, err := c.bytes(4, what)
	if err != nil {
		return 0, err
	}
	return int32(binary.LittleEndian.Uint32(b)), nil
}

// bytes gives the next n bytes (n at most the window), valid until the next call.
func (c *cursor) bytes(n int, what string) ([]byte, error) {
	if c.at+int64(n) > c.size {
		return nil, truncated(c.at, "%s needs %d bytes, the file ends %d bytes further on", what, n, c.size-c.at)
	}
	if c.at < c.windowStart || c.at+int64(n) > c.windowStart+int64(c.windowLen) {
		want := min(int64(len(c.window)), c.size-c.at)
		got, err := c.r.ReadAt(c.window[:want], c.at)
		if int64(got) < want {
			return nil, shortRead(err, c.at, what)
		}
		c.windowStart, c.windowLen = c.at, got
	}
	b := c.window[c.at-c.windowStart:][:n]
	c.at += int64(n)
	return b, nil
}

func (c *cursor) skip(n int64, what string) error {
	if n > c.size-c.at {
		return truncated(c.at, "%s needs %d bytes, the file ends %d bytes further on: copy or download it again",
			what, n, c.size-c.at)
	}
	c.at += n
	return nil
}

// shortRead turns an unexpected end into Truncated and passes other read errors on.
func shortRead(err error, at int64, what string) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return truncated(at, "the file ends inside %s: copy or download it again", what)
	}
	return fmt.Errorf("read %s: %w", what, err)
}
