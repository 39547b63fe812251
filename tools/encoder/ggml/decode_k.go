package ggml

// The k-quants hold 256 values in a super-block, in groups of 16 or 32 with
// scales (and minima) of their own, which are quantised themselves.

func decodeQ2K(dst []float32, src []byte) {
	for ; len(src) > 0; src = src[84:] {
		scales, qs := src[:16], src[16:80]
		d, dmin := f16At(src[80:]), f16At(src[82:])
		for half := range 2 {
			for j := range 4 {
				for k := range 2 {
					sc := scales[8*half+2*j+k]
					dl, ml := d*float32(sc&15), dmin*float32(sc>>4)
					for l, q := range qs[32*half+16*k:][:16] {
						dst[l] = float32(dl*float32(q>>(2*j)&3)) - ml
					}
					dst = dst[16:]
				}
			}
		}
	}
}

// q3Scales unpacks sixteen 6-bit scales, low nibbles first, then the high
// pairs of bits from the last four bytes.
func q3Scales(b []byte) (s [16]int) {
	for i := range s {
		lo := b[i%8] >> (4 * (i / 8)) & 15
		hi := b[8+i%4] >> (2 * (i / 4)) & 3
		s[i] = int(lo|hi<<4) - 32
	}
	return s
}

func decodeQ3K(dst []float32, src []byte) {
	for ; len(src) > 0; src = src[110:] {
		hmask, qs, scales := src[:32], src[32:96], q3Scales(src[96:108])
		d := f16At(src[108:])
		for g := range 16 {
			// Group g covers half g/8, bit pair (g/2)%4, columns 16*(g%2).
			half, j, k := g/8, g/2%4, g%2
			dl := d * float32(scales[g])
			for l := range 16 {
				v := int(qs[32*half+16*k+l] >> (2 * j) & 3)
				if hmask[16*k+l]>>(4*half+j)&1 == 0 {
					v -= 4
				}
				dst[l] = dl * float32(v)
			}
			dst = dst[16:]
		}
	}
}

// scaleMin4 unpacks the 6-bit scale and minimum of group j of a q4_K or q5_K
// super-block.
func scaleMin4(j int, q []byte) (scale, minimum float32) {
	if j < 4 {
		return float32(q[j] & 63), float32(q[j+4] & 63)
	}
	return float32(q[j+4]&15 | q[j-4]>>6<<4), float32(q[j+4]>>4 | q[j]>>6<<4)
}

func decodeQ4K(dst []float32, src []byte) {
	for ; len(src) > 0; src = src[144:] {
		d, dmin := f16At(src), f16At(src[2:])
		scales, qs := src[4:16], src[16:144]
		for g := range 8 {
			sc, m := scaleMin4(g, scales)
			dl, ml := d*sc, dmin*m
			for l, q := range qs[32*(g/2):][:32] {
				dst[l] = float32(dl*float32(q>>(4*(g%2))&15)) - ml
			}
			dst = dst[32:]
		}
	}
}

func decodeQ5K(dst []float32, src []byte) {
	for ; len(src) > 0; src = src[176:] {
		d, dmin := f16At(src), f16At(src[2:])
		scales, qh, qs := src[4:16], src[16:48], src[48:176]
		for g := range 8 {
			sc, m := scaleMin4(g, scales)
			dl, ml := d*sc, dmin*m
			for l, q := range qs[32*(g/2):][:32] {
				v := q>>(4*(g%2))&15 | qh[l]>>g&1<<4
				dst[l] = float32(dl*float32(v)) - ml
			}
			dst = dst[32:]
		}
	}
}

func decodeQ6K(dst []float32, src []byte) {
	for ; len(src) > 0; src = src[210:] {
		ql, qh, sc := src[:128], src[128:192], src[192:208]
		d := f16At(src[208:])
		for half := range 2 {
			for l := range 32 {
				h := qh[32*half+l]
				a, b := ql[64*half+l], ql[64*half+32+l]
				for i, q := range [4]byte{a&15 | h&3<<4, b&15 | h>>2&3<<4, a>>4 | h>>4&3<<4, b>>4 | h>>6<<4} {
					scale := float32(int8(sc[8*half+2*i+l/16]))
					dst[128*half+32*i+l] = float32(d*scale) * float32(int(q)-32)
				}
			}
		}
		dst = dst[256:]
	}
}
