package kernel

// Matrix is a strided view: element (i, j) is at i*Row + j*Col of F32, or of F16
// where that is set. Strides are in elements and may be zero (broadcast).
type Matrix struct {
	F32      []float32
	F16      []uint16
	Row, Col int
}

// T is the transposed view.
func (m Matrix) T() Matrix {
	m.Row, m.Col = m.Col, m.Row
	return m
}

// Source gives blocks of the right side of a product, whose rows run over k and
// whose columns over j.
type Source interface {
	// pack writes k in [k0, k0+kn) and columns j in [j0, j0+jn) to dst,
	// k-major, lanes to a row; lanes from jn on are zero. tmp has room for
	// kn*lanes values.
	pack(dst, tmp []float32, k0, kn, j0, jn, lanes int)
}

func (m Matrix) pack(dst, tmp []float32, k0, kn, j0, jn, lanes int) {
	switch {
	case m.F16 != nil:
		m.packHalf(dst, tmp, k0, kn, j0, jn, lanes)
	case m.Row == 1:
		packTransposed(dst, m.F32[k0+j0*m.Col:], m.Col, kn, jn, lanes)
	case m.Col == 1 && useAsm && lanes == tileCols && jn == tileCols && kn > 0:
		at := k0*m.Row + j0
		_, _ = dst[kn*tileCols-1], m.F32[at+(kn-1)*m.Row+tileCols-1]
		packRows16(&dst[0], &m.F32[at], 4*m.Row, kn)
	case m.Col == 1:
		for k := range kn {
			at := (k0+k)*m.Row + j0
			row := dst[k*lanes : (k+1)*lanes]
			copy(row, m.F32[at:at+jn])
			clear(row[jn:])
		}
	default:
		for k := range kn {
			row := dst[k*lanes : (k+1)*lanes]
			for j := range jn {
				row[j] = m.F32[(k0+k)*m.Row+(j0+j)*m.Col]
			}
			clear(row[jn:])
		}
	}
}

func (m Matrix) packHalf(dst, tmp []float32, k0, kn, j0, jn, lanes int) {
	switch {
	case m.Row == 1 && useAsm && lanes == tileCols && jn == tileCols && kn%8 == 0 && kn > 0:
		at := k0 + j0*m.Col
		_, _ = dst[kn*tileCols-1], m.F16[at+(tileCols-1)*m.Col+kn-1]
		widenTransposed16(&dst[0], &m.F16[at], 2*m.Col, kn)
	case m.Row == 1:
		for j := range jn {
			at := k0 + (j0+j)*m.Col
			Widen(tmp[j*kn:(j+1)*kn], m.F16[at:at+kn])
		}
		packTransposed(dst, tmp, kn, kn, jn, lanes)
	case m.Col == 1 && useAsm && lanes == tileCols && jn == tileCols && kn > 0:
		at := k0*m.Row + j0
		_, _ = dst[kn*tileCols-1], m.F16[at+(kn-1)*m.Row+tileCols-1]
		widenRows16(&dst[0], &m.F16[at], 2*m.Row, kn)
	case m.Col == 1:
		for k := range kn {
			at := (k0+k)*m.Row + j0
			row := dst[k*lanes : (k+1)*lanes]
			Widen(row[:jn], m.F16[at:at+jn])
			clear(row[jn:])
		}
	default:
		for k := range kn {
			row := dst[k*lanes : (k+1)*lanes]
			for j := range jn {
				row[j] = HalfToFloat32(m.F16[(k0+k)*m.Row+(j0+j)*m.Col])
			}
			clear(row[jn:])
		}
	}
}

// packTransposed turns jn rows of ld values, k running within a row, into
// k-major lanes.
func packTransposed(dst, src []float32, ld, kn, jn, lanes int) {
	done := 0
	if useAsm && lanes == tileCols && jn == tileCols && kn >= 4 {
		done = kn &^ 3
		_, _ = dst[done*tileCols-1], src[(tileCols-1)*ld+done-1]
		packTransposed16(&dst[0], &src[0], 4*ld, done)
	}
	if done == kn {
		return
	}
	for j := range lanes {
		if j >= jn {
			for k := done; k < kn; k++ {
				dst[k*lanes+j] = 0
			}
			continue
		}
		row := src[j*ld : j*ld+kn]
		for k := done; k < kn; k++ {
			dst[k*lanes+j] = row[k]
		}
	}
}

