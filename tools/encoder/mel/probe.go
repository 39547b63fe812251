package mel

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"
)

// Probe is thirty seconds of sound that is there without any file: a voice-like
// tone whose pitch and loudness wander, bursts of noise, and pauses. It is made
// from integers and a fixed generator, so that it is the same everywhere.
// Parity is measured on it where no other mel is given.
func Probe() []float32 { return slices.Clone(probe()) }

var probe = sync.OnceValue(func() []float32 {
	out := make([]float32, 30*Rate)
	state := uint32(2463534242)
	phase := 0.0
	for i := range out {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		noise := float64(int32(state)) / (1 << 31)
		second := float64(i) / Rate
		phase += (110 + 40*triangle(second/3.1) + 6*triangle(second*5.3)) / Rate
		voice := 0.0
		for h := 1; h <= 12; h++ {
			formant := 1 / (1 + math.Abs(float64(h)-3-2*triangle(second/1.7)))
			voice += formant * triangle(phase*float64(h))
		}
		loud := math.Max(0, triangle(second*0.9)+0.4)
		hiss := math.Max(0, triangle(second*1.3)-0.6)
		out[i] = float32(math.Round((0.12*loud*voice+0.25*hiss*noise+0.0005*noise)*32768) / 32768)
	}
	return out
})

// ProbeSpectrogram is the probe's spectrogram, which is computed once for the filters of a process's models. The
// caller must not change it.
func ProbeSpectrogram(filters []float32, mels int) (*Spectrogram, error) {
	key := binary.LittleEndian.AppendUint64(nil, uint64(mels))
	for _, f := range filters {
		key = binary.LittleEndian.AppendUint32(key, math.Float32bits(f))
	}
	spectrograms.Lock()
	defer spectrograms.Unlock()
	if s := spectrograms.of[string(key)]; s != nil {
		return s, nil
	}
	s, err := Compute(probe(), filters, mels)
	if err != nil {
		return nil, err
	}
	spectrograms.of[string(key)] = s
	return s, nil
}

var spectrograms = struct {
	sync.Mutex
	of map[string]*Spectrogram
}{of: map[string]*Spectrogram{}}

// triangle is a wave of period one between -1 and 1.
func triangle(x float64) float64 {
	x -= math.Floor(x)
	return 4*math.Abs(x-0.5) - 1
}
