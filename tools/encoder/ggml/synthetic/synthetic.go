// Package synthetic makes small Whisper models for tests: every tensor that
// upstream's loader expects, filled from a seed. The same options give the
// same bytes on every host and with every version of Go.
//
// Such a model transcribes nonsense, but loads in whisper-cli, runs through
// its encoder and decoder, and writes the same nonsense every time. Three
// limits come from whisper.cpp: n_vocab must be 51864 (English) or 51865
// (multilingual), since the ids of special tokens are fixed; the number of
// layers picks the model type by name only; and n_text_state must equal
// n_audio_state.
package synthetic

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
)

// Options describe a model. Zero values take the defaults of Default.
type Options struct {
	Seed       uint64
	Layers     int // of the encoder
	TextLayers int // of the decoder
	State      int // width of both
	Heads      int
	Mels       int
	AudioCtx   int // positions out of the encoder; the mel is twice as wide
	TextCtx    int
	// Multilingual makes n_vocab 51865 instead of 51864.
	Multilingual bool
	// Vocab, if not 0, is another n_vocab, for small and quick models that are
	// read and never run: the runtime would index beyond its tables.
	Vocab int
	// Float32 makes the large matrices float32 instead of float16. Upstream
	// loads such a file, but its CPU convolution aborts on it: it is of use
	// beside an encoder that replaces ggml's.
	Float32 bool
	// Quantise, if not zero, rounds the large matrices to ggml.Q4_0, Q5_0 or
	// Q8_0; State must be a multiple of 32.
	Quantise ggml.Type
	// Adjust, if set, replaces each value of each tensor, before it is rounded
	// to the tensor's type. Tests use it to make a model that differs in one place.
	Adjust func(tensor string, index int64, value float32) float32
}

// Default is a model of about 4 MB whose transcription takes well under a
// second.
func Default() Options {
	return Options{Seed: 1, Layers: 2, TextLayers: 1, State: 32, Heads: 2, Mels: 80, AudioCtx: 1500, TextCtx: 64}
}

func (o Options) withDefaults() Options {
	d := Default()
	for _, f := range []struct {
		v *int
		d int
	}{{&o.Layers, d.Layers}, {&o.TextLayers, d.TextLayers}, {&o.State, d.State}, {&o.Heads, d.Heads},
		{&o.Mels, d.Mels}, {&o.AudioCtx, d.AudioCtx}, {&o.TextCtx, d.TextCtx}} {
		if *f.v == 0 {
			*f.v = f.d
		}
	}
	return o
}

// Hyperparameters is the header that the options give.
func (o Options) Hyperparameters() ggml.Hyperparameters {
	o = o.withDefaults()
	h := ggml.Hyperparameters{
		Vocab: 51864, AudioCtx: o.AudioCtx, AudioState: o.State, AudioHead: o.Heads, AudioLayer: o.Layers,
		TextCtx: o.TextCtx, TextState: o.State, TextHead: o.Heads, TextLayer: o.TextLayers, Mels: o.Mels, FType: 1,
	}
	if o.Multilingual {
		h.Vocab = 51865
	}
	if o.Vocab != 0 {
		h.Vocab = o.Vocab
	}
	if o.Float32 {
		h.FType = 0
	}
	if f, ok := quantisedFTypes[o.Quantise]; ok {
		h.FType, h.QuantisationVersion = f, 2
	}
	return h
}

var quantisedFTypes = map[ggml.Type]ggml.FType{ggml.Q4_0: 2, ggml.Q8_0: 7, ggml.Q5_0: 8}

