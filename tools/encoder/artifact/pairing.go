package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// Pairing says whether an encoder's weights are those of a .bin. Tensors are
// found by value: names do not survive conversion.
type Pairing struct {
	// Matched counts the .bin's encoder tensors that the encoder holds.
	Matched int `json:"matched"`
	// Tensors is the number of encoder tensors in the .bin.
	Tensors int `json:"tensors"`
	// Differing, Absent and Unreadable name the others.
	Differing  []Difference `json:"differing,omitempty"`
	Absent     []string     `json:"absent,omitempty"`
	Unreadable []string     `json:"unreadable,omitempty"`
	// Unmatched names weights of the encoder that are none of the .bin's.
	Unmatched []string `json:"unmatched,omitempty"`
	// Finer says that the encoder's weights have bits that the .bin's lost.
	Finer bool `json:"finer"`
	// Rule says how equality was judged: exact (equal after rounding to the
	// coarser type), or bounded (by what compression may change).
	Rule string `json:"rule"`
}

// Difference is a tensor that is there with other values.
type Difference struct {
	Tensor string `json:"tensor"`
	Weight string `json:"weight"`
	// Values that do not match, of how many.
	Values int64 `json:"values"`
	Of     int64 `json:"of"`
	// RelativeRMS is the root mean square of the differences, relative to the
	// .bin's values.
	RelativeRMS float64 `json:"relative_rms"`
}

// farApart is the distance (see distance) from which a tensor counts as absent
// rather than changed. Unrelated values differ by about 1.4.
const farApart = 0.5

// pair looks for every encoder tensor of the model among the weights.
func (e *encoder) pair(m *ggml.Model, list []*weight, d *decompressor) (*Pairing, error) {
	p := &pairing{model: m, d: d, Pairing: Pairing{Rule: "exact"}}
	for _, w := range list {
		c, err := p.candidate(w)
		if err != nil {
			if errors.Is(err, errUnsupported) {
				p.unreadable = append(p.unreadable, w.name+": "+err.Error())
				continue
			}
			return nil, fmt.Errorf("weight %s: %w", w.name, err)
		}
		p.candidates = append(p.candidates, c)
	}
	uses := map[string]int{}
	for _, t := range m.Tensors {
		if !strings.HasPrefix(t.Name, "encoder.") {
			continue
		}
		p.Tensors++
		use, err := p.find(t)
		if err != nil {
			return nil, err
		}
		uses[t.Name] = use
	}
	for _, c := range p.candidates {
		if !c.used && !c.zero {
			p.Unmatched = append(p.Unmatched, c.w.name)
		}
	}
	e.pairingFaults(p, uses)
	return &p.Pairing, nil
}

func (e *encoder) pairingFaults(p *pairing, uses map[string]int) {
	where := e.art.ModelFile
	few := func(names []string) string {
		s := strings.Join(names[:min(len(names), 3)], ", ")
		if n := len(names) - 3; n > 0 {
			s += fmt.Sprintf(" and %d more", n)
		}
		return s
	}
	expected := fmt.Sprintf("all %d encoder tensors of the .bin", p.Tensors)
	if len(p.Absent) > 0 {
		e.fault(reason.PairingAbsent, where, expected, fmt.Sprintf("%d matched, %d absent: %s", p.Matched, len(p.Absent), few(p.Absent)))
	}
	if len(p.Differing) > 0 {
		names := make([]string, len(p.Differing))
		for i, x := range p.Differing {
			names[i] = fmt.Sprintf("%s (%d of %d values, %.2g relative)", x.Tensor, x.Values, x.Of, x.RelativeRMS)
		}
		e.fault(reason.PairingDiffers, where, expected, fmt.Sprintf("%d matched, %d with other values: %s", p.Matched, len(names), few(names)))
	}
	if len(p.Unreadable) > 0 || len(p.unreadable) > 0 && len(p.Absent) > 0 {
		e.fault(reason.PairingUnreadable, where, "weights that can be decoded", few(append(slices.Clone(p.Unreadable), p.unreadable...)))
	}
	if bad := outOfOrder(p.model.Hyperparameters, uses); bad != "" {
		e.fault(reason.PairingOrder, where, "layers in the model's order", bad)
	}
	if p.Finer {
		e.fault(reason.PairingFiner, where, "weights as fine as the .bin's", "weights with more bits")
	}
	if len(p.Unmatched) > 0 {
		e.fault(reason.PairingUnmatched, where, "no other weights", few(p.Unmatched))
	}
}

