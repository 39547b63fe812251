package mil

import (
	"fmt"
	"io"
)

// Sections reads weights without mapping whole files into memory.
type Sections interface {
	// Section is where a blob's elements lie, with their type.
	Section(ref BlobRef) (DType, *io.SectionReader, error)
}

// Read gives weights each of whose blobs is read into memory of its own, which is gone with it: the pages of a mapped file remain,
// up to the whole file. What cannot be read by sections is given as it is.
func Read(w Weights) Weights {
	if s, ok := w.(Sections); ok {
		return reading{s}
	}
	return w
}

type reading struct{ from Sections }

func (r reading) Blob(ref BlobRef) (DType, []byte, error) {
	d, s, err := r.from.Section(ref)
	if err != nil {
		return 0, nil, err
	}
	data := make([]byte, s.Size())
	if _, err := io.ReadFull(s, data); err != nil {
		return 0, nil, fmt.Errorf("read the blob at offset %d of %q: %w", ref.Offset, ref.Path, err)
	}
	return d, data, nil
}
