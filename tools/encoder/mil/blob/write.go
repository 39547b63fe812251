package blob

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Layout places blobs before they are written: programs need the offsets, the
// header needs the count, and the writer only ever appends.
type Layout struct {
	blobs []Info
	end   uint64
}

// Add places n elements of type t and returns where they will lie.
func (l *Layout) Add(t Type, n uint64) (Info, error) {
	bits := uint64(t.Bits())
	if bits == 0 {
		return Info{}, fmt.Errorf("place a blob: unknown element type %d", uint32(t))
	}
	if n > 1<<50 || len(l.blobs) >= maxBlobs {
		return Info{}, fmt.Errorf("place a blob: %d elements of %s as blob %d are more than a weight file holds", n, t, len(l.blobs)+1)
	}
	meta := max(up(l.end), headerBytes)
	i := Info{Type: t, Meta: meta, Offset: meta + metaBytes, Size: (n*bits + 7) / 8}
	if bits < 8 {
		i.PaddingBits = i.Size*8 - n*bits
	}
	l.blobs = append(l.blobs, i)
	l.end = i.Offset + i.Size
	return i, nil
}

// Size is the size of the file: it ends with the last byte of the last blob.
func (l *Layout) Size() uint64 { return max(l.end, headerBytes) }

// Write writes the file. data is called once for each blob, in the order of
// Add, and must write exactly the blob's bytes to w.
func (l *Layout) Write(w io.Writer, data func(n int, w io.Writer) error) error {
	out := &counter{w: w}
	var h [headerBytes]byte
	binary.LittleEndian.PutUint32(h[0:], uint32(len(l.blobs)))
	binary.LittleEndian.PutUint32(h[4:], version)
	if _, err := out.Write(h[:]); err != nil {
		return fmt.Errorf("write the header of a weight file: %w", err)
	}
	var zeros [align]byte
	for n, i := range l.blobs {
		if _, err := out.Write(zeros[:i.Meta-out.n]); err != nil {
			return fmt.Errorf("write blob %d: %w", n, err)
		}
		if _, err := out.Write(i.record()); err != nil {
			return fmt.Errorf("write blob %d: %w", n, err)
		}
		if err := data(n, out); err != nil {
			return fmt.Errorf("write blob %d: %w", n, err)
		}
		if got := out.n - i.Offset; got != i.Size {
			return fmt.Errorf("write blob %d: expected %d bytes of data, got %d", n, i.Size, got)
		}
	}
	return nil
}

func (i Info) record() []byte {
	b := make([]byte, metaBytes)
	le := binary.LittleEndian
	le.PutUint32(b[0:], sentinel)
	le.PutUint32(b[4:], uint32(i.Type))
	le.PutUint64(b[8:], i.Size)
	le.PutUint64(b[16:], i.Offset)
	le.PutUint64(b[24:], i.PaddingBits)
	return b
}

type counter struct {
	w io.Writer
	n uint64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += uint64(n)
	return n, err
}
