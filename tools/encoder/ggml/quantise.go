package ggml

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Quantise rounds values to Q4_0, Q5_0 or Q8_0 as ggml-quants.c's reference
// functions (quantize_row_*_ref) do. The number of values must be a multiple
// of 32.
func Quantise(t Type, values []float32) ([]byte, error) {
	encode := map[Type]func([]byte, []float32) []byte{Q4_0: encodeQ40, Q5_0: encodeQ50, Q8_0: encodeQ80}[t]
	if encode == nil || len(values)%32 != 0 {
		return nil, fmt.Errorf("quantise %d values to %s: expected q4_0, q5_0 or q8_0 and a multiple of 32", len(values), t)
	}
	info, _ := t.Info()
	out := make([]byte, 0, int64(len(values))/32*info.BlockBytes)
	for ; len(values) > 0; values = values[32:] {
		out = encode(out, values[:32])
	}
	return out, nil
}

// extreme is the value of the largest size, with its sign.
func extreme(v []float32) float32 {
	var m float32
	for _, x := range v {
		if math.Abs(float64(x)) > math.Abs(float64(m)) {
			m = x
		}
	}
	return m
}

func inverse(d float32) float32 {
	if d == 0 {
		return 0
	}
	return 1 / d
}

func encodeQ40(b []byte, v []float32) []byte {
	d := extreme(v) / -8
	id := inverse(d)
	b = binary.LittleEndian.AppendUint16(b, Float32ToFloat16(d))
	q := func(x float32) byte { return byte(min(15, int8(float32(x*id)+8.5))) }
	for j := range 16 {
		b = append(b, q(v[j])|q(v[j+16])<<4)
	}
	return b
}

func encodeQ50(b []byte, v []float32) []byte {
	d := extreme(v) / -16
	id := inverse(d)
	b = binary.LittleEndian.AppendUint16(b, Float32ToFloat16(d))
	q := func(x float32) byte { return byte(min(31, int8(float32(x*id)+16.5))) }
	var high uint32
	var low [16]byte
	for j := range low {
		lo, hi := q(v[j]), q(v[j+16])
		low[j] = lo&15 | hi<<4
		high |= uint32(lo>>4)<<j | uint32(hi>>4)<<(j+16)
	}
	b = binary.LittleEndian.AppendUint32(b, high)
	return append(b, low[:]...)
}

func encodeQ80(b []byte, v []float32) []byte {
	d := float32(math.Abs(float64(extreme(v)))) / 127
	id := inverse(d)
	b = binary.LittleEndian.AppendUint16(b, Float32ToFloat16(d))
	for _, x := range v {
		// roundf: halves away from zero.
		b = append(b, byte(int8(math.Round(float64(float32(x*id))))))
	}
	return b
}
