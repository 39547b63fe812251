// Package parity compares an encoder's output with a reference, number by number.
//
// The reference is the signal. With r the reference, c the candidate, both over
// N elements in float64:
//
//	SNR        10·log10( Σr² / Σ(c−r)² )                    in dB
//	cosine     Σr·c / sqrt(Σr² · Σc²)
//	max error  max |c−r|        mean error  Σ|c−r| / N
//	PSNR       10·log10( (max c² + 1e-5) / (Σ(r−c)²/N + 1e-10) )   as coremltools computes it,
//	           with its SNR beside it: compute_snr_and_psnr(x=r, y=c) in converters/mil/testing_utils.py,
//	           where y, the candidate, is the signal. Recorded so that numbers compare; never judged.
//
// Degenerate inputs: where c equals r everywhere, SNR is [Identical] dB; where r
// is zero and c is not, −[Identical]. Cosine is 1 where both are zero and 0 where
// one is. Not a number anywhere makes no measurement at all, but a reason.
//
// A verdict comes from a frozen policy: thresholds chosen before the measurement.
// Ratios alone would not tell what went wrong, so the measurement also looks for
// the silent failures that are known, and names the one that it finds.
package parity

import (
	"fmt"
	"math"
	"slices"
)

// Identical stands for the SNR, in dB, of two equal tensors. Nothing that
// differs can reach it: float64 ends near 320 dB.
const Identical = 400

// Tensor is one side of a comparison.
type Tensor struct {
	// Shape of the encoder's output: frames, then channels; leading extents of
	// one may stand in front.
	Shape []int
	// Values in row-major order.
	Values []float64
	// Name says where the tensor came from, for messages.
	Name string
	// MelSHA256 is the digest of the mel that the side was fed ([MelDigest]), ""
	// when unknown.
	MelSHA256 string
}

// Float32s makes a tensor of float32 values.
func Float32s(name string, shape []int, values []float32) Tensor {
	t := Tensor{Shape: shape, Name: name, Values: make([]float64, len(values))}
	for i, v := range values {
		t.Values[i] = float64(v)
	}
	return t
}

// plane returns frames and channels, or an error where the shape is no
// [1 …, frames, channels].
func (t Tensor) plane() (frames, channels int, err error) {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	if n != len(t.Values) {
		return 0, 0, fmt.Errorf("%s: shape %v has %d elements, but there are %d values", t.Name, t.Shape, n, len(t.Values))
	}
	shape := t.Shape
	for len(shape) > 2 && shape[0] == 1 {
		shape = shape[1:]
	}
	if len(shape) != 2 || n == 0 {
		return 0, 0, fmt.Errorf("%s: shape %v: expected [1, frames, channels]", t.Name, t.Shape)
	}
	return shape[0], shape[1], nil
}

// Spot is a frame or a channel and how it differs.
type Spot struct {
	Index int     `json:"index"`
	SNR   float64 `json:"snr_db"`
	Max   float64 `json:"max_abs_error"`
}

// Measurement is what two tensors of one shape differ by.
type Measurement struct {
	Frames   int `json:"frames"`
	Channels int `json:"channels"`

	SNR     float64 `json:"snr_db"`
	Cosine  float64 `json:"cosine"`
	Max     float64 `json:"max_abs_error"`
	MaxAt   [2]int  `json:"max_abs_error_at"` // frame, channel
	Mean    float64 `json:"mean_abs_error"`
	Gain    float64 `json:"gain"`        // the factor that fits the candidate to the reference best
	GainSNR float64 `json:"gain_snr_db"` // SNR once that factor is divided out

	CoremltoolsSNR  float64 `json:"coremltools_snr_db"`
	CoremltoolsPSNR float64 `json:"coremltools_psnr_db"`

	// The five worst, worst first.
	WorstFrames   []Spot `json:"worst_frames"`
	WorstChannels []Spot `json:"worst_channels"`

	// FrameSNR is the SNR of each frame, in order.
	FrameSNR []float64 `json:"frame_snr_db"`
}

// sums are what ratios are made of.
type sums struct{ rr, cc, rc, noise, abs, max float64 }

func (s *sums) add(r, c float64) {
	d := c - r
	s.rr += r * r
	s.cc += c * c
	s.rc += r * c
	s.noise += d * d
	s.abs += math.Abs(d)
	s.max = math.Max(s.max, math.Abs(d))
}

// decibels is the ratio of signal to noise, degenerate cases as the package says.
func decibels(signal, noise float64) float64 {
	switch {
	case noise == 0:
		return Identical
	case signal == 0:
		return -Identical
	}
	return math.Max(-Identical, math.Min(Identical, 10*math.Log10(signal/noise)))
}

func (s *sums) cosine() float64 {
	switch {
	case s.rr == 0 && s.cc == 0:
		return 1
	case s.rr == 0 || s.cc == 0:
		return 0
	}
	return s.rc / (math.Sqrt(s.rr) * math.Sqrt(s.cc))
}

// Measure compares two tensors whose values are all finite and whose planes are
// of one shape.
func Measure(reference, candidate Tensor) (*Measurement, error) {
	frames, channels, err := reference.plane()
	if err != nil {
		return nil, err
	}
	if f, c, err := candidate.plane(); err != nil {
		return nil, err
	} else if f != frames || c != channels {
		return nil, fmt.Errorf("%s is %d frames of %d channels, %s is %d of %d", reference.Name, frames, channels, candidate.Name, f, c)
	}
	m := &Measurement{Frames: frames, Channels: channels}
	var all sums
	high := 0.0
	byFrame, byChannel := make([]sums, frames), make([]sums, channels)
	for i, r := range reference.Values {
		c := candidate.Values[i]
		if math.Abs(c-r) > all.max {
			m.MaxAt = [2]int{i / channels, i % channels}
		}
		all.add(r, c)
		byFrame[i/channels].add(r, c)
		byChannel[i%channels].add(r, c)
		high = math.Max(high, c*c)
	}
	n := float64(len(reference.Values))
	m.SNR, m.Cosine, m.Max, m.Mean = decibels(all.rr, all.noise), all.cosine(), all.max, all.abs/n
	m.Gain, m.GainSNR = 1, m.SNR
	if all.rr > 0 {
		m.Gain = all.rc / all.rr
		if m.Gain != 0 {
			// Σ(c/g − r)² in a form that needs no second pass over the data.
			rest := math.Max(0, all.cc/(m.Gain*m.Gain)-2*all.rc/m.Gain+all.rr)
			m.GainSNR = decibels(all.rr, rest)
		}
	}
	const eps, eps2 = 1e-5, 1e-10
	m.CoremltoolsSNR = 10 * math.Log10((all.cc/n+eps)/(all.noise/n+eps2))
	m.CoremltoolsPSNR = 10 * math.Log10((high+eps)/(all.noise/n+eps2))
	m.WorstFrames, m.FrameSNR = worst(byFrame)
	m.WorstChannels, _ = worst(byChannel)
	return m, nil
}

// worst lists the five parts with the lowest SNR, ties by index, and all SNRs.
func worst(parts []sums) ([]Spot, []float64) {
	spots, snr := make([]Spot, len(parts)), make([]float64, len(parts))
	for i := range parts {
		snr[i] = decibels(parts[i].rr, parts[i].noise)
		spots[i] = Spot{i, snr[i], parts[i].max}
	}
	slices.SortStableFunc(spots, func(a, b Spot) int {
		switch {
		case a.SNR < b.SNR:
			return -1
		case a.SNR > b.SNR:
			return 1
		}
		return 0
	})
	return spots[:min(5, len(spots))], snr
}
