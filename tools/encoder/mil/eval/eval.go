// Package eval evaluates the MIL programs of Whisper encoders on any host.
//
// # What is promised
//
// A program is checked as a whole before anything is computed: every operation,
// argument, type and shape. Each obstacle is listed with its operation and line
// ([Unsupported]). What passes is evaluated by the definitions below; there is
// no approximation of an operation that is not known.
//
// # Arithmetic
//
// Apple does not publish the arithmetic of its back ends, and they differ among
// themselves. This evaluator takes the definition that they approximate:
//
//   - float32: each operation computes in float32, sums as package kernel says
//     (products by fused multiply-add in blocks of k, row sums in float64).
//   - float16: each operation takes its float16 operands exactly, computes in
//     float32 as above, and rounds each element of its result once to float16,
//     nearest even, subnormals kept. A value between two operations is a float16
//     always. For +, -, ×, ÷ and square roots that is the correctly rounded
//     float16 result, since float32 has more than twice the digits.
//   - cast rounds directly from the source type to the target.
//   - operations that only move elements (reshape, transpose, split, concat …)
//     move bits, NaN payloads included.
//
// Every result depends on the program, its weights, its input and the kernel
// path alone, not on threads or on fusing: fused operations compute the same
// bytes as separate ones.
//
// # Shapes
//
// All shapes are fixed. Rank above 5 and extents of zero are refused, as Core ML
// refuses them. A scalar that enters or leaves the program is an array [1]. What
// is computed of shapes and constants alone is known before anything runs, so it may be the
// argument of a later operation. Control flow and state are refused.
//
// # Integers
//
// Core ML computes integers in float32 until iOS 26, so a result above 2^24 ends
// the evaluation, but for int32 products of an operation set of iOS 26, which must fit int32.
//
// # What has no answer
//
// Where Core ML's documentation leaves the result open, the evaluation ends with
// the reason: an index outside its tensor, equal elements of which an index names one, a NaN
// to be ordered, a quotient of integers that is none, a pooling window of padding alone.
package eval

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// Obstacle is one reason why a program cannot be evaluated.
type Obstacle struct {
	// Op is the operation's type, or "" for the program or function itself.
	Op string `json:"op"`
	// Output names the operation's first output.
	Output string `json:"output"`
	// Line is the operation's line in the text, or position in a protobuf.
	Line int `json:"line"`
	// Problem says what was expected and what was found.
	Problem string `json:"problem"`
}

func (o Obstacle) String() string {
	if o.Op == "" {
		return o.Problem
	}
	return fmt.Sprintf("line %d: %s %q: %s", o.Line, o.Op, o.Output, o.Problem)
}

// Unsupported is the error for a program that was not accepted.
type Unsupported struct{ Obstacles []Obstacle }

func (u *Unsupported) Error() string {
	const shown = 8
	var b strings.Builder
	fmt.Fprintf(&b, "the program cannot be evaluated, %d obstacle(s)", len(u.Obstacles))
	for i, o := range u.Obstacles {
		if i == shown {
			fmt.Fprintf(&b, "; and %d more", len(u.Obstacles)-shown)
			break
		}
		b.WriteString("; " + o.String())
	}
	return b.String()
}

// Options tune an evaluation; they never change a result.
type Options struct {
	// Threads is the number of workers; zero means all processors.
	Threads int
	// MaxBytes bounds the memory for values in between; zero means 8 GiB.
	MaxBytes int64
	// KeepAll makes every value that the program names, for [Plan.Trace], and fuses nothing.
	KeepAll bool
	// Late, when set, gives constants that are read when an operation needs them, and dropped after it.
	Late Late
}

// Late finds the bytes of constants while a program runs, so that they are never all in memory.
type Late interface {
	// Is reports whether the constant is read late. All others are found by the program's weights.
	Is(ref mil.BlobRef) bool
	// Read fills into, which is as long as the constant.
	Read(ref mil.BlobRef, into []byte) error
}

// limit is MaxBytes or its default.
func (o Options) limit() int {
	if o.MaxBytes > 0 {
		return int(o.MaxBytes)
	}
	return 8 << 30
}

// Feature is a named input or output with its fixed type.
type Feature struct {
	Name  string
	DType mil.DType
	Shape []int64
}

