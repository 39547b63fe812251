// Package mel computes the log-mel spectrogram that whisper.cpp feeds to an
// encoder, as whisper.cpp computes it (src/whisper.cpp, log_mel_spectrogram), so
// that parity can be measured on the very input of the runtime.
//
// Audio is 16 kHz, one channel, float32. Before it stand 200 samples reflected
// about the first; behind it stand zeros. Frame i covers 400 samples from 160·i
// of that, times a periodic Hann window. Of its discrete Fourier transform the
// squared magnitudes of bins 0 to 200 are multiplied with the model's own mel
// filters; the logarithm to base 10 is taken of at least 1e-10; everything more
// than 8 below the largest value (of all frames, silence included) is raised to
// that; and 4 is added before dividing by 4.
//
// Upstream's order and widths are kept: float32 for the transform (halved down
// to 25 points, those directly), float64 for the sum over bins by fours. Two
// things are upstream's own: frames that begin after the audio and 200 samples
// more are not transformed but taken as silence, and the spectrogram is 30
// seconds longer than the audio. What is left of a difference to upstream is
// its compiler's use of fused multiply-add, below 1e-4 of a value.
package mel

import (
	"fmt"
	"math"
)

// Rate is the sample rate in Hz.
const Rate = 16000

const (
	window = 400 // samples of a frame
	hop    = 160 // samples from one frame to the next
	bins   = window/2 + 1
	pad    = window / 2
	odd    = 25 // 400 halved until it is odd
	extra  = 30 * Rate
)

var (
	hann     [window]float32
	cos, sin [window]float32
)

func init() {
	for i := range window {
		angle := 2 * math.Pi * float64(i) / window
		cos[i], sin[i] = float32(math.Cos(angle)), float32(math.Sin(angle))
		// Upstream takes the cosine of a float32.
		hann[i] = float32(0.5 * (1 - float64(float32(math.Cos(float64(float32(angle)))))))
	}
}

// Spectrogram is Mels rows of Frames values.
type Spectrogram struct {
	Mels, Frames int
	Values       []float32
}

// Compute makes the spectrogram of all samples, with filters of mels rows of 201
// values (the model's own).
func Compute(samples, filters []float32, mels int) (*Spectrogram, error) {
	if mels < 1 || len(filters) != mels*bins {
		return nil, fmt.Errorf("%d filter values for %d mel bands: expected %d", len(filters), mels, mels*bins)
	}
	if len(samples) <= pad {
		return nil, fmt.Errorf("%d samples: expected more than %d, since the first are reflected", len(samples), pad)
	}
	padded := make([]float32, len(samples)+extra+2*pad)
	copy(padded[pad:], samples)
	for i := range pad {
		padded[i] = samples[pad-i]
	}
	s := &Spectrogram{Mels: mels, Frames: (len(padded) - window) / hop}
	s.Values = make([]float32, mels*s.Frames)
	sounding := min((len(samples)+pad)/hop+1, s.Frames)
	silence := float32(math.Log10(1e-10))
	var t transform
	for i := range s.Frames {
		if i < sounding {
			t.power(padded[i*hop:], len(samples)+pad-i*hop)
		}
		for m := range mels {
			v := silence
			if i < sounding {
				v = float32(math.Log10(max(weigh(t.spectrum[:], filters[m*bins:(m+1)*bins]), 1e-10)))
			}
			s.Values[m*s.Frames+i] = v
		}
	}
	s.normalise()
	return s, nil
}

// weigh sums power times filter: four products in float32, groups in float64.
func weigh(power, filter []float32) float64 {
	var sum float64
	k := 0
	for ; k < bins-3; k += 4 {
		g := float32(power[k] * filter[k])
		g += float32(power[k+1] * filter[k+1])
		g += float32(power[k+2] * filter[k+2])
		g += float32(power[k+3] * filter[k+3])
		sum += float64(g)
	}
	for ; k < bins; k++ {
		sum += float64(float32(power[k] * filter[k]))
	}
	return sum
}

func (s *Spectrogram) normalise() {
	high := -1e20
	for _, v := range s.Values {
		high = max(high, float64(v))
	}
	low := high - 8
	for i, v := range s.Values {
		if float64(v) < low {
			v = float32(low)
		}
		s.Values[i] = float32((float64(v) + 4) / 4)
	}
}

// Window cuts frames [from, from+frames), with zeros past the end, as the
// runtime hands them to an encoder.
func (s *Spectrogram) Window(from, frames int) []float32 {
	out := make([]float32, s.Mels*frames)
	from = min(max(from, 0), s.Frames)
	for m := range s.Mels {
		copy(out[m*frames:(m+1)*frames], s.Values[m*s.Frames+from:m*s.Frames+min(from+frames, s.Frames)])
	}
	return out
}

// transform holds one frame's Fourier transform.
type transform struct {
	frame    [window]float32
	re, im   [window]float32
	spectrum [bins]float32
}

// power fills spectrum from the samples of a frame, of which have are audio.
func (t *transform) power(samples []float32, have int) {
	for j := range window {
		t.frame[j] = 0
		if j < have {
			t.frame[j] = float32(hann[j] * samples[j])
		}
	}
	t.fourier(t.frame[:], 1, t.re[:], t.im[:])
	for j := range bins {
		t.spectrum[j] = float32(t.re[j]*t.re[j]) + float32(t.im[j]*t.im[j])
	}
}

// fourier transforms every step-th value of x, len(re) of them.
func (t *transform) fourier(x []float32, step int, re, im []float32) {
	n := len(re)
	if n == odd {
		for k := range n {
			var a, b float32
			for i := range n {
				at := k * i * (window / odd) % window
				a += float32(x[i*step] * cos[at])
				b -= float32(x[i*step] * sin[at])
			}
			re[k], im[k] = a, b
		}
		return
	}
	h := n / 2
	var er, ei, or, oi [window / 2]float32
	t.fourier(x, 2*step, er[:h], ei[:h])
	t.fourier(x[step:], 2*step, or[:h], oi[:h])
	for k := range h {
		c, s := cos[k*(window/n)], -sin[k*(window/n)]
		p, q := float32(c*or[k]), float32(s*oi[k])
		u, v := float32(c*oi[k]), float32(s*or[k])
		re[k], im[k] = er[k]+p-q, ei[k]+u+v
		re[k+h], im[k+h] = er[k]-p+q, ei[k]-u-v
	}
}
