package ggml

import (
	"fmt"
	"slices"
	"strings"
)

// Spec is a tensor that a model must hold.
type Spec struct {
	Name string
	Dims []int64 // innermost first
	// Matrix is true for tensors that take the file's matrix type (ftype);
	// Convolution for those that are float16 unless the file is float32;
	// the rest is float32 always.
	Matrix, Convolution bool
}

// Type is the tensor's type in a file of the given ftype, false where the
// ftype is unknown.
func (s Spec) Type(f FType) (Type, bool) {
	t, ok := f.Type()
	switch {
	case !s.Matrix && !s.Convolution:
		return F32, ok
	case s.Convolution && t != F32:
		return F16, ok
	}
	return t, ok
}

// Layout lists the tensors that upstream's whisper_model_load makes for a
// header, in the order in which upstream's converter writes them.
func Layout(h Hyperparameters) []Spec {
	a, t := int64(h.AudioState), int64(h.TextState)
	l := layout{
		{Name: "decoder.positional_embedding", Dims: []int64{t, int64(h.TextCtx)}},
		{Name: "encoder.positional_embedding", Dims: []int64{a, int64(h.AudioCtx)}},
		{Name: "decoder.token_embedding.weight", Dims: []int64{t, int64(h.Vocab)}, Matrix: true},
	}
	for i := range h.TextLayer {
		p := fmt.Sprintf("decoder.blocks.%d.", i)
		l.block(p, t)
		l.norm(p+"cross_attn_ln", t)
		l.attention(p+"cross_attn.", t)
	}
	l.norm("decoder.ln", t)
	for i, in := range []int64{int64(h.Mels), a} {
		n := fmt.Sprintf("encoder.conv%d", i+1)
		l = append(l, Spec{Name: n + ".weight", Dims: []int64{3, in, a}, Convolution: true},
			Spec{Name: n + ".bias", Dims: []int64{1, a}})
	}
	for i := range h.AudioLayer {
		l.block(fmt.Sprintf("encoder.blocks.%d.", i), a)
	}
	l.norm("encoder.ln_post", a)
	return l
}

type layout []Spec

func (l *layout) norm(name string, width int64) {
	*l = append(*l, Spec{Name: name + ".weight", Dims: []int64{width}}, Spec{Name: name + ".bias", Dims: []int64{width}})
}

func (l *layout) linear(name string, in, out int64, bias bool) {
	*l = append(*l, Spec{Name: name + ".weight", Dims: []int64{in, out}, Matrix: true})
	if bias {
		*l = append(*l, Spec{Name: name + ".bias", Dims: []int64{out}})
	}
}

func (l *layout) attention(prefix string, width int64) {
	for _, part := range []string{"query", "key", "value", "out"} {
		// Whisper's keys have no bias.
		l.linear(prefix+part, width, width, part != "key")
	}
}

func (l *layout) block(prefix string, width int64) {
	l.norm(prefix+"mlp_ln", width)
	l.linear(prefix+"mlp.0", width, 4*width, true)
	l.linear(prefix+"mlp.2", 4*width, width, true)
	l.norm(prefix+"attn_ln", width)
	l.attention(prefix+"attn.", width)
}

// Check holds the directory against Layout: every tensor there, none besides,
// each of the right extents and type. It also refuses header numbers that
// upstream relies on without checking them.
func (m *Model) Check() error {
	h := m.Hyperparameters
	var faults []string
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if h.TextState != h.AudioState {
		add("n_text_state %d differs from n_audio_state %d", h.TextState, h.AudioState)
	}
	if h.AudioState%h.AudioHead != 0 || h.TextState%h.TextHead != 0 {
		add("the heads (%d, %d) do not divide the widths (%d, %d)", h.AudioHead, h.TextHead, h.AudioState, h.TextState)
	}
	if m.Filters.Rows != h.Mels {
		add("the filter bank has %d rows, n_mels is %d", m.Filters.Rows, h.Mels)
	}
	expected := map[string]bool{}
	for _, s := range Layout(h) {
		expected[s.Name] = true
		t, ok := m.Tensor(s.Name)
		if !ok {
			add("tensor %s is missing", s.Name)
			continue
		}
		if !slices.Equal(t.Dims, s.Dims) {
			add("tensor %s has extents %v, expected %v", s.Name, t.Dims, s.Dims)
		}
		if want, _ := s.Type(h.FType); t.Type != want {
			add("tensor %s is %s, expected %s", s.Name, t.Type, want)
		}
	}
	for _, t := range m.Tensors {
		if !expected[t.Name] {
			add("tensor %s is unknown", t.Name)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	detail := strings.Join(faults[:min(len(faults), 8)], "; ")
	if n := len(faults) - 8; n > 0 {
		detail += fmt.Sprintf("; and %d more", n)
	}
	return &FormatError{Problem: Incomplete, Offset: -1, Detail: detail}
}
