package parity

import (
	"fmt"
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// defects looks at one tensor alone: what makes it unfit to be compared. A float64 file can hold what no encoder puts
// out: beyond float32's largest number it is as infinite as the float32 would be, and below its smallest as zero. (Their
// squares would not be numbers, or would vanish, in the ratios.)
func defects(t Tensor) (nan, inf int, constant bool) {
	constant = true
	for _, v := range t.Values {
		switch {
		case v != v:
			nan++
		case math.Abs(v) > math.MaxFloat32:
			inf++
		}
		constant = constant && float32(v) == float32(t.Values[0])
	}
	return nan, inf, constant
}

// margin is how much better, in dB, an explanation must fit than the tensors as
// they are, before it is named.
const margin = 20

// explain looks for a known silent failure that accounts for the difference.
func explain(r, c Tensor, m *Measurement) (code, found string) {
	if n, first := silentFrames(r, c, m); n > 0 {
		return reason.ParityZeroFrames, fmt.Sprintf("%d frame(s) of zeros, the first at %d", n, first)
	}
	if n, first := isolated(m); n > 0 {
		return reason.ParityFrames, fmt.Sprintf("%d frame(s) that are wrong among %d that are right, the first at %d with %.1f dB", n, m.Frames-n, first, m.FrameSNR[first])
	}
	if snr := snrOf(r, c, func(f, ch int) int { return ch*m.Frames + f }, m); snr > m.SNR+margin {
		return reason.ParityTransposed, fmt.Sprintf("%.1f dB once channels and frames change places", snr)
	}
	if math.Abs(m.Gain-1) > 1e-4 && m.GainSNR > m.SNR+margin {
		return reason.ParityGain, fmt.Sprintf("every value times %.5f; %.1f dB without that factor", m.Gain, m.GainSNR)
	}
	if by, snr := shift(r, c, m); snr > m.SNR+margin {
		return reason.ParityShifted, fmt.Sprintf("%.1f dB once frames move by %d", snr, by)
	}
	if snr := snrOf(r, c, func(f, ch int) int { return (m.Frames-1-f)*m.Channels + ch }, m); snr > m.SNR+margin {
		return reason.ParityReversed, fmt.Sprintf("%.1f dB with frames in reverse order", snr)
	}
	if at := misaligned(m); at >= 0 {
		return reason.ParityStrides, fmt.Sprintf("right up to frame %d, wrong from there on: rows have another length in memory", at)
	}
	return "", ""
}

// silentFrames counts frames that are zero in the candidate only.
func silentFrames(r, c Tensor, m *Measurement) (n, first int) {
	for f := range m.Frames {
		zero, same := true, true
		for i := f * m.Channels; i < (f+1)*m.Channels; i++ {
			zero = zero && c.Values[i] == 0
			same = same && r.Values[i] == 0
		}
		if zero && !same {
			if n == 0 {
				first = f
			}
			n++
		}
	}
	return n, first
}

// snrOf compares with the candidate's elements taken from other places.
func snrOf(r, c Tensor, from func(frame, channel int) int, m *Measurement) float64 {
	var s sums
	for f := range m.Frames {
		for ch := range m.Channels {
			s.add(r.Values[f*m.Channels+ch], c.Values[from(f, ch)])
		}
	}
	return decibels(s.rr, s.noise)
}

// shift finds the cyclic move of frames, up to four seconds, that fits best. A
// sample of channels is enough to choose it.
func shift(r, c Tensor, m *Measurement) (by int, snr float64) {
	most := min(200, m.Frames/2)
	step := max(1, m.Channels/8)
	best := math.Inf(1)
	for d := -most; d <= most; d++ {
		if d == 0 {
			continue
		}
		var noise float64
		for f := range m.Frames {
			at := ((f+d)%m.Frames + m.Frames) % m.Frames * m.Channels
			for ch := 0; ch < m.Channels; ch += step {
				x := c.Values[at+ch] - r.Values[f*m.Channels+ch]
				noise += x * x
			}
		}
		if noise < best {
			best, by = noise, d
		}
	}
	if by == 0 {
		return 0, math.Inf(-1)
	}
	return by, snrOf(r, c, func(f, ch int) int {
		return ((f+by)%m.Frames+m.Frames)%m.Frames*m.Channels + ch
	}, m)
}

// misaligned finds a tensor whose first frame is right and whose later ones
// slide away, as a copy that ignores strides leaves it; -1 for none. Frames that
// come right again are something else.
func misaligned(m *Measurement) int {
	if m.Frames < 3 || m.FrameSNR[0] < m.SNR+margin {
		return -1
	}
	for f, snr := range m.FrameSNR {
		if snr >= m.FrameSNR[0]-margin {
			continue
		}
		right := 0
		for _, later := range m.FrameSNR[f:] {
			if later >= m.FrameSNR[0]-margin {
				right++
			}
		}
		if right > (m.Frames-f)/20 {
			return -1
		}
		return f
	}
	return -1
}

// isolated counts frames that lie far below the usual one, where most are right: something overflowed there, or was
// left out. first is the first of them.
func isolated(m *Measurement) (n, first int) {
	sorted := slices.Clone(m.FrameSNR)
	slices.Sort(sorted)
	usual := sorted[len(sorted)/2]
	if usual < m.SNR+margin {
		return 0, 0
	}
	last := 0
	for f, snr := range m.FrameSNR {
		if snr < usual-margin {
			if n == 0 {
				first = f
			}
			last = f
			n++
		}
	}
	if n == 0 || n > m.Frames/4 || n > 1 && n == m.Frames-first && last == m.Frames-1 {
		return 0, 0 // many, or all from one on: that is not an isolated frame
	}
	return n, first
}
