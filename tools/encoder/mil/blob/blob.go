// Package blob reads and writes weight files of Core ML programs, the "blob
// v2" storage that is normally named weights/weight.bin.
//
// All numbers are little-endian; everything is aligned to 64 bytes.
//
//	header, 64 bytes:  u32 count of blobs, u32 version = 2, 7 × u64 reserved
//	then, per blob:    64 bytes of metadata, the data, zeros up to the next multiple of 64
//	metadata:          u32 0xDEADBEEF, u32 type, u64 size in bytes, u64 absolute offset of the data,
//	                   u64 padding bits (only meaningful below 8 bits an element), 4 × u64 reserved
//
// A program refers to a blob by the offset of its metadata. Elements below
// one byte are packed with low bits first. Reserved fields, and the padding
// field of whole-byte types, hold garbage in real files and are ignored.
package blob

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// Type is an element type as a weight file numbers it
// (MILBlob::Blob::BlobDataType in coremltools).
type Type uint32

// Element types of weight files.
const (
	Float16      Type = 1
	Float32      Type = 2
	Uint8        Type = 3
	Int8         Type = 4
	BFloat16     Type = 5
	Int16        Type = 6
	Uint16       Type = 7
	Int4         Type = 8
	Uint1        Type = 9
	Uint2        Type = 10
	Uint4        Type = 11
	Uint3        Type = 12
	Uint6        Type = 13
	Int32        Type = 14
	Uint32       Type = 15
	Float8E4M3FN Type = 16
	Float8E5M2   Type = 17
)

var types = map[Type]struct {
	name string
	bits int
}{
	Float16: {"fp16", 16}, Float32: {"fp32", 32}, Uint8: {"uint8", 8}, Int8: {"int8", 8}, BFloat16: {"bf16", 16},
	Int16: {"int16", 16}, Uint16: {"uint16", 16}, Int4: {"int4", 4}, Uint1: {"uint1", 1}, Uint2: {"uint2", 2},
	Uint4: {"uint4", 4}, Uint3: {"uint3", 3}, Uint6: {"uint6", 6}, Int32: {"int32", 32}, Uint32: {"uint32", 32},
	Float8E4M3FN: {"fp8e4m3fn", 8}, Float8E5M2: {"fp8e5m2", 8},
}

// String returns MIL's spelling of the type.
func (t Type) String() string {
	if i, ok := types[t]; ok {
		return i.name
	}
	return "type " + strconv.FormatUint(uint64(t), 10)
}

// Bits is the width of one element, 0 for unknown types.
func (t Type) Bits() int { return types[t].bits }

const (
	align       = 64
	version     = 2
	sentinel    = 0xDEADBEEF
	maxBlobs    = 1 << 20
	headerBytes = 64
	metaBytes   = 64
)

// Info describes one blob.
type Info struct {
	Type Type
	// Meta is the offset of the metadata record, which programs refer to.
	Meta uint64
	// Offset and Size place the data, in bytes.
	Offset, Size uint64
	// PaddingBits is the number of unused high bits in the last byte of a
	// sub-byte type; 0 for others.
	PaddingBits uint64
}

// Elements is the number of elements that the blob holds.
func (i Info) Elements() uint64 { return (i.Size*8 - i.PaddingBits) / uint64(i.Type.Bits()) }

// File is an open weight file.
type File struct {
	r    io.ReaderAt
	size uint64
	// Count is the number of blobs that the header states.
	Count uint32
}

// Open reads the header of a weight file of size bytes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	var h [headerBytes]byte
	n, err := r.ReadAt(h[:min(headerBytes, max(size, 0))], 0)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read the header of a weight file: %w", err)
	}
	if mil.IsLFSPointer(h[:n]) {
		return nil, mil.ErrLFSPointer
	}
	if n < headerBytes {
		return nil, fmt.Errorf("weight file of %d bytes: expected a header of %d", size, headerBytes)
	}
	count, v := binary.LittleEndian.Uint32(h[0:]), binary.LittleEndian.Uint32(h[4:])
	if v != version {
		return nil, fmt.Errorf("weight file version %d: expected %d (version 1 belongs to neural networks)", v, version)
	}
	// Each blob takes its metadata at least.
	if count > maxBlobs || uint64(count)*metaBytes > uint64(size)-headerBytes {
		return nil, fmt.Errorf("weight file of %d bytes cannot hold the %d blobs that its header states", size, count)
	}
	return &File{r: r, size: uint64(size), Count: count}, nil
}

// Size is the size of the file in bytes.
func (f *File) Size() uint64 { return f.size }