// Write writes the model.
func Write(w io.Writer, o Options) error {
	h := o.Hyperparameters()
	if _, ok := quantisedFTypes[o.Quantise]; o.Quantise != 0 && (!ok || h.AudioState%32 != 0) {
		return fmt.Errorf("small model: cannot round a width of %d to %s", h.AudioState, o.Quantise)
	}
	if h.AudioState%h.AudioHead != 0 {
		return fmt.Errorf("small model: %d heads do not divide a width of %d", h.AudioHead, h.AudioState)
	}
	out, err := ggml.NewWriter(w, ggml.Header{
		Hyperparameters: h, FilterRows: h.Mels, FilterColumns: 201, Filters: ggml.MelBank(h.Mels), Tokens: vocabulary()[:min(h.Vocab, vocabularySize)],
	})
	if err != nil {
		return err
	}
	for _, s := range ggml.Layout(h) {
		t, _ := s.Type(h.FType)
		if err := out.Tensor(s.Name, t, s.Dims, newValues(o, s, t)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// vocabularySize is the number of ordinary tokens of both vocabularies; the
// runtime makes up the special ones above it.
const vocabularySize = 50257

// vocabulary gives every ordinary token a short spelling of its own: a space,
// then syllables of the id. Token 220 is a lone space, as in GPT-2: the runtime
// looks that one up by its text and dies where it is missing.
func vocabulary() [][]byte {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	out := make([][]byte, vocabularySize)
	for i := range out {
		word := []byte{' '}
		if i == 220 {
			out[i] = word
			continue
		}
		for n := i; ; n /= len(consonants) * len(vowels) {
			s := n % (len(consonants) * len(vowels))
			word = append(word, consonants[s/len(vowels)], vowels[s%len(vowels)])
			if n < len(consonants)*len(vowels) {
				break
			}
		}
		out[i] = word
	}
	return out
}

// values is a tensor's data as a stream.
type values struct {
	rng    pcg
	name   string
	typ    ggml.Type
	index  int64
	count  int64
	centre float32
	spread float32
	adjust func(string, int64, float32) float32
	rest   []byte
}

func newValues(o Options, s ggml.Spec, t ggml.Type) *values {
	v := &values{rng: newPCG(o.Seed, s.Name), name: s.Name, typ: t, count: 1, adjust: o.Adjust}
	fanIn := int64(1)
	for i, d := range s.Dims {
		v.count *= d
		if i < len(s.Dims)-1 {
			fanIn *= d
		}
	}
	switch {
	case s.Matrix || s.Convolution:
		// Uniform with variance 1/fanIn keeps activations near unit size, so
		// that the output depends on every layer and on the input.
		v.spread = float32(math.Sqrt(3 / float64(fanIn)))
	case len(s.Dims) == 1 && s.Name[len(s.Name)-len("weight"):] == "weight":
		v.centre, v.spread = 1, 0.25 // gain of a norm
	default:
		v.spread = 0.125
	}
	return v
}

func (v *values) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(v.rest) == 0 {
			if v.index == v.count {
				return n, io.EOF
			}
			v.rest = v.next(v.rest[:0])
		}
		k := copy(p[n:], v.rest)
		v.rest = v.rest[k:]
		n += k
	}
	return n, nil
}

func (v *values) next(b []byte) []byte {
	if v.typ == ggml.F16 {
		return binary.LittleEndian.AppendUint16(b, ggml.Float32ToFloat16(v.value()))
	}
	if v.typ == ggml.F32 {
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(v.value()))
	}
	var block [32]float32
	for i := range block {
		block[i] = v.value()
	}
	q, err := ggml.Quantise(v.typ, block[:])
	if err != nil {
		panic(err) // Write has checked the type
	}
	return append(b, q...)
}

func (v *values) value() float32 {
	// A multiple of 2^-23 in [-1, 1): exact, and so is what follows but for
	// one rounding each, kept apart by the conversion.
	unit := float32(int32(v.rng.next()>>8)-1<<23) * (1.0 / (1 << 23))
	f := float32(unit*v.spread) + v.centre
	if v.adjust != nil {
		f = v.adjust(v.name, v.index, f)
	}
	v.index++
	return f
}

// pcg is O'Neill's PCG-XSH-RR with 64 bits of state and 32 of output.
type pcg struct{ state, stream uint64 }

// newPCG gives each tensor a stream of its own, so that a tensor's values
// depend on its name and not on what stands before it.
func newPCG(seed uint64, name string) pcg {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	p := pcg{stream: h<<1 | 1}
	p.next()
	p.state += seed
	p.next()
	return p
}

func (p *pcg) next() uint32 {
	old := p.state
	p.state = old*6364136223846793005 + p.stream
	x := uint32((old>>18 ^ old) >> 27)
	rot := uint32(old >> 59)
	return x>>rot | x<<(-rot&31)
}
