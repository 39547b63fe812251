// Command share measures which share of the processor's own multiply-add peak the evaluator's kernels reach, at the shapes of a
// published size, on one thread:
//
//	go run ./tools/dev/share [--size base] [--rounds 5] [--report FILE.json]
//	go run ./tools/dev/share --serve PART [--size base] [--threads N]
//
// The second form is a side of the peer encode-parts: it writes "ready", and for each line read carries out the part once and
// writes the nanoseconds that it took.
//
// The peak is that of a loop of independent fused multiply-adds in the widest registers that the evaluator uses, measured in the
// same rounds; times are those of the thread's processor, so that neighbours cost little.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/processor"
	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "share:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("share", flag.ContinueOnError)
	size := flags.String("size", "base", "published size whose shapes are taken")
	path := flags.String("report", "", "file for the tables as a stored report")
	one := flags.String("serve", "", "part to carry out once for each line of standard input")
	threads := flags.Int("threads", 1, "threads of --serve")
	rounds := flags.Int("rounds", 5, "how often everything is measured; the fastest round counts")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o, err := synthetic.Size(*size)
	if err != nil {
		return err
	}
	if *one != "" {
		return serve(*one, layer(o.Hyperparameters(), *threads), in, out)
	}
	if runtime.GOARCH != "amd64" || !processor.Has("avx2") || !processor.Has("fma") {
		return fmt.Errorf("expected a processor with AVX2 and FMA, for which the loop of the peak is written")
	}
	w, err := report.Begin(*path, "share", report.Command("go run ./tools/dev/share", args, "report"), out)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	parts := layer(o.Hyperparameters(), 1)
	best, peaks := make([]time.Duration, len(parts)), widths()
	for range max(1, *rounds) {
		for i := range peaks {
			peaks[i].measure()
		}
		for i, p := range parts {
			if d := timed(p.run); best[i] == 0 || d < best[i] {
				best[i] = d
			}
		}
	}
	number := func(name, unit string, decimals int) report.Column {
		return report.Column{Name: name, Kind: report.Number, Unit: unit, Decimals: decimals}
	}
	if err := w.Begin("parts", report.Column{Name: "part of " + *size, Kind: report.Text}, number("work", "GFLOP", 2), number("processor time", "ms", 1), number("rate", "GFLOP/s", 1), number("share of the peak", "", 2)); err != nil {
		return err
	}
	peak := peaks[len(peaks)-1].rate
	for i, p := range parts {
		rate := p.flops / best[i].Seconds() / 1e9
		if err := w.Row(report.T(p.name), report.N(p.flops/1e9), report.N(best[i].Seconds()*1e3), report.N(rate), report.N(rate/peak)); err != nil {
			return err
		}
	}
	if err := w.Begin("peak", report.Column{Name: "registers of " + kernel.Path(), Kind: report.Text}, number("peak of one thread", "GFLOP/s", 1)); err != nil {
		return err
	}
	for _, p := range peaks {
		if err := w.Row(report.T(p.name), report.N(p.rate)); err != nil {
			return err
		}
	}
	return w.End("one thread, by the time of its processor; the fastest round of each")
}

