package fit

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
)

// Header is the part of a ggml model's header that sizes follow from.
type Header struct {
	Vocab, AudioCtx, AudioState, AudioLayer, TextCtx, TextState, TextHead, TextLayer, Mels, FType int64
}

// ReadHeader reads the twelve numbers at the beginning of a .bin.
func ReadHeader(path string) (Header, error) {
	f, err := regular.Open(path)
	if err != nil {
		return Header{}, fmt.Errorf("read model header: %w", err)
	}
	defer f.Close()
	var raw [48]byte
	if _, err := io.ReadFull(f, raw[:]); err != nil {
		return Header{}, fmt.Errorf("read model header %s: %w", path, err)
	}
	v := make([]int64, 12)
	for i := range v {
		v[i] = int64(int32(binary.LittleEndian.Uint32(raw[4*i:])))
	}
	if v[0] != 0x67676d6c {
		return Header{}, fmt.Errorf("read model header %s: expected ggml's magic number, found %08x", path, v[0])
	}
	for i, x := range v[1:11] {
		if x < 1 || x > 1<<20 {
			return Header{}, fmt.Errorf("read model header %s: field %d is %d, expected 1 to %d", path, i+1, x, 1<<20)
		}
	}
	return Header{Vocab: v[1], AudioCtx: v[2], AudioState: v[3], AudioLayer: v[5], TextCtx: v[6], TextState: v[7], TextHead: v[8], TextLayer: v[9], Mels: v[10], FType: v[11] % 1000}, nil
}

// matrixBits is what a weight of a matrix takes at least, by the header's type: the fewest bits of any block format of it.
func matrixBits(ftype int64) int64 {
	switch ftype {
	case 0:
		return 32
	case 1:
		return 16
	case 7:
		return 8
	}
	return 2
}

// LowerBound is what whisper.cpp allocates at least for a model, whatever encodes: the decoder's and, unless an encoder is beside
// it, the encoder's matrices, and the key and value caches in float16. (It allocates the encoder's matrices with Core ML too.)
func LowerBound(h Header, stage Stage) Need {
	if stage == Compile {
		return Need{Stage: stage}
	}
	e, d := h.AudioState, h.TextState
	encoder := h.AudioLayer*(4*e*e+8*e*e) + 3*h.Mels*e + 3*e*e
	decoder := h.TextLayer*(8*d*d+8*d*d) + h.Vocab*d
	weights := (encoder + decoder) * matrixBits(h.FType) / 8
	// Self attention, cross attention and padding: K and V, two bytes each.
	caches := 2 * 2 * d * (h.TextLayer*h.TextCtx + h.TextLayer*h.AudioCtx + h.AudioCtx)
	total := memory.Sum(weights, caches)
	// The matrices of one kind of backend lie in one buffer.
	return Need{Stage: stage, FootprintBytes: total, ResidentBytes: total, LargestBytes: max(weights, Scores(h))}
}

// Scores is the largest intermediate value of the encoder's program: attention's scores of one layer, in float32.
func Scores(h Header) int64 {
	// Heads have 64 channels in every Whisper.
	return max(1, h.AudioState/64) * h.AudioCtx * h.AudioCtx * 4
}

// Asked is what is about to run, for finding its measured peak.
type Asked struct {
	ModelSHA256, EncoderDigest, Units, OSBuild, Lane string
	Stage                                            Stage
}

// FromSubmissions takes the need from what was measured: the largest peaks of the same model and encoder with the same units on
// the same build of the system. A first load is what cold runs were. ok is false where nothing of it was measured.
func FromSubmissions(subs []*measure.Submission, asked Asked) (n Need, ok bool) {
	n = Need{Stage: asked.Stage, Measured: true}
	for _, s := range subs {
		if s.Machine.OSBuild != asked.OSBuild || s.Lane != asked.Lane || asked.Stage == Compile {
			continue
		}
		for i := range s.Arms {
			a := &s.Arms[i]
			if a.Artifact.ModelSHA256 != asked.ModelSHA256 || a.Artifact.EncoderDigest != asked.EncoderDigest || a.Artifact.Units != asked.Units {
				continue
			}
			for j := range a.Runs {
				r := &a.Runs[j]
				if !a.Worked(r) || asked.Stage == FirstLoad && r.Kind != measure.Cold || r.Memory.PeakFootprintBytes == nil || r.Memory.PeakResidentBytes == nil {
					continue
				}
				ok, n.From = true, s.Session
				n.FootprintBytes = max(n.FootprintBytes, *r.Memory.PeakFootprintBytes)
				n.ResidentBytes = max(n.ResidentBytes, *r.Memory.PeakResidentBytes)
			}
		}
	}
	if !ok {
		return Need{Stage: asked.Stage}, false
	}
	return n, true
}

const (
	// DefaultReserve is for the spikes that nobody modelled, until peaks were observed.
	DefaultReserve = 192 * memory.MiB
	// leastReserve is what is kept however even the peaks are.
	leastReserve = 64 * memory.MiB
	// observed is how many peaks recalibrate the reserve.
	observed = 8
)

// Reserve is recalibrated from the peaks of one artifact: how far the largest lies above the median one, at least 64 MiB. With fewer than
// eight runs it is the default.
func Reserve(subs []*measure.Submission, asked Asked) int64 {
	var peaks []int64
	for _, s := range subs {
		for i := range s.Arms {
			a := &s.Arms[i]
			if s.Machine.OSBuild != asked.OSBuild || a.Artifact.EncoderDigest != asked.EncoderDigest || a.Artifact.ModelSHA256 != asked.ModelSHA256 || a.Artifact.Units != asked.Units {
				continue
			}
			for j := range a.Runs {
				if p := a.Runs[j].Memory.PeakFootprintBytes; p != nil && a.Worked(&a.Runs[j]) {
					peaks = append(peaks, *p)
				}
			}
		}
	}
	if len(peaks) < observed {
		return DefaultReserve
	}
	slices.Sort(peaks)
	return max(leastReserve, peaks[len(peaks)-1]-peaks[len(peaks)/2])
}

// Claim is what an action that runs a model asks its machine for: the lower bound, an encoder in float32 as its file is mapped and
// as it is held, scores of the layer at work with what they are made of and become, and the reserve. It is a claim for
// scheduling, made before any encoder is there, and no answer to whether a run fits.
func Claim(h Header) int64 {
	e := h.AudioState
	encoder := 4 * (h.AudioLayer*12*e*e + 3*h.Mels*e + 3*e*e + h.AudioCtx*e)
	return memory.Sum(LowerBound(h, Run).FootprintBytes, 2*encoder, 3*Scores(h), DefaultReserve)
}
