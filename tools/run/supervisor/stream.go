package supervisor

import (
	"errors"
	"io"
	"os"
)

// MaxStream bounds what is kept of each output stream, in bytes.
const MaxStream = 16 << 20

// Stream is one output stream: its first [MaxStream] bytes, and how many there were.
type Stream struct {
	Data      []byte
	Total     int64
	Truncated bool
}

// reader is the reading side of one stream.
type reader struct {
	Stream
	file *os.File
	// grew is told what is kept when there is more of it; nil for nobody.
	grew func(kept []byte)
}

// drain reads to the end of the stream and keeps its first bytes.
func (r *reader) drain() {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.file.Read(buf)
		keep := min(n, MaxStream-len(r.Data))
		r.Data = append(r.Data, buf[:keep]...)
		r.Total += int64(n)
		r.Truncated = r.Truncated || keep < n
		if keep > 0 && r.grew != nil {
			r.grew(r.Data)
		}
		if err != nil {
			r.Truncated = r.Truncated || !errors.Is(err, io.EOF)
			return
		}
	}
}
