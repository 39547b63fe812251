package constexpr

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/half"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// unpacked returns one byte for each element of a type of at most 8 bits: its
// bits, not sign-extended.
func unpacked(t mil.Tensor) []byte {
	bits := t.DType.Bits()
	if bits == 8 {
		return t.Data
	}
	return unpack(t.Data, bits, product(t.Shape))
}

// unpack splits n fields of 1 to 8 bits, low bits first.
func unpack(data []byte, bits int, n int64) []byte {
	if bits == 8 {
		return data[:n]
	}
	out := make([]byte, n)
	mask := byte(1<<bits - 1)
	if 8%bits == 0 { // none lies in two bytes
		// What each byte splits into, the first field lowest.
		per := 8 / bits
		var split [256]uint64
		for b := range split {
			for k := range per {
				split[b] |= uint64(byte(b>>(k*bits))&mask) << (8 * k)
			}
		}
		i := 0
		for _, b := range data {
			if i+8 > len(out) {
				break
			}
			binary.LittleEndian.PutUint64(out[i:], split[b]) // the next overwrites what is too much
			i += per
		}
		for ; i < len(out); i++ {
			out[i] = data[i/per] >> (i % per * bits) & mask
		}
		return out
	}
	var acc uint32
	have, at := 0, 0
	for i := range out {
		for have < bits {
			acc |= uint32(data[at]) << have
			at++
			have += 8
		}
		out[i] = byte(acc) & mask
		acc >>= bits
		have -= bits
	}
	return out
}

// pack is the inverse of unpack for a whole tensor.
func pack(codes []byte, d mil.DType) []byte {
	bits := d.Bits()
	if bits >= 8 {
		return codes
	}
	out := make([]byte, 0, (len(codes)*bits+7)/8)
	var acc uint32
	have := 0
	for _, c := range codes {
		acc |= uint32(c) << have
		for have += bits; have >= 8; have -= 8 {
			out = append(out, byte(acc))
			acc >>= 8
		}
	}
	if have > 0 {
		out = append(out, byte(acc))
	}
	return out
}

// Floats returns a function from index to value in float32, exact for every
// type that the operations allow, and an error for the others. The tensor's
// bytes must agree with its shape, as those of Apply and Constants do.
func Floats(t mil.Tensor) (func(int64) float32, error) {
	le := binary.LittleEndian
	switch t.DType {
	case mil.Float32:
		return func(i int64) float32 { return math.Float32frombits(le.Uint32(t.Data[4*i:])) }, nil
	case mil.Float16:
		return func(i int64) float32 { return half.ToFloat32(le.Uint16(t.Data[2*i:])) }, nil
	case mil.Int8:
		return func(i int64) float32 { return float32(int8(t.Data[i])) }, nil
	case mil.Int4:
		codes := unpacked(t)
		return func(i int64) float32 { return float32(int8(codes[i]<<4) >> 4) }, nil
	case mil.Uint1, mil.Uint2, mil.Uint3, mil.Uint4, mil.Uint6, mil.Uint8:
		codes := unpacked(t)
		return func(i int64) float32 { return float32(codes[i]) }, nil
	}
	return nil, fmt.Errorf("numbers of type %s are not known here", t.DType)
}

// numbers collects results of type float16 or float32.
type numbers struct {
	half bool
	out  []byte
}

func newNumbers(d mil.DType, n int64) *numbers {
	return &numbers{half: d == mil.Float16, out: make([]byte, 0, n*int64(d.Bits()/8))}
}

func (a *numbers) put(y float32) {
	if a.half {
		a.out = binary.LittleEndian.AppendUint16(a.out, half.FromFloat32(y))
		return
	}
	a.out = binary.LittleEndian.AppendUint32(a.out, math.Float32bits(y))
}

// toHalf rounds to float16. A sum or product of float16 numbers that is
// computed in float32 becomes the correctly rounded one.
func toHalf(x float32) float32 { return half.ToFloat32(half.FromFloat32(x)) }

// elements moves elements of any type by index.
type elements struct {
	dtype mil.DType
	size  int64 // bytes of one element here; sub-byte types take one
	data  []byte
}

func unpackedElements(t mil.Tensor) elements {
	if t.DType.Bits() <= 8 {
		return elements{t.DType, 1, unpacked(t)}
	}
	return elements{t.DType, int64(t.DType.Bits() / 8), t.Data}
}