// Windows is the matrix of a convolution's windows, never stored: row k is one
// tap (channel, then kernel row, then kernel column), column j one output
// position in row-major order. A one-dimensional convolution has Height, KernelH
// and OutH of one.
type Windows struct {
	// One image of one group: channels x Height x Width, contiguous.
	F32           []float32
	F16           []uint16
	Height, Width int

	KernelH, KernelW     int
	StrideH, StrideW     int
	DilationH, DilationW int
	PadTop, PadLeft      int // zeros before the first row and column
	OutH, OutW           int
}

func (w *Windows) pack(dst, _ []float32, k0, kn, j0, jn, lanes int) {
	taps := w.KernelH * w.KernelW
	channel, tap := k0/taps, k0%taps
	for k := 0; k < kn; k++ {
		if tap == 0 && useWide {
			whole := w.packChannels(dst[k*lanes:], channel, (kn-k)/taps, j0, jn, lanes)
			channel += whole
			if k += whole * taps; k == kn {
				break
			}
		}
		dy := tap/w.KernelW*w.DilationH - w.PadTop
		dx := tap%w.KernelW*w.DilationW - w.PadLeft
		row := dst[k*lanes : (k+1)*lanes]
		clear(row[jn:])
		oy, ox := j0/w.OutW, j0%w.OutW
		for j := 0; j < jn; {
			run := min(jn-j, w.OutW-ox)
			if y := oy*w.StrideH + dy; y < 0 || y >= w.Height {
				clear(row[j : j+run])
			} else {
				w.gather(row[j:j+run], (channel*w.Height+y)*w.Width, ox*w.StrideW+dx)
			}
			j += run
			oy, ox = oy+1, 0
		}
		if tap++; tap == taps {
			channel, tap = channel+1, 0
		}
	}
}

// packChannels packs whole channels of a convolution over one dimension, at positions whose windows lie within the input, and
// returns how many of them it packed: none where there is another way to be gone, and not those at the end of the memory.
func (w *Windows) packChannels(dst []float32, channel, channels, j0, jn, lanes int) int {
	step, taps := w.StrideW, w.KernelW
	x := j0*step - w.PadLeft
	if lanes != tileCols || jn != tileCols || w.Height != 1 || w.OutH != 1 || w.KernelH != 1 || w.PadTop != 0 || step > 2 || w.DilationW != 1 ||
		x < 0 || x+(jn-1)*step+taps > w.Width {
		return 0
	}
	first := channel*w.Width + x
	for channels > 0 && first+(channels-1)*w.Width+taps-1+tileCols*step > max(len(w.F32), len(w.F16)) {
		channels--
	}
	if channels == 0 {
		return 0
	}
	_ = dst[channels*taps*tileCols-1]
	switch {
	case w.F32 == nil && step == 1:
		widenWindowsWide(&dst[0], &w.F16[first], 2*w.Width, channels, taps)
	case w.F32 == nil:
		widenWindowsTwoWide(&dst[0], &w.F16[first], 2*w.Width, channels, taps)
	case step == 1:
		windowsWide(&dst[0], &w.F32[first], 4*w.Width, channels, taps)
	default:
		windowsTwoWide(&dst[0], &w.F32[first], 4*w.Width, channels, taps)
	}
	return channels
}

// gather fills dst from the input row at base, from column x on; columns outside it are zero.
func (w *Windows) gather(dst []float32, base, x int) {
	step := w.StrideW
	for len(dst) > 0 && x < 0 {
		dst[0] = 0
		dst, x = dst[1:], x+step
	}
	inside := 0
	if x < w.Width {
		inside = min(len(dst), (w.Width-1-x)/step+1)
	}
	clear(dst[inside:])
	switch dst = dst[:inside]; {
	case inside == 0:
	case w.F32 == nil:
		WidenStrided(dst, w.F16[base+x:], step)
	case step == 1:
		copy(dst, w.F32[base+x:])
	default:
		from := w.F32[base+x : base+x+(inside-1)*step+1]
		for j := range dst {
			dst[j] = from[j*step]
		}
	}
}
