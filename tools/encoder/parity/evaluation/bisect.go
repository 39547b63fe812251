package evaluation

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/eval"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// point is a value on the reference's way through the encoder.
type point struct {
	name          string
	rows, columns int
	values        []float32
	energy        float64

	best match
}

// match is the program's value that agrees best with a point so far.
type match struct {
	op, name string
	line     int
	snr      float64
}

func newPoint(name string, rows, columns int, v []float64) point {
	p := point{name: name, rows: rows, columns: columns, values: make([]float32, len(v)), best: match{snr: math.Inf(-1)}}
	for i, x := range v {
		p.values[i] = float32(x)
		p.energy += x * x
	}
	return p
}

// Step is one line of a bisection.
type Step struct {
	Point string  `json:"point"`
	SNR   float64 `json:"snr_db"`
	Op    string  `json:"op"`
	Value string  `json:"value"`
	Line  int     `json:"line"`
}

// slack is how far below the policy's limit a point on the way may lie: the
// residual stream has a few large values, and the last norm evens them out.
const slack = 10

// bisect evaluates the program once more with every value in sight, and matches
// the reference's points with them by value: programs name their values as they
// like. The first point that nothing in the program agrees with lies behind the
// first operation that went wrong. A program that cannot be evaluated, though its
// output was predicted elsewhere, is judged without.
func (c *checker) bisect(points []point, mels, frames int) error {
	err := c.trace(points, mels, frames)
	if c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	if err != nil {
		c.Facts["bisect_failed"] = err.Error()
		return nil
	}
	limit, err := c.policy.Threshold("snr_db_min")
	if err != nil {
		return err
	}
	var steps []Step
	before := "the input"
	found := false
	for _, p := range points {
		b := p.best
		steps = append(steps, Step{p.name, math.Max(b.snr, -400), b.op, b.name, b.line})
		at := fmt.Sprintf("%s %q, line %d", b.op, b.name, b.line)
		if !found && len(c.Reasons) > 0 && b.snr < limit-slack {
			found = true
			c.Add(reason.FirstDifference, fmt.Sprintf("between %s and %s", before, p.name), fmt.Sprintf("a value of at least %g dB for %s", limit-slack, p.name),
				fmt.Sprintf("%.1f dB at best, by %s", b.snr, at))
		}
		before = fmt.Sprintf("%s (%s)", p.name, at)
	}
	c.Facts["bisect"] = steps
	return nil
}

// trace matches the points with every value of the program.
func (c *checker) trace(points []point, mels, frames int) error {
	e, err := load(c.Encoder, eval.Options{Threads: c.Threads, KeepAll: true})
	if err != nil {
		return err
	}
	defer e.Close()
	overflowed := false
	_, err = e.plan.Trace(c.ctx, input(c.mel, mels, frames), func(s eval.Traced) {
		v := widen(s.Tensor)
		if n, first := infinite(v); n > 0 && !overflowed && s.DType == mil.Float16 {
			overflowed = true
			c.Add(reason.ParityOverflow, fmt.Sprintf("%s, line %d", c.Encoder, s.Line), "values up to 65504", fmt.Sprintf("%d of %d values of %s %q overflow, the first at index %d of %v", n, len(v), s.Op, s.Name, first, s.Shape))
		}
		for i := range points {
			points[i].consider(s, v)
		}
	})
	return err
}

// infinite counts the values that are infinite.
func infinite(v []float32) (n, first int) {
	for i, x := range v {
		if math.IsInf(float64(x), 0) {
			if n == 0 {
				first = i
			}
			n++
		}
	}
	return n, first
}

func widen(t mil.Tensor) []float32 {
	switch t.DType {
	case mil.Float32:
		v := make([]float32, len(t.Data)/4)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.Data[4*i:]))
		}
		return v
	case mil.Float16:
		v := make([]float32, len(t.Data)/2)
		for i := range v {
			v[i] = kernel.HalfToFloat32(binary.LittleEndian.Uint16(t.Data[2*i:]))
		}
		return v
	}
	return nil
}

// consider compares a value with the point, as it lies and transposed. A sample
// is looked at first, since most values are something else altogether.
func (p *point) consider(s eval.Traced, v []float32) {
	if len(v) != len(p.values) {
		return
	}
	for _, from := range []func(i int) int{
		func(i int) int { return i },
		func(i int) int { return i%p.columns*p.rows + i/p.columns },
	} {
		if snr := p.compare(v, from, max(1, len(v)/4096)); snr < 0 || snr < p.best.snr-20 {
			continue
		}
		if snr := p.compare(v, from, 1); snr > p.best.snr {
			p.best = match{s.Op, s.Name, s.Line, snr}
		}
	}
}

func (p *point) compare(v []float32, from func(i int) int, step int) float64 {
	var signal, noise float64
	for i := 0; i < len(v); i += step {
		r, d := float64(p.values[i]), float64(v[from(i)])-float64(p.values[i])
		signal += r * r
		noise += d * d
	}
	if noise == 0 {
		return 400
	}
	return 10 * math.Log10(signal/noise)
}
