package artifact

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// Pairing says whether an encoder's weights are those of a .bin, and used where they belong. Tensors are
// found by value, and their places by what the program computes (place.go): names do not survive conversion.
type Pairing struct {
	// Matched counts the .bin's encoder tensors that the encoder holds, Rewritten among them.
	Matched int `json:"matched"`
	// Tensors is the number of encoder tensors in the .bin.
	Tensors int `json:"tensors"`
	// Rewritten names tensors that stand in the encoder in no form that is known, while what the program computes
	// where they belong is what they give.
	Rewritten []string `json:"rewritten,omitempty"`
	// Differing, Absent, Unused and Unreadable name the others. Unused ones stand in constants that nothing reads.
	Differing  []Difference `json:"differing,omitempty"`
	Absent     []string     `json:"absent,omitempty"`
	Unused     []string     `json:"unused,omitempty"`
	Unreadable []string     `json:"unreadable,omitempty"`
	// Unmatched names weights of the encoder that are none of the .bin's.
	Unmatched []string `json:"unmatched,omitempty"`
	// Finer says that the encoder's weights have bits that the .bin's lost.
	Finer bool `json:"finer"`
	// FinerValues and FinerTensors count where. No values are counted in a tensor that the .bin holds quantised.
	FinerValues  int64 `json:"finer_values,omitempty"`
	FinerTensors int   `json:"finer_tensors,omitempty"`
	// OffGrid counts the finer tensors whose values lie off the grid to which the .bin was quantised.
	OffGrid int `json:"off_grid_tensors,omitempty"`
	// FinerBy is the largest difference, relative to the .bin's value.
	FinerBy float64 `json:"finer_by,omitempty"`
	// Rule says how equality was judged: exact (equal after rounding to the
	// coarser type), or bounded (by what compression may change).
	Rule string `json:"rule"`
	// Places says which operation of the program computes with which tensors, and how sure that is.
	Places []Place `json:"places,omitempty"`
}

// Rules by which equality of weights is judged.
const (
	ruleExact   = "exact"
	ruleBounded = "bounded"
)

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
	// Bounds is how far the furthest value of a compressed weight lies from the .bin's, in units of what its scheme's
	// rounding may move it: a step of a linear scheme, half a gap of a palette.
	Bounds float64 `json:"bounds,omitempty"`
}

func (d Difference) String() string {
	s := fmt.Sprintf("%s (%d of %d values, %.2g relative", d.Tensor, d.Values, d.Of, d.RelativeRMS)
	if d.Bounds > 0 {
		s += fmt.Sprintf(", up to %.3g times what rounding moves", d.Bounds)
	}
	return s + ")"
}

// farApart is the distance (see distance) from which a tensor counts as absent
// rather than changed. Unrelated values differ by about 1.4.
const farApart = 0.5

// pairing is a comparison under way.
type pairing struct {
	Pairing
	model *ggml.Model
	d     *decompressor
	// views are the ways to read each weight, by the extents that they give.
	views map[string][]*view
	// unread are weights that nothing reads.
	unread *pairing
	// found says by what each tensor was matched, piece by piece.
	found      map[string][]match
	unreadable []string
	// weights are those that are looked through, and indexed the extents of which views were made.
	weights []*weight
	extents [][]int64
	indexed map[string]bool
	// compressed says that one of the weights is.
	compressed bool
	// last is the compressed weight that was decompressed last.
	last     *weight
	lastData []byte
}

// match is a tensor, or a piece of one, and where it stands.
type match struct {
	target *target
	view   *view
	form   *form
	// of says which piece of how many along which axis; count is 1 for a whole tensor.
	count, at int64
	columns   bool
}

// forget drops what only finding tensors needs.
func (p *pairing) forget() {
	p.last, p.lastData = nil, nil
	for _, views := range p.views {
		for _, v := range views {
			v.samples = nil
		}
	}
}

// bare is the match without the tensor's values, so that they need not stay in memory.
func (m match) bare() match {
	m.target = &target{name: m.target.name, typ: m.target.typ, shape: m.target.shape}
	return m
}

// lookingThrough is a pairing with some of the weights.
func lookingThrough(m *ggml.Model, list []*weight, d *decompressor) *pairing {
	return &pairing{model: m, d: d, Pairing: Pairing{Rule: ruleExact}, views: map[string][]*view{}, found: map[string][]match{}, weights: list, indexed: map[string]bool{},
		compressed: slices.ContainsFunc(list, func(w *weight) bool { return w.op != nil })}
}