// outOfOrder checks that the blocks' matrices are used one after the other.
func outOfOrder(h ggml.Hyperparameters, uses map[string]int) string {
	for _, part := range []string{"attn.query.weight", "mlp.0.weight", "mlp.2.weight"} {
		for i := 1; i < h.AudioLayer; i++ {
			a, b := fmt.Sprintf("encoder.blocks.%d.%s", i-1, part), fmt.Sprintf("encoder.blocks.%d.%s", i, part)
			if x, y := uses[a], uses[b]; x > 0 && y > 0 && x > y {
				return b + " before " + a
			}
		}
	}
	return ""
}

type pairing struct {
	Pairing
	model      *ggml.Model
	d          *decompressor
	candidates []*candidate
	unreadable []string
}

// candidate is a weight with values at fixed places, read straight and, for
// matrices, transposed as well.
type candidate struct {
	w        *weight
	squeezed []int64
	straight []float32
	crossed  []float32
	zero     bool // all zeros: a bias that a layer needs and the model lacks
	used     bool
}

func (p *pairing) candidate(w *weight) (*candidate, error) {
	c := &candidate{w: w, squeezed: squeeze(w.shape)}
	n := w.elements()
	values, err := p.reader(w)
	if err != nil {
		return nil, err
	}
	k := sampleCount(n)
	c.straight = make([]float32, k)
	for i := range c.straight {
		c.straight[i] = values(place(i, n))
	}
	if len(c.squeezed) == 2 {
		// Sample i of the transposed matrix: place counts along its rows.
		rows, cols := c.squeezed[1], c.squeezed[0]
		c.crossed = make([]float32, k)
		for i := range c.crossed {
			at := place(i, n)
			c.crossed[i] = values(at%cols*rows + at/cols)
		}
	}
	if !slices.ContainsFunc(c.straight, func(v float32) bool { return v != 0 }) {
		c.zero, err = p.allZero(w)
	}
	return c, err
}

// reader gives random access to a weight's values.
func (p *pairing) reader(w *weight) (func(int64) float32, error) {
	typ, data, err := p.stored(w)
	if err != nil {
		return nil, err
	}
	info, _ := typ.Info()
	raw := make([]byte, info.BlockBytes)
	return func(i int64) float32 {
		var one [1]float32
		if n, _ := data.ReadAt(raw, i*info.BlockBytes); n == len(raw) {
			_ = ggml.Decode(typ, one[:], raw)
		}
		return one[0]
	}, nil
}

// sections reads weights without mapping whole files into memory.
type sections interface {
	Section(mil.BlobRef) (mil.DType, *io.SectionReader, error)
}

// stored gives the type and the bytes of a weight, those of a compressed one
// decompressed.
func (p *pairing) stored(w *weight) (ggml.Type, io.ReaderAt, error) {
	typ, ok := floatTypes[w.typ]
	if !ok {
		return 0, nil, fmt.Errorf("type %s: %w", w.typ, errUnsupported)
	}
	if w.op != nil {
		t, err := p.d.values(w.op)
		return typ, bytes.NewReader(t.Data), err
	}
	if s, ok := p.d.weights.(sections); ok && w.value != nil && w.value.Blob != nil {
		d, data, err := s.Section(*w.value.Blob)
		if err != nil {
			return 0, nil, err
		}
		if size, err := blobSize(w.value); err != nil || d != w.typ || size != data.Size() {
			return 0, nil, fmt.Errorf("%d bytes of %s for %s", data.Size(), d, w.value.Type)
		}
		return typ, data, nil
	}
	t, err := mil.Resolve(w.value, p.d.weights)
	if err != nil {
		return 0, nil, err
	}
	return typ, bytes.NewReader(t.Data), nil
}

