package ggml

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Header is everything of a model file that stands before the tensors.
type Header struct {
	Hyperparameters Hyperparameters
	// FilterRows rows of FilterColumns mel filters.
	FilterRows, FilterColumns int
	Filters                   []float32
	Tokens                    [][]byte
}

// Writer writes a model file as a stream: the header, then one tensor after
// the other.
type Writer struct {
	w     *bufio.Writer
	names map[string]bool
}

// NewWriter writes the header to w.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	if h.FilterRows <= 0 || h.FilterColumns <= 0 || h.FilterRows*h.FilterColumns != len(h.Filters) {
		return nil, fmt.Errorf("write model: %d mel filter values for %d rows of %d", len(h.Filters), h.FilterRows, h.FilterColumns)
	}
	p := h.Hyperparameters
	b := bufio.NewWriterSize(w, 1<<16)
	put := func(v int) { _ = binary.Write(b, binary.LittleEndian, int32(v)) }
	put(Magic)
	for _, v := range []int{p.Vocab, p.AudioCtx, p.AudioState, p.AudioHead, p.AudioLayer,
		p.TextCtx, p.TextState, p.TextHead, p.TextLayer, p.Mels,
		int(p.FType) + quantisationVersionFactor*p.QuantisationVersion} {
		if v < 0 || v > math.MaxInt32 {
			return nil, fmt.Errorf("write model: header value %d does not fit", v)
		}
		put(v)
	}
	put(h.FilterRows)
	put(h.FilterColumns)
	if err := binary.Write(b, binary.LittleEndian, h.Filters); err != nil {
		return nil, fmt.Errorf("write model: mel filters: %w", err)
	}
	put(len(h.Tokens))
	for _, t := range h.Tokens {
		put(len(t))
		// Errors of a bufio.Writer stick, Flush reports them.
		_, _ = b.Write(t)
	}
	return &Writer{w: b, names: map[string]bool{}}, nil
}

// Tensor writes one tensor: name, type, extents in ggml's order (innermost
// first), and the data, of which exactly as many bytes as the extents call for
// must be in data.
func (w *Writer) Tensor(name string, t Type, dims []int64, data io.Reader) error {
	info, ok := t.Info()
	if !ok {
		return fmt.Errorf("write tensor %s: type %d is not a ggml type", name, t)
	}
	if name == "" || len(name) > maxNameLength || len(dims) > maxRank || w.names[name] {
		return fmt.Errorf("write tensor %q: bad or repeated name, or rank %d above %d", name, len(dims), maxRank)
	}
	w.names[name] = true
	elements := int64(1)
	for _, d := range dims {
		if d <= 0 || d > maxDimension {
			return fmt.Errorf("write tensor %s: extents %v", name, dims)
		}
		elements *= d
	}
	if info.Block > 1 && (len(dims) == 0 || dims[0]%info.Block != 0) {
		return fmt.Errorf("write tensor %s: rows of %v values, %s needs a multiple of %d", name, dims, t, info.Block)
	}
	for _, v := range append([]int64{int64(len(dims)), int64(len(name)), int64(t)}, dims...) {
		_ = binary.Write(w.w, binary.LittleEndian, int32(v))
	}
	_, _ = w.w.WriteString(name)
	size := elements / info.Block * info.BlockBytes
	n, err := io.Copy(w.w, io.LimitReader(data, size))
	if err != nil {
		return fmt.Errorf("write tensor %s: %w", name, err)
	}
	if n != size {
		return fmt.Errorf("write tensor %s: %d bytes of data, %s %v needs %d", name, n, t, dims, size)
	}
	var more [1]byte
	if k, _ := io.ReadFull(data, more[:]); k != 0 {
		return fmt.Errorf("write tensor %s: more than the %d bytes of data that %s %v needs", name, size, t, dims)
	}
	return nil
}

// Flush writes out what is buffered. A Writer that was not flushed has not
// written its file.
func (w *Writer) Flush() error {
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	return nil
}