// serve carries out one part for each line of in.
func serve(name string, parts []part, in io.Reader, out io.Writer) error {
	i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
	if i < 0 {
		var have []string
		for _, p := range parts {
			have = append(have, p.name)
		}
		return fmt.Errorf("part %q: expected one of %q", name, have)
	}
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		start := time.Now()
		parts[i].run()
		if _, err := fmt.Fprintln(out, time.Since(start).Nanoseconds()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// timed is the processor time of this thread that a call takes: the mean of as many calls as fill 50 ms.
func timed(do func()) time.Duration {
	before := threadTime()
	for n := time.Duration(1); ; n++ {
		do()
		if d := threadTime() - before; d >= 50*time.Millisecond {
			return d / n
		}
	}
}

// width is one kind of register, and the highest rate that its loop of multiply-adds reached.
type width struct {
	name string
	flop float64 // of one call
	run  func()
	rate float64 // in GFLOP/s
}

// widths lists those that the evaluator uses here, the widest last.
func widths() []width {
	const n = 1_000_000
	out := []width{{name: "256 bits", flop: n * 12 * 8 * 2, run: func() { fused(n) }}}
	if processor.Has("avx512f") {
		out = append(out, width{name: "512 bits", flop: n * 24 * 16 * 2, run: func() { fusedWide(n) }})
	}
	return out
}

func (w *width) measure() { w.rate = max(w.rate, w.flop/timed(w.run).Seconds()/1e9) }

// part is one kind of work of an encoder.
type part struct {
	name  string
	flops float64
	run   func()
}

// layer is the convolutions and one layer's work.
func layer(h ggml.Hyperparameters, threads int) []part {
	pool := kernel.NewPool(threads)
	pool.Start() // until the process ends, as during an encode
	d, ctx, heads := h.AudioState, h.AudioCtx, h.AudioHead
	size := d / heads
	conv := func(channels, width, stride int) func() {
		return product(pool, d, width/stride, channels*3, kernel.Matrix{F32: ramp(d * channels * 3), Row: channels * 3, Col: 1}, &kernel.Windows{
			F32: ramp(channels * width), Height: 1, Width: width, KernelH: 1, KernelW: 3, StrideH: 1, StrideW: stride,
			DilationH: 1, DilationW: 1, PadLeft: 1, OutH: 1, OutW: width / stride,
		})
	}
	linear := func(ins, outs int) func() {
		return product(pool, ctx, outs, ins, kernel.Matrix{F32: ramp(ctx * ins), Row: ins, Col: 1}, kernel.Matrix{F32: ramp(outs * ins), Row: 1, Col: ins})
	}
	first, second := conv(h.Mels, 2*ctx, 1), conv(d, 2*ctx, 2)
	projection, widen, narrow := linear(d, d), linear(d, 4*d), linear(4*d, d)
	x, c := float64(d), float64(ctx)
	return []part{
		{"convolutions", 2 * c * x * 3 * (2*float64(h.Mels) + x), func() { first(); second() }},
		{"projections", 4 * 2 * c * x * x, func() {
			for range 4 {
				projection()
			}
		}},
		{"MLP, widening", 2 * c * 4 * x * x, widen},
		{"MLP, narrowing", 2 * c * 4 * x * x, narrow},
		{"attention", 2 * 2 * c * c * x, attention(pool, ctx, heads, size)},
	}
}

func product(pool *kernel.Pool, m, n, k int, a kernel.Matrix, b kernel.Source) func() {
	p := &kernel.Product{M: m, N: n, K: k, A: a, B: b, Out: make([]float32, m*n), Stride: n}
	return func() { pool.Multiply(p) }
}

// attention is all heads of a layer, with the softmax between its products.
func attention(pool *kernel.Pool, ctx, heads, size int) func() {
	d := heads * size
	q, k, v, out := ramp(ctx*d), ramp(ctx*d), ramp(ctx*d), make([]float32, ctx*d)
	all := make([]kernel.Attention, heads)
	for i := range all {
		at := i * size
		all[i] = kernel.Attention{
			Rows: ctx, Keys: ctx, Inner: size, Outer: size, Scale: 0.125,
			Q: kernel.Matrix{F32: q[at:], Row: d, Col: 1}, K: kernel.Matrix{F32: k[at:], Row: 1, Col: d}, V: kernel.Matrix{F32: v[at:], Row: d, Col: 1},
			Out: out[at:], OutRow: d, OutCol: 1,
		}
	}
	return func() { pool.Attend(all) }
}

// ramp makes n values in [-1, 1) that repeat only after a long run.
func ramp(n int) []float32 {
	out := make([]float32, n)
	x := uint32(1)
	for i := range out {
		x = x*1664525 + 1013904223
		out[i] = float32(int32(x)) / (1 << 31)
	}
	return out
}
