// Command forms measures what the form of an encoder's weights costs the evaluator: loading, the first encode and later ones, of
// encoders of a made model of a published size in float32, float16 and four compressed forms, on one thread:
//
//	go run ./tools/dev/forms [--sizes tiny,base] [--rounds 5] [--report FILE.json]
//
// Times are those of the process's processors, so that neighbours cost little; the fastest round counts, and of the comparison with
// float32 the median of all rounds. Every form is made by the same model's weights, and its output is compared with float32's, so that what is timed is right.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/processor"
	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggmlsource"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/evaluation"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "forms:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("forms", flag.ContinueOnError)
	sizes := flags.String("sizes", "tiny,base", "published sizes of the made models")
	rounds := flags.Int("rounds", 5, "how often everything is measured")
	path := flags.String("report", "", "`file` for the table as a stored report")
	if err := flags.Parse(args); err != nil {
		return err
	}
	w, err := report.Begin(*path, "forms", report.Command("go run ./tools/dev/forms", args, "report"), out)
	if err != nil {
		return err
	}
	number := func(name, unit string, decimals int) report.Column {
		return report.Column{Name: name, Kind: report.Number, Unit: unit, Decimals: decimals}
	}
	if err := w.Begin("forms", report.Column{Name: "encoder", Kind: report.Text}, number("weights", "MiB", 1), number("loading", "s", 3), number("first encode", "s", 3), number("later encode", "s", 3),
		number("loading and first, times float32", "", 2), number("later, times float32", "", 2)); err != nil {
		return err
	}
	for _, size := range strings.Split(*sizes, ",") {
		o, err := synthetic.Size(size)
		if err != nil {
			return err
		}
		if err := measureSize(ctx, w, size, o, max(1, *rounds)); err != nil {
			return fmt.Errorf("%s: %w", size, err)
		}
	}
	return w.End("one thread, by the processors' time of the process; made weights; the fastest round of each, and the median round's comparison")
}

// cost is what one form takes, in processor time.
type cost struct{ load, first, later time.Duration }

func measureSize(ctx context.Context, w *report.Writer, size string, o synthetic.Options, rounds int) error {
	dir, err := os.MkdirTemp("", "forms-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var b bytes.Buffer
	if err := synthetic.Write(&b, o); err != nil {
		return err
	}
	m, err := ggml.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		return err
	}
	paths := make([]string, len(forms))
	for i, f := range forms {
		paths[i] = filepath.Join(dir, strings.ReplaceAll(f.name, " ", "-")+"-encoder.mlmodelc")
		if err := f.write(filepath.Join(dir, "e.mlpackage"), paths[i], ggmlsource.Of(m)); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	h := m.Hyperparameters
	mel := make([]float32, h.Mels*h.MelFrames())
	for i := range mel {
		mel[i] = float32(math.Sin(float64(i)*0.37)) * 0.8
	}
	best, all := make([]cost, len(forms)), make([][]cost, len(forms))
	outputs := make([][]byte, len(forms))
	for range rounds {
		for i := range forms {
			c, output, err := once(ctx, paths[i], mel, h)
			if err != nil {
				return fmt.Errorf("%s: %w", forms[i].name, err)
			}
			outputs[i] = output
			all[i] = append(all[i], c)
			least(&best[i].load, c.load)
			least(&best[i].first, c.first)
			least(&best[i].later, c.later)
		}
	}
	for i, f := range forms {
		if db := agreement(outputs[0], outputs[i]); db < f.atLeast {
			return fmt.Errorf("%s: the output is %.1f dB from float32's, expected at least %.1f: it is no encoder of the model", f.name, db, f.atLeast)
		}
		info, err := os.Stat(filepath.Join(paths[i], "weights", "weight.bin"))
		if err != nil {
			return err
		}
		if err := w.Row(report.T(size+", "+f.name), report.N(float64(info.Size())/(1<<20)), report.N(best[i].load.Seconds()), report.N(best[i].first.Seconds()), report.N(best[i].later.Seconds()),
			report.N(times(all[i], all[0], func(c cost) time.Duration { return c.load + c.first })),
			report.N(times(all[i], all[0], func(c cost) time.Duration { return c.later }))); err != nil {
			return err
		}
	}
	return nil
}

// times is the median, over the rounds, of how many times the other's a form's time is: what slows one round slows both.
func times(form, other []cost, of func(cost) time.Duration) float64 {
	ratios := make([]float64, len(form))
	for i := range form {
		ratios[i] = of(form[i]).Seconds() / of(other[i]).Seconds()
	}
	slices.Sort(ratios)
	return (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
}

func least(to *time.Duration, d time.Duration) {
	if *to == 0 || d < *to {
		*to = d
	}
}

// once loads an encoder and encodes twice.
func once(ctx context.Context, path string, mel []float32, h ggml.Hyperparameters) (cost, []byte, error) {
	runtime.GC() // of the form before
	var c cost
	at := processor.Time()
	lap := func(d *time.Duration) { now := processor.Time(); *d, at = now-at, now }
	e, err := evaluation.Load(path, 1)
	if err != nil {
		return c, nil, err
	}
	defer e.Close()
	lap(&c.load)
	if _, err = e.Output(ctx, mel, h.Mels, h.MelFrames()); err != nil {
		return c, nil, err
	}
	lap(&c.first)
	output, err := e.Output(ctx, mel, h.Mels, h.MelFrames())
	lap(&c.later)
	return c, output, err
}

// agreement is the ratio of signal to noise of b against a, in dB.
func agreement(a, b []byte) float64 {
	if len(a) != len(b) {
		return math.Inf(-1)
	}
	var signal, noise float64
	for i := 0; i+4 <= len(a); i += 4 {
		x := float64(math.Float32frombits(binary.LittleEndian.Uint32(a[i:])))
		d := x - float64(math.Float32frombits(binary.LittleEndian.Uint32(b[i:])))
		signal, noise = signal+x*x, noise+d*d
	}
	if noise == 0 {
		return math.Inf(1)
	}
	return 10 * math.Log10(signal/noise)
}

// compile makes what the evaluator loads from a package.
func compile(pkg, dest string) error {
	a, err := bundle.Open(pkg)
	if err != nil {
		return err
	}
	defer a.Close()
	return bundle.Compile(a, dest)
}
