package ggml

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// decoders turn whole blocks of src into float32 values, as the
// dequantize_row_* functions of ggml-quants.c do: the same operations in the
// same order, each rounded to float32 (the conversions below keep a compiler
// from fusing them), so that the values are upstream's bit for bit.
var decoders = map[Type]func(dst []float32, src []byte){
	F32: decodeF32, F16: decodeF16, BF16: decodeBF16,
	Q4_0: decodeQ40, Q4_1: decodeQ41, Q5_0: decodeQ50, Q5_1: decodeQ51, Q8_0: decodeQ80,
	Q2_K: decodeQ2K, Q3_K: decodeQ3K, Q4_K: decodeQ4K, Q5_K: decodeQ5K, Q6_K: decodeQ6K,
}

// Decodable reports whether values of this type can be decoded here.
func (t Type) Decodable() bool { return decoders[t] != nil }

// Decode turns src, whole blocks of type t, into float32 values in dst. dst
// must be as long as src has values.
func Decode(t Type, dst []float32, src []byte) error {
	info, ok := t.Info()
	f := decoders[t]
	if !ok || f == nil {
		return &FormatError{Problem: Undecodable, Offset: -1,
			Detail: fmt.Sprintf("values of type %s cannot be decoded here", t)}
	}
	if int64(len(src))%info.BlockBytes != 0 || int64(len(src))/info.BlockBytes*info.Block != int64(len(dst)) {
		return fmt.Errorf("decode %s: %d bytes do not hold %d values", t, len(src), len(dst))
	}
	f(dst, src)
	return nil
}

func f16At(b []byte) float32 { return Float16ToFloat32(binary.LittleEndian.Uint16(b)) }

func decodeF32(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func decodeF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = f16At(src[2*i:])
	}
}

func decodeBF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = bfloat16ToFloat32(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

func decodeQ40(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[32:], src[18:] {
		d := f16At(src)
		for j, q := range src[2:18] {
			dst[j] = float32(int(q&15)-8) * d
			dst[j+16] = float32(int(q>>4)-8) * d
		}
	}
}

func decodeQ41(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[32:], src[20:] {
		d, m := f16At(src), f16At(src[2:])
		for j, q := range src[4:20] {
			dst[j] = float32(float32(q&15)*d) + m
			dst[j+16] = float32(float32(q>>4)*d) + m
		}
	}
}

// fifthBits spreads the high bits of a q5 block over one pair of values.
func fifthBits(qh uint32, j int) (lo, hi byte) {
	return byte(qh>>j<<4) & 16, byte(qh>>(j+12)) & 16
}

func decodeQ50(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[32:], src[22:] {
		d, qh := f16At(src), binary.LittleEndian.Uint32(src[2:])
		for j, q := range src[6:22] {
			lo, hi := fifthBits(qh, j)
			dst[j] = float32(int(q&15|lo)-16) * d
			dst[j+16] = float32(int(q>>4|hi)-16) * d
		}
	}
}

func decodeQ51(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[32:], src[24:] {
		d, m, qh := f16At(src), f16At(src[2:]), binary.LittleEndian.Uint32(src[4:])
		for j, q := range src[8:24] {
			lo, hi := fifthBits(qh, j)
			dst[j] = float32(float32(q&15|lo)*d) + m
			dst[j+16] = float32(float32(q>>4|hi)*d) + m
		}
	}
}

func decodeQ80(dst []float32, src []byte) {
	for ; len(src) > 0; dst, src = dst[32:], src[34:] {
		d := f16At(src)
		for j, q := range src[2:34] {
			dst[j] = float32(int8(q)) * d
		}
	}
}

// chunkValues is how many values Values decodes at a time: a multiple of every block.
const chunkValues = 16 << 10

// Data gives a tensor's bytes as they stand in the file.
func (m *Model) Data(t Tensor) *io.SectionReader {
	return io.NewSectionReader(m.r, t.Offset, t.Size)
}

// Values decodes a tensor piece by piece, in the order of the file (row-major
// over Shape). visit gets each piece with the index of its first value; the
// slice is only valid during the call.
func (m *Model) Values(t Tensor, visit func(first int64, values []float32) error) error {
	info, ok := t.Type.Info()
	if !ok || !t.Type.Decodable() {
		return &FormatError{Problem: Undecodable, Offset: t.Offset,
			Detail: fmt.Sprintf("tensor %s is of type %s, whose values cannot be decoded here", t.Name, t.Type)}
	}
	total := t.Elements()
	n := min(total, chunkValues)
	values := make([]float32, n)
	raw := make([]byte, n/info.Block*info.BlockBytes)
	for first := int64(0); first < total; first += n {
		n = min(total-first, chunkValues)
		b := raw[:n/info.Block*info.BlockBytes]
		if got, err := m.r.ReadAt(b, t.Offset+first/info.Block*info.BlockBytes); got < len(b) {
			return shortRead(err, t.Offset, "data of tensor "+t.Name)
		}
		if err := Decode(t.Type, values[:n], b); err != nil {
			return fmt.Errorf("tensor %s: %w", t.Name, err)
		}
		if err := visit(first, values[:n]); err != nil {
			return err
		}
	}
	return nil
}

// Float32s decodes a whole tensor, row-major over Shape.
func (m *Model) Float32s(t Tensor) ([]float32, error) {
	out := make([]float32, t.Elements())
	err := m.Values(t, func(first int64, v []float32) error {
		copy(out[first:], v)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Part decodes n values of a tensor from one on, row-major over Shape.
func (m *Model) Part(t Tensor, first, n int64) ([]float32, error) {
	info, ok := t.Type.Info()
	if !ok || !t.Type.Decodable() || first < 0 || n < 0 || n > t.Elements()-first {
		return nil, fmt.Errorf("tensor %s of type %s with %d values: no %d values from %d on can be decoded", t.Name, t.Type, t.Elements(), n, first)
	}
	from, to := first/info.Block, (first+n+info.Block-1)/info.Block
	raw := make([]byte, (to-from)*info.BlockBytes)
	if got, err := m.r.ReadAt(raw, t.Offset+from*info.BlockBytes); got < len(raw) {
		return nil, shortRead(err, t.Offset, "data of tensor "+t.Name)
	}
	values := make([]float32, (to-from)*info.Block)
	if err := Decode(t.Type, values, raw); err != nil {
		return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	return values[first-from*info.Block:][:n], nil
}

// MelFilters reads the filter bank: Filters.Rows rows of Filters.Columns values.
func (m *Model) MelFilters() ([]float32, error) {
	out := make([]float32, m.Filters.Rows*m.Filters.Columns)
	raw := make([]byte, 4*len(out))
	if n, err := m.r.ReadAt(raw, m.Filters.offset); n < len(raw) {
		return nil, shortRead(err, m.Filters.offset, "mel filters")
	}
	decodeF32(out, raw)
	return out, nil
}

// Tokens reads the vocabulary that the file spells out, in order of id, as
// bytes (a token need not be whole UTF-8).
func (m *Model) Tokens() ([][]byte, error) {
	out := make([][]byte, 0, m.TokenCount)
	_, err := scanTokens(m.r, m.vocabStart, m.vocabEnd, m.TokenCount, func(b []byte) {
		out = append(out, append([]byte{}, b...))
	})
	return out, err
}
