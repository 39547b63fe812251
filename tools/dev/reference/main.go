// Command reference measures one evaluation of the float64 reference on one thread, in each way that this processor has: by single values,
// and in registers of 256 and of 512 bits:
//
//	go run ./tools/dev/reference [--sizes tiny,base] [--rounds 3] [--report FILE.json]
//
// The models are made, of published sizes. Times are those of the process's processors, so that neighbours cost little; the fastest round
// of each way counts. Every way has to give the same bytes.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/processor"
	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/reference"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("reference", flag.ContinueOnError)
	sizes := flags.String("sizes", "tiny,base", "published sizes of the made models")
	rounds := flags.Int("rounds", 3, "how often everything is measured; the fastest round counts")
	path := flags.String("report", "", "`file` for the table as a stored report")
	if err := flags.Parse(args); err != nil {
		return err
	}
	w, err := report.Begin(*path, "reference", report.Command("go run ./tools/dev/reference", args, "report"), out)
	if err != nil {
		return err
	}
	ways := reference.Ways()
	if err := w.Begin("evaluation", columns(ways)...); err != nil {
		return err
	}
	for _, size := range strings.Split(*sizes, ",") {
		o, err := sizeOf(size)
		if err != nil {
			return err
		}
		times, err := measure(ctx, o, ways, max(1, *rounds))
		if err != nil {
			return fmt.Errorf("%s: %w", size, err)
		}
		if err := w.Row(cells(size, times)...); err != nil {
			return err
		}
	}
	return w.End("one thread, by the processors' time of the process; made weights; the fastest round of each")
}

// sizeOf is what a published size is; a test answers for it.
var sizeOf = synthetic.Size

// columns are the model, the seconds of each way, and what the widest way gains.
func columns(ways []reference.Way) []report.Column {
	out := []report.Column{{Name: "model", Kind: report.Text}}
	for _, w := range ways {
		out = append(out, report.Column{Name: w.Name, Kind: report.Number, Unit: "s", Decimals: 2})
	}
	return append(out, report.Column{Name: "first, times the last", Kind: report.Number, Decimals: 1})
}

func cells(size string, times []time.Duration) []report.Cell {
	out := []report.Cell{report.T(size)}
	for _, d := range times {
		out = append(out, report.N(d.Seconds()))
	}
	return append(out, report.N(times[0].Seconds()/times[len(times)-1].Seconds()))
}

// measure gives the processor time of one evaluation in each way.
func measure(ctx context.Context, o synthetic.Options, ways []reference.Way, rounds int) ([]time.Duration, error) {
	var b bytes.Buffer
	if err := synthetic.Write(&b, o); err != nil {
		return nil, err
	}
	m, err := ggml.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		return nil, err
	}
	e, err := reference.New(m)
	if err != nil {
		return nil, err
	}
	e.Threads = 1
	h := m.Hyperparameters
	mel := make([]float32, h.Mels*h.MelFrames())
	for i := range mel {
		mel[i] = float32(math.Sin(float64(i)*0.37)) * 0.8
	}
	best := make([]time.Duration, len(ways))
	var first []float64
	for range rounds {
		for i, w := range ways {
			output, took, err := once(ctx, e, w, mel)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.Name, err)
			}
			if first == nil {
				first = output
			}
			if !slices.EqualFunc(first, output, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
				return nil, fmt.Errorf("%s: expected the bytes of %s, found others", w.Name, ways[0].Name)
			}
			if best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return best, nil
}

func once(ctx context.Context, e *reference.Encoder, w reference.Way, mel []float32) (output []float64, took time.Duration, err error) {
	before, err := w.Use()
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if _, back := before.Use(); err == nil {
			err = back
		}
	}()
	runtime.GC() // of the evaluation before
	at := processor.Time()
	output, err = e.Encode(ctx, mel)
	return output, processor.Time() - at, err
}
