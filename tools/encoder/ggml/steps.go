package ggml

import (
	"fmt"
	"math"
)

// Steps gives for each value in src, whole blocks of type t, the distance
// between neighbouring points of the grid that it was rounded to: the scale of
// its block, or of its group within a super-block. Plain types have no grid and
// give zeros.
func Steps(t Type, dst []float32, src []byte) error {
	info, ok := t.Info()
	if !ok || !t.Decodable() {
		return &FormatError{Problem: Undecodable, Offset: -1, Detail: fmt.Sprintf("values of type %s cannot be decoded here", t)}
	}
	if int64(len(src))%info.BlockBytes != 0 || int64(len(src))/info.BlockBytes*info.Block != int64(len(dst)) {
		return fmt.Errorf("steps of %s: %d bytes do not hold %d values", t, len(src), len(dst))
	}
	if !info.Quantised {
		clear(dst)
		return nil
	}
	for ; len(src) > 0; src, dst = src[info.BlockBytes:], dst[info.Block:] {
		blockSteps(t, dst[:info.Block], src)
	}
	return nil
}

// blockSteps does one block.
func blockSteps(t Type, dst []float32, src []byte) {
	fill := func(dst []float32, v float32) {
		v = float32(math.Abs(float64(v)))
		for i := range dst {
			dst[i] = v
		}
	}
	switch t {
	case Q4_0, Q4_1, Q5_0, Q5_1, Q8_0:
		fill(dst, f16At(src))
	case Q2_K:
		d := f16At(src[80:])
		for g := range 16 {
			fill(dst[16*g:][:16], d*float32(src[g]&15))
		}
	case Q3_K:
		d, scales := f16At(src[108:]), q3Scales(src[96:108])
		for g := range 16 {
			fill(dst[16*g:][:16], d*float32(scales[g]))
		}
	case Q4_K, Q5_K:
		d := f16At(src)
		for g := range 8 {
			sc, _ := scaleMin4(g, src[4:16])
			fill(dst[32*g:][:32], d*sc)
		}
	case Q6_K:
		d := f16At(src[208:])
		for g := range 16 {
			fill(dst[16*g:][:16], d*float32(int8(src[192+g])))
		}
	}
}
