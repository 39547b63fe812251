// Command scale measures what the product does with models of the published sizes, whose weights are made from a seed:
// each step in a process of its own, its time and its peak memory, and whether the memory stays below the bound that
// docs/performance.md promises. From the repository's root:
//
//	go run ./tools/dev/scale [--sizes tiny,base,large-v3] [--types f16,q5_0] [--precisions float16,float32] [--threads N] [--gate EXECUTION_ROOT] [--report FILE.json]
//
// With --report the tables are stored too, as docs/performance.md shows them (package tools/dev/report). With --gate each pair
// is taken to a receipt by the actions, programs and policies of a gate that was built (receipt.go). It exits 1 when a step fails or needs more memory than promised. A model of large-v3 and what is made of it take 7 GB
// of disk, below --dir.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// plan is what was asked for.
type plan struct {
	sizes, types, precisions []string
	threads                  int
	dir, report, bin, gate   string
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	p, err := parse(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(p.dir, "scale-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	bin := p.bin
	if bin == "" {
		bin = filepath.Join(dir, "bin")
		if err := build(ctx, bin); err != nil {
			return err
		}
	}
	command := report.Command("go run ./tools/dev/scale", args, "report", "dir", "programs", "gate")
	if p.gate != "" {
		command += " --gate EXECUTION_ROOT"
	}
	w, err := report.Begin(p.report, "scale", command, out)
	if err != nil {
		return err
	}
	m := &measurer{ctx: ctx, bin: bin, out: w, threads: p.threads, gate: p.gate}
	if err := m.head(); err != nil {
		return err
	}
	for _, size := range p.sizes {
		for _, typ := range p.types {
			if err := m.model(filepath.Join(dir, size+"-"+typ), size, typ, p.precisions); err != nil {
				return err
			}
		}
	}
	if err := m.growth(); err != nil {
		return err
	}
	if err := w.End(conditions(p)); err != nil {
		return err
	}
	if len(m.over) > 0 {
		return fmt.Errorf("more memory than promised: %s", strings.Join(m.over, "; "))
	}
	return nil
}

// conditions says under what a report was made.
func conditions(p plan) string {
	text := "the weights are made from a seed; peak is the resident set, by the system's own account of the process and those that it ran"
	if p.gate != "" {
		text += "; contract, parity, runs, judgements and receipts by the gate's own actions and programs, hearing 11 s of speech"
	}
	return text
}

func parse(args []string) (plan, error) {
	var p plan
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	list := func(to *[]string, name, value, usage string) {
		*to = strings.Split(value, ",")
		flags.Func(name, usage+" (default "+value+")", func(v string) error {
			*to = strings.Split(v, ",")
			return nil
		})
	}
	list(&p.sizes, "sizes", "tiny,base,small,medium,large-v3", "published sizes")
	list(&p.types, "types", "f16", "types of the .bin's matrices")
	list(&p.precisions, "precisions", "float16", "precisions of the encoder")
	flags.IntVar(&p.threads, "threads", 0, "threads of encode and parity (all processors if 0)")
	flags.StringVar(&p.dir, "dir", "", "`folder` for models and encoders (the system's for temporary files if empty)")
	flags.StringVar(&p.bin, "programs", "", "`folder` with the programs, where they are built already (built if empty)")
	flags.StringVar(&p.gate, "gate", "", "execution `root` in which //gate:receipt was built (bazel info execution_root): each pair is taken to a receipt, too")
	flags.StringVar(&p.report, "report", "", "`file` for the tables as a stored report")
	if err := flags.Parse(args); err != nil {
		return p, err
	}
	if flags.NArg() > 0 {
		return p, fmt.Errorf("unexpected arguments %q", flags.Args())
	}
	// The programs run in the gate's root.
	for _, path := range []*string{&p.dir, &p.bin, &p.gate} {
		if *path == "" {
			continue
		}
		var err error
		if *path, err = filepath.Abs(*path); err != nil {
			return p, err
		}
	}
	return p, nil
}

// programs are what is measured, and what that runs.
var programs = []string{"./tools/coregate", "./tools/actions/gate_encoder", "./tools/actions/gate_small_model", "./tools/actions/gate_inspect", "./tools/actions/gate_parity",
	"./tools/actions/gate_run", "./tools/actions/gate_judge", "./tools/actions/gate_receipt", "./tools/actions/gate_evaluator"}

// build makes the programs that are measured.
func build(ctx context.Context, bin string) error {
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "go", append([]string{"build", "-o", bin}, programs...)...)
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, text)
	}
	return nil
}