func (p *pairing) allZero(w *weight) (bool, error) {
	zero := true
	err := p.stream(w, func(_ int64, v []float32) error {
		if slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) {
			zero = false
		}
		return nil
	})
	return zero, err
}

// stream visits a weight's values in order, piece by piece.
func (p *pairing) stream(w *weight, visit func(first int64, v []float32) error) error {
	typ, data, err := p.stored(w)
	if err != nil {
		return err
	}
	info, _ := typ.Info()
	n := w.elements()
	buf := make([]float32, min(n, pieceValues))
	raw := make([]byte, int64(len(buf))*info.BlockBytes)
	for first := int64(0); first < n; first += int64(len(buf)) {
		b := buf[:min(int64(len(buf)), n-first)]
		r := raw[:int64(len(b))*info.BlockBytes]
		if k, err := data.ReadAt(r, first*info.BlockBytes); k < len(r) {
			return fmt.Errorf("read weight %s: %w", w.name, err)
		}
		if err := ggml.Decode(typ, b, r); err != nil {
			return err
		}
		if err := visit(first, b); err != nil {
			return err
		}
	}
	return nil
}

// pieceValues is how many values are compared at a time.
const pieceValues = 64 << 10

// identical reports whether tensor and weight are the same bytes of one type,
// which is the usual case, and the quick one.
func (p *pairing) identical(t ggml.Tensor, w *weight) (bool, error) {
	typ, data, err := p.stored(w)
	if err != nil || typ != t.Type {
		return false, err
	}
	info, _ := typ.Info()
	ours := make([]byte, pieceValues*info.BlockBytes)
	theirs := make([]byte, len(ours))
	ref := p.model.Data(t)
	for at := int64(0); at < t.Size; at += int64(len(ours)) {
		k := min(int64(len(ours)), t.Size-at)
		if n, err := data.ReadAt(ours[:k], at); int64(n) < k {
			return false, fmt.Errorf("read weight %s: %w", w.name, err)
		}
		if n, err := ref.ReadAt(theirs[:k], at); int64(n) < k {
			return false, fmt.Errorf("read tensor %s: %w", t.Name, err)
		}
		if !bytes.Equal(ours[:k], theirs[:k]) {
			return false, nil
		}
	}
	return true, nil
}

// find looks for one tensor and records what came of it. It returns the
// position at which the matched weight is used, 0 for none.
func (p *pairing) find(t ggml.Tensor) (int, error) {
	if !t.Type.Decodable() {
		p.Unreadable = append(p.Unreadable, fmt.Sprintf("%s (%s)", t.Name, t.Type))
		return 0, nil
	}
	ref, err := p.reference(t)
	if err != nil {
		return 0, err
	}
	best, variant, distance := p.nearest(t, ref)
	if best == nil {
		p.Absent = append(p.Absent, t.Name)
		return 0, nil
	}
	if distance > farApart && best.w.op == nil {
		p.Absent = append(p.Absent, t.Name)
		return 0, nil
	}
	v, err := p.verify(t, best, variant)
	if err != nil {
		return 0, err
	}
	if v.finer {
		p.Finer = true
	}
	if v.bounded {
		p.Rule = "bounded"
	}
	if v.ok() {
		p.Matched++
		best.used = true
		return best.w.use, nil
	}
	if v.distance() > farApart {
		p.Absent = append(p.Absent, t.Name)
		return 0, nil
	}
	// It is this tensor, changed: not another weight that matches nothing.
	best.used = true
	p.Differing = append(p.Differing, Difference{Tensor: t.Name, Weight: best.w.name, Values: v.wrong, Of: v.n,
		RelativeRMS: math.Round(v.relative()*1e8) / 1e8})
	return best.w.use, nil
}
