package ggml

import "math"

// MelBank computes the filter bank that Whisper models carry: librosa's
// filters.mel(sr=16000, n_fft=400, n_mels=mels) with Slaney's mel scale and
// area normalisation, mels rows of 201 columns.
//
// The rounding follows librosa step by step: frequencies and ramps in float64,
// the triangle rounded to float32, multiplied by the normaliser in float64 and
// rounded once more. Products are converted explicitly, so that no compiler
// fuses them with the sum that follows.
func MelBank(mels int) []float32 {
	const (
		sampleRate = 16000
		fft        = 400
		columns    = fft/2 + 1
	)
	top := hertzToMel(sampleRate / 2)
	step := top / float64(mels+1)
	edges := make([]float64, mels+2)
	for i := range edges {
		edges[i] = melToHertz(float64(i) * step)
	}
	edges[mels+1] = melToHertz(top)
	out := make([]float32, mels*columns)
	for i := range mels {
		lower, centre, upper := edges[i], edges[i+1], edges[i+2]
		norm := 2 / (upper - lower)
		for j := range columns {
			f := float64(j * sampleRate / fft)
			v := min((f-lower)/(centre-lower), (upper-f)/(upper-centre))
			if v <= 0 {
				continue // stays +0
			}
			out[i*columns+j] = float32(float64(float32(v)) * norm)
		}
	}
	return out
}

// Slaney's mel scale: linear below 1 kHz, logarithmic above.
const (
	melLinear   = 200.0 / 3 // hertz per mel below the break
	melBreak    = 1000.0    // hertz
	melBreakMel = melBreak / melLinear
)

var melLogStep = math.Log(6.4) / 27

func hertzToMel(f float64) float64 {
	if f < melBreak {
		return f / melLinear
	}
	return melBreakMel + math.Log(f/melBreak)/melLogStep
}

func melToHertz(m float64) float64 {
	if m < melBreakMel {
		return float64(melLinear * m)
	}
	return melBreak * math.Exp(melLogStep*(m-melBreakMel))
}