// Plan is a checked function, ready to run. It serves one call at a time.
type Plan struct {
	Inputs, Outputs []Feature
	// Warnings lists what is evaluated but deserves a look, such as integers
	// that Core ML would not hold exactly.
	Warnings []Obstacle

	steps   []*step
	nodes   []*node // roots that own storage, index is node.slot
	inputs  []*node
	outputs []*node
	arena   []byte
	late    Late
	need    int
	pool    *kernel.Pool
}

// Check lists the obstacles in a function without looking at weights. An empty
// list means that [Compile] accepts it, its weights permitting.
func Check(p *mil.Program, function string) []Obstacle {
	b := newBuilder(nil, Options{})
	b.function(p, function)
	return b.obstacles
}

// Compile checks a function and prepares its evaluation. weights may be nil for
// a program without a weight file. The weights' bytes must stay valid as long
// as the plan is used.
func Compile(p *mil.Program, function string, weights mil.Weights, o Options) (*Plan, error) {
	if !littleEndian() {
		return nil, fmt.Errorf("evaluating needs a little-endian host")
	}
	b := newBuilder(weights, o)
	b.resolve = true
	b.function(p, function)
	if len(b.obstacles) > 0 {
		return nil, &Unsupported{b.obstacles}
	}
	return b.finish(o)
}

// MemoryNeed is the size in bytes of all values in between, weights excluded.
func (p *Plan) MemoryNeed() int { return p.need }

// Run evaluates the function. Every input must be given, with exactly the
// program's type and shape. The outputs' bytes belong to the caller. When ctx is done, Run ends with
// its error before the next operation.
func (p *Plan) Run(ctx context.Context, inputs map[string]mil.Tensor) (map[string]mil.Tensor, error) {
	return p.run(ctx, inputs, nil)
}

// Traced is a computed value as [Plan.Trace] shows it.
type Traced struct {
	Op, Name string
	Line     int
	// Tensor's bytes are valid during the call only.
	mil.Tensor
}

// Trace is Run with see called for every computed value, in order. The plan must have been made with
// KeepAll, so that no operation was fused away.
func (p *Plan) Trace(ctx context.Context, inputs map[string]mil.Tensor, see func(Traced)) (map[string]mil.Tensor, error) {
	return p.run(ctx, inputs, see)
}

func (p *Plan) run(ctx context.Context, inputs map[string]mil.Tensor, see func(Traced)) (map[string]mil.Tensor, error) {
	f := &frame{buf: make([][]byte, len(p.nodes)), pool: p.pool, late: p.late}
	for _, n := range p.inputs {
		t, ok := inputs[n.name]
		if !ok {
			return nil, fmt.Errorf("input %q is missing; given are %q", n.name, slices.Sorted(maps.Keys(inputs)))
		}
		if err := n.accept(t); err != nil {
			return nil, err
		}
		f.buf[n.slot] = aligned(t.Data, n.dtype)
	}
	if len(inputs) != len(p.inputs) {
		return nil, fmt.Errorf("expected %d input(s), found %d", len(p.inputs), len(inputs))
	}
	if p.arena == nil {
		p.arena = allocate(p.need)
	}
	for _, n := range p.nodes {
		switch {
		case n.constant != nil:
			f.buf[n.slot] = n.constant
		case n.at >= 0:
			f.buf[n.slot] = p.arena[n.at : n.at+n.bytes]
		}
	}
	defer p.pool.Start()()
	for _, s := range p.steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := f.load(s, see != nil); err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", s.line, s.op, err)
		}
		s.run(f)
		if f.err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", s.line, s.op, f.err)
		}
		if see != nil {
			for _, o := range s.outs {
				see(Traced{s.op, o.name, s.line, f.tensor(o)})
			}
		}
		f.release(s)
	}
	out := map[string]mil.Tensor{}
	for i, n := range p.outputs {
		if err := f.read(n.root); err != nil {
			return nil, err
		}
		t := f.tensor(n)
		t.Data, t.Shape = append([]byte(nil), t.Data...), p.Outputs[i].Shape
		out[p.Outputs[i].Name] = t
	}
	return out, nil
}