// newPairing looks for every encoder tensor of the model among the weights.
func newPairing(m *ggml.Model, list []*weight, d *decompressor) (*pairing, error) {
	var read, unread []*weight
	for _, w := range list {
		if w.live {
			read = append(read, w)
		} else {
			unread = append(unread, w)
		}
	}
	p := lookingThrough(m, read, d)
	if len(unread) > 0 {
		p.unread = lookingThrough(m, unread, d)
		if err := p.unread.index(p.wholes()); err != nil {
			return nil, err
		}
	}
	if err := p.index(p.wholes()); err != nil {
		return nil, err
	}
	for _, t := range m.Tensors {
		if !strings.HasPrefix(t.Name, "encoder.") {
			continue
		}
		p.Tensors++
		if err := p.find(t); err != nil {
			return nil, err
		}
	}
	p.forget()
	if p.unread != nil {
		p.unread.forget()
	}
	for _, w := range read {
		if !w.used && !w.zero {
			p.Unmatched = append(p.Unmatched, w.name)
		}
	}
	return p, nil
}

// pair holds the weights against the model's tensors: first their values, then where they are used.
func (e *encoder) pair(m *ggml.Model, main *mil.Function, list []*weight, d *decompressor) (*Pairing, error) {
	p, err := newPairing(m, list, d)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	var f *flow
	if !e.has(unfed) && len(p.unreadable)+len(p.Unreadable) == 0 {
		if f, err = e.place(ctx, p, main); err != nil {
			return nil, err
		}
	}
	if f != nil && f.wrong == nil {
		p.Rewritten, p.Absent = p.Absent, nil
		p.Matched += len(p.Rewritten)
	}
	e.pairingFaults(p)
	if f != nil && f.wrong != nil && len(p.Absent)+len(p.Unused)+len(p.Unreadable) == 0 {
		e.misplaced(ctx, p, f, main)
	}
	return &p.Pairing, nil
}

func (e *encoder) pairingFaults(p *pairing) {
	where := e.art.ModelFile
	expected := fmt.Sprintf("all %d encoder tensors of the .bin", p.Tensors)
	if len(p.Absent) > 0 {
		e.fault(reason.PairingAbsent, where, expected, fmt.Sprintf("%d matched, %d absent: %s", p.Matched, len(p.Absent), few(p.Absent)))
	}
	if len(p.Unused) > 0 && !e.stateful() {
		e.fault(reason.PairingUnused, where, expected+", read on the way to the output", fmt.Sprintf("%d in constants that nothing reads: %s", len(p.Unused), few(p.Unused)))
	}
	if len(p.Differing) > 0 {
		names := make([]string, len(p.Differing))
		for i, x := range p.Differing {
			names[i] = x.String()
		}
		e.fault(reason.PairingDiffers, where, expected, fmt.Sprintf("%d matched, %d with other values: %s", p.Matched, len(names), few(names)))
	}
	if len(p.Unreadable) > 0 || len(p.unreadable) > 0 && len(p.Absent) > 0 {
		e.fault(reason.PairingUnreadable, where, "weights that can be decoded", few(append(slices.Clone(p.Unreadable), p.unreadable...)))
	}
	if len(p.Rewritten) > 0 {
		e.fault(reason.PairingRewritten, where, "tensors as the .bin has them", fmt.Sprintf("%d in another form, whose results are theirs: %s", len(p.Rewritten), few(p.Rewritten)))
	}
	if p.Finer {
		e.fault(reason.PairingFiner, where, "weights as fine as the .bin's", p.FinerBecause())
	}
	if len(p.Unmatched) > 0 {
		e.fault(reason.PairingUnmatched, where, "no other weights", few(p.Unmatched))
	}
}

// pieces are the extents of what may be found of tensors: their part for one head.
func (p *pairing) pieces() [][]int64 {
	h := p.model.Hyperparameters
	state, width := int64(h.AudioState), int64(h.AudioState/h.AudioHead)
	return [][]int64{{width, state}, {state, width}, {width}}
}

// wholes are the extents of the model's tensors.
func (p *pairing) wholes() [][]int64 {
	if p.extents != nil {
		return p.extents
	}
	var list [][]int64
	for _, t := range p.model.Tensors {
		if strings.HasPrefix(t.Name, "encoder.") {
			list = append(list, squeeze(t.Shape()))
		}
	}
	slices.SortFunc(list, slices.Compare)
	p.extents = slices.CompactFunc(list, slices.Equal)
	return p.extents
}