func newElements(d mil.DType, n int64) elements {
	size := int64(1)
	if d.Bits() > 8 {
		size = int64(d.Bits() / 8)
	}
	return elements{d, size, make([]byte, n*size)}
}

// set copies element j of from to element i.
func (e elements) set(i int64, from elements, j int64) {
	switch e.size {
	case 1:
		e.data[i] = from.data[j]
		return
	case 2:
		binary.LittleEndian.PutUint16(e.data[2*i:], binary.LittleEndian.Uint16(from.data[2*j:]))
		return
	}
	copy(e.data[i*e.size:(i+1)*e.size], from.data[j*e.size:])
}

// gather copies the elements of from that codes count from base on to the elements from i on.
func (e elements) gather(i int64, from elements, base int64, codes []byte) {
	to, table := e.data[i*e.size:], from.data[base*e.size:]
	switch e.size {
	case 1:
		for k, c := range codes {
			to[k] = table[c]
		}
	case 2:
		if len(codes) >= 256 {
			done := gatherMany(to, table, codes)
			codes, to = codes[done:], to[2*done:]
		}
		for k, c := range codes {
			binary.LittleEndian.PutUint16(to[2*k:], binary.LittleEndian.Uint16(table[2*int(c):]))
		}
	case 4:
		for k, c := range codes {
			binary.NativeEndian.PutUint32(to[4*k:], binary.NativeEndian.Uint32(table[4*int(c):]))
		}
	default:
		for k, c := range codes {
			e.set(i+int64(k), from, base+int64(c))
		}
	}
}

// gatherPacked copies the elements of from that n fields of some bits count to the elements from the first on.
func (e elements) gatherPacked(from elements, data []byte, bits int, n int64) {
	per := 8 / bits
	done := 0
	if e.size == 2 && (bits == 2 || bits == 4) {
		// What each byte gives, two or four elements.
		var gives [256]uint64
		for b := range gives {
			for k := range per {
				at := b >> (k * bits) & (1<<bits - 1)
				gives[b] |= uint64(binary.LittleEndian.Uint16(from.data[2*at:])) << (16 * k)
			}
		}
		to := e.data
		for len(to) >= 8 {
			binary.LittleEndian.PutUint64(to, gives[data[done]]) // the next overwrites what is too much
			to = to[2*per:]
			done++
		}
	}
	e.gather(int64(done*per), from, 0, unpack(data[done:], bits, n-int64(done*per)))
}

// gatherMany is gather of elements of two bytes, four at a time; it returns how many it copied.
func gatherMany(to, table, codes []byte) int {
	var all [256]uint16 // so that no code is outside
	for k := range min(len(all), len(table)/2) {
		all[k] = binary.LittleEndian.Uint16(table[2*k:])
	}
	n := len(codes) &^ 3
	for i := 0; i < n; i += 4 {
		c := codes[i : i+4 : i+4]
		binary.LittleEndian.PutUint64(to[2*i:], uint64(all[c[0]])|uint64(all[c[1]])<<16|uint64(all[c[2]])<<32|uint64(all[c[3]])<<48)
	}
	return n
}

// scatter copies the elements of from, in order, to those that a bit of set is one for, the others being zero. There are as
// many as ones among the bits of the elements.
func (e elements) scatter(set []byte, from elements) {
	i, next, n := 0, 0, len(e.data)/int(e.size)
	if e.size == 2 {
		i, next = kernel.ExpandBytes(e.data, from.data, set)
	}
	for ; i < n; i++ {
		if set[i/8]>>(i%8)&1 != 0 {
			e.set(int64(i), from, int64(next))
			next++
		}
	}
}

// countOnes counts the ones among the first n bits.
func countOnes(set []byte, n int64) (ones int64) {
	for ; n >= 64; n -= 64 {
		ones += int64(bits.OnesCount64(binary.LittleEndian.Uint64(set)))
		set = set[8:]
	}
	for i := range n {
		ones += int64(set[i/8] >> (i % 8) & 1)
	}
	return ones
}

// put stores values as the elements from i on, which are float16 or float32.
func (e elements) put(i int64, values []float32) {
	to := e.data[i*e.size:]
	if e.size == 2 {
		kernel.NarrowBytes(to[:2*len(values)], values)
		return
	}
	for k, v := range values {
		binary.LittleEndian.PutUint32(to[4*k:], math.Float32bits(v))
	}
}

// packed is the elements as a tensor stores them.
func (e elements) packed() []byte { return pack(e.data, e.dtype) }