// Stat reads the metadata record at offset meta and checks it.
func (f *File) Stat(meta uint64) (Info, error) {
	if meta < headerBytes || meta%align != 0 || meta > f.size || f.size-meta < metaBytes {
		return Info{}, fmt.Errorf("no blob at offset %d: the weight file has %d bytes, blobs begin at multiples of %d from %d on",
			meta, f.size, align, headerBytes)
	}
	var b [metaBytes]byte
	if _, err := f.r.ReadAt(b[:], int64(meta)); err != nil && err != io.EOF {
		return Info{}, fmt.Errorf("read the blob at offset %d: %w", meta, err)
	}
	le := binary.LittleEndian
	if s := le.Uint32(b[0:]); s != sentinel {
		return Info{}, fmt.Errorf("no blob at offset %d: expected the mark %#x, found %#x", meta, uint32(sentinel), s)
	}
	i := Info{Type: Type(le.Uint32(b[4:])), Meta: meta, Size: le.Uint64(b[8:]), Offset: le.Uint64(b[16:])}
	if i.Type.Bits() == 0 {
		return Info{}, fmt.Errorf("blob at offset %d: unknown element type %d", meta, uint32(i.Type))
	}
	if i.Offset%align != 0 || i.Offset < meta+metaBytes || i.Offset > f.size || i.Size > f.size-i.Offset {
		return Info{}, fmt.Errorf("blob at offset %d: its data (%d bytes at %d) do not lie behind it in a file of %d bytes; the weight file is cut short or damaged",
			meta, i.Size, i.Offset, f.size)
	}
	if i.Type.Bits() < 8 {
		i.PaddingBits = le.Uint64(b[24:])
		if i.PaddingBits > 7 || i.Size == 0 && i.PaddingBits > 0 || (i.Size*8-i.PaddingBits)%uint64(i.Type.Bits()) != 0 {
			return Info{}, fmt.Errorf("blob at offset %d: %d padding bits do not fit %d bytes of %s", meta, i.PaddingBits, i.Size, i.Type)
		}
	} else if i.Size%uint64(i.Type.Bits()/8) != 0 {
		return Info{}, fmt.Errorf("blob at offset %d: %d bytes are no whole number of %s", meta, i.Size, i.Type)
	}
	return i, nil
}

// Data returns a reader over a blob's bytes.
func (f *File) Data(i Info) *io.SectionReader {
	return io.NewSectionReader(f.r, int64(i.Offset), int64(i.Size))
}

// Each calls fn for the blobs in file order, as far as they follow each other
// without gaps, which is how every known writer lays them out.
func (f *File) Each(fn func(Info) error) error {
	at := uint64(headerBytes)
	for n := range f.Count {
		i, err := f.Stat(at)
		if err != nil {
			return fmt.Errorf("blob %d of %d: %w", n+1, f.Count, err)
		}
		if err := fn(i); err != nil {
			return err
		}
		at = up(i.Offset + i.Size)
	}
	return nil
}

// Span is a run of bytes of a weight file, from Begin to before End.
type Span struct{ Begin, End uint64 }

// Rest says what of the file none of the blobs at metas takes up: blobs that lie there all the same, and bytes that
// belong to no blob. What a blob's alignment leaves free is not counted.
func (f *File) Rest(metas []uint64) (unread []Info, loose []Span, err error) {
	spans := []Span{{0, headerBytes}}
	for _, meta := range metas {
		i, err := f.Stat(meta)
		if err != nil {
			return nil, nil, err
		}
		spans = append(spans, Span{meta, meta + metaBytes}, Span{i.Offset, up(i.Offset + i.Size)})
	}
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.Begin, b.Begin) })
	at := uint64(0)
	for _, s := range append(spans, Span{f.size, f.size}) {
		if s.Begin > at {
			more, rest := f.between(Span{at, s.Begin})
			unread = append(unread, more...)
			if rest.Begin < rest.End {
				loose = append(loose, rest)
			}
		}
		at = max(at, s.End)
	}
	return unread, loose, nil
}

// between walks the blobs that follow each other from the beginning of a span, and gives what is left of it.
func (f *File) between(s Span) (unread []Info, rest Span) {
	at := up(s.Begin)
	for at < s.End {
		i, err := f.Stat(at)
		if err != nil || i.Offset+i.Size > s.End {
			return unread, Span{at, s.End}
		}
		unread = append(unread, i)
		at = up(i.Offset + i.Size)
	}
	return unread, Span{}
}

func up(n uint64) uint64 { return (n + align - 1) / align * align }