// find looks for one tensor and records what came of it.
func (p *pairing) find(t ggml.Tensor) error {
	if !t.Type.Decodable() {
		p.Unreadable = append(p.Unreadable, fmt.Sprintf("%s (%s)", t.Name, t.Type))
		return nil
	}
	x, err := p.target(t)
	if err != nil {
		return err
	}
	usual, err := p.usual(x)
	if err != nil {
		return err
	}
	m, c, err := p.best(x, usual)
	if err == nil && (c == nil || !c.ok()) {
		folded, e := p.folded(x)
		if e != nil {
			return e
		}
		var more match
		var d *comparison
		if more, d, err = p.best(x, folded); err == nil && d != nil && (d.ok() || c == nil) {
			m, c = more, d
		}
	}
	switch {
	case isUnsupported(err):
		p.Unreadable = append(p.Unreadable, t.Name)
		return nil
	case err != nil:
		return err
	case c != nil && c.ok():
		p.matched(t.Name, c, m)
		return nil
	}
	if split, err := p.split(x, usual); err != nil || split {
		return err
	}
	if c == nil || c.distance() > farApart {
		return p.absent(x, usual)
	}
	// It is this tensor, changed: not another weight that matches nothing.
	m.view.w.used = true
	p.found[t.Name] = []match{m.bare()}
	d := Difference{Tensor: t.Name, Weight: m.view.w.name, Values: c.wrong, Of: c.n, RelativeRMS: math.Round(c.relative()*1e8) / 1e8}
	if m.view.w.op != nil {
		d.Bounds = math.Round(c.furthest*1e3) / 1e3
	}
	p.Differing = append(p.Differing, d)
	return nil
}

func (p *pairing) matched(name string, c *comparison, m match) {
	p.Matched++
	p.count(c)
	m.view.w.used = true
	p.found[name] = append(p.found[name], m.bare())
}

func (p *pairing) count(c *comparison) {
	if c.finer {
		p.Finer = true
		p.FinerTensors++
		p.FinerValues += c.roundings
		p.FinerBy = max(p.FinerBy, c.finest)
		if c.offGrid {
			p.OffGrid++
		}
	}
	if c.bounded || c.ignored > 0 {
		p.Rule = ruleBounded
	}
}

// FinerBecause says in words by what the encoder's weights are finer than the .bin's: by bits that rounding drops, or by
// values between those that a quantised .bin can hold.
func (p *Pairing) FinerBecause() string {
	var parts []string
	if n := p.FinerTensors - p.OffGrid; n > 0 {
		parts = append(parts, fmt.Sprintf("%d values in %d tensors with more bits, by up to %.2g of the value", p.FinerValues, n, p.FinerBy))
	}
	if p.OffGrid > 0 {
		parts = append(parts, fmt.Sprintf("%d tensors with values between those that the .bin's quantised types hold", p.OffGrid))
	}
	return strings.Join(parts, ", ")
}

// split looks for a tensor in pieces, one for each head.
func (p *pairing) split(t *target, forms []*form) (bool, error) {
	heads := int64(p.model.Hyperparameters.AudioHead)
	if heads < 2 || !strings.Contains(t.name, ".attn.") || t.shape[0]%heads != 0 {
		return false, nil
	}
	columns := strings.HasSuffix(t.name, "out.weight")
	if strings.HasSuffix(t.name, "out.bias") {
		return false, nil
	}
	var all []match
	var sums []*comparison
	for at := range heads {
		piece, err := p.part(t, heads, at, columns)
		if err != nil {
			return false, err
		}
		m, c, err := p.best(piece, forms)
		if err != nil || c == nil || !c.ok() {
			return false, err
		}
		m.count, m.at, m.columns = heads, at, columns
		all, sums = append(all, m.bare()), append(sums, c)
	}
	p.Matched++
	for i, m := range all {
		m.view.w.used = true
		p.count(sums[i])
	}
	p.found[t.name] = all
	return true, nil
}

// absent notes a tensor that no weight holds, or only one that nothing reads.
func (p *pairing) absent(t *target, forms []*form) error {
	if p.unread != nil {
		_, c, err := p.unread.best(t, forms)
		if err != nil && !isUnsupported(err) {
			return err
		}
		if err == nil && c != nil && c.ok() {
			p.Unused = append(p.Unused, t.name)
			return nil
		}
	}
	p.Absent = append(p.Absent, t.name)
	return nil
}
