package mutants

import (
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
)

// The size of a made output: frames and channels.
const frames, channels = 60, 24

// output is a made encoder output that varies from frame to frame and from channel to channel.
func output(seed uint32) parity.Tensor {
	t := parity.Tensor{Name: "output", Shape: []int{1, frames, channels}, MelSHA256: "m"}
	x := seed
	for range frames * channels {
		x = x*1664525 + 1013904223
		t.Values = append(t.Values, float64(int32(x))/(1<<30))
	}
	return t
}

// numbers judges an output with something done to it under the release's policy.
func numbers(bend func(*parity.Tensor)) func() (*verdict.Findings, error) {
	return func() (*verdict.Findings, error) {
		p, err := policy.Frozen(parity.GatePolicy)
		if err != nil {
			return nil, err
		}
		candidate := output(1)
		bend(&candidate)
		j := parity.NewJudgement(p, "float32")
		j.Compare(p, output(1), candidate)
		return &j.Findings, nil
	}
}

// values changes the values alone.
func values(bend func(v []float64)) func() (*verdict.Findings, error) {
	return numbers(func(t *parity.Tensor) { bend(t.Values) })
}

func predictions() []Mutant {
	prediction := func(id, made, code string, answer func() (*verdict.Findings, error)) Mutant {
		return Mutant{ID: "prediction-" + id, Fakes: "the encoder's output", Made: made, Code: code, Answer: answer}
	}
	return []Mutant{
		prediction("zeros", "all values are 0", reason.ParityConstant, values(func(v []float64) { clear(v) })),
		prediction("constant", "all values are 0.5", reason.ParityConstant, values(func(v []float64) {
			for i := range v {
				v[i] = 0.5
			}
		})),
		prediction("nan", "one value is NaN", reason.ParityNaN, values(func(v []float64) { v[7] = math.NaN() })),
		prediction("nan-frame", "one frame is NaN", reason.ParityNaN, values(func(v []float64) {
			for i := range channels {
				v[5*channels+i] = math.NaN()
			}
		})),
		prediction("infinite", "one value is infinite", reason.ParityInfinite, values(func(v []float64) { v[7] = math.Inf(1) })),
		prediction("gain", "a gain of 1 per cent", reason.ParitySNR, values(func(v []float64) {
			for i := range v {
				v[i] *= 1.01
			}
		})),
		prediction("offset", "0.001 added to every value", reason.ParitySNR, values(func(v []float64) {
			for i := range v {
				v[i] += 0.001
			}
		})),
		prediction("sign", "every value negated", reason.ParityCosine, values(func(v []float64) {
			for i := range v {
				v[i] = -v[i]
			}
		})),
		prediction("float16", "every value rounded to float16's precision", reason.ParitySNR, values(func(v []float64) {
			for i := range v {
				v[i] = math.Round(v[i]*2048) / 2048
			}
		})),
		prediction("zero-frame", "one frame is 0", reason.ParitySNR, values(func(v []float64) { clear(v[9*channels : 10*channels]) })),
		prediction("last-frame", "the last frame is 0", reason.ParitySNR, values(func(v []float64) { clear(v[len(v)-channels:]) })),
		prediction("repeated-frames", "each second frame repeats the one before", reason.ParitySNR, values(func(v []float64) {
			for f := 1; f < frames; f += 2 {
				copy(v[f*channels:(f+1)*channels], v[(f-1)*channels:])
			}
		})),
		prediction("shifted", "every frame one later", reason.ParitySNR, values(func(v []float64) { copy(v[channels:], slices.Clone(v)) })),
		prediction("reversed", "the frames in reverse", reason.ParitySNR, values(func(v []float64) {
			old := slices.Clone(v)
			for f := range frames {
				copy(v[f*channels:(f+1)*channels], old[(frames-1-f)*channels:])
			}
		})),
		prediction("swapped-channels", "two channels exchanged", reason.ParitySNR, values(func(v []float64) {
			for f := range frames {
				v[f*channels], v[f*channels+1] = v[f*channels+1], v[f*channels]
			}
		})),
		prediction("strided", "rows read with a stride that is 2 too wide", reason.ParitySNR, values(func(v []float64) {
			old := slices.Clone(v)
			for f := range frames {
				for c := range channels {
					v[f*channels+c] = old[(f*(channels+2)+c)%len(old)]
				}
			}
		})),
		prediction("other-model", "another model's output", reason.ParitySNR, numbers(func(t *parity.Tensor) { t.Values = output(2).Values })),
		prediction("transposed", "channels before frames", reason.ParityTransposed, numbers(func(t *parity.Tensor) { t.Shape = []int{1, channels, frames} })),
		prediction("undersized", "one frame fewer", reason.ParityShape, numbers(func(t *parity.Tensor) {
			t.Shape, t.Values = []int{1, frames - 1, channels}, t.Values[channels:]
		})),
		prediction("oversized", "one frame more", reason.ParityShape, numbers(func(t *parity.Tensor) {
			t.Shape, t.Values = []int{1, frames + 1, channels}, append(t.Values, t.Values[:channels]...)
		})),
		prediction("none", "no values", reason.ParityShape, numbers(func(t *parity.Tensor) { t.Shape, t.Values = nil, nil })),
		prediction("other-mel", "the candidate saw another mel", reason.MelDiffers, numbers(func(t *parity.Tensor) { t.MelSHA256 = "n" })),
		prediction("unknown-mel", "nobody knows which mel the candidate saw", reason.MelUnknown, numbers(func(t *parity.Tensor) { t.MelSHA256 = "" })),
	}
}
