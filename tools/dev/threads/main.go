// Command threads measures what whisper-cli takes with one thread and with two, with the machine as it is and beside a made load of
// as many busy loops as there are processors:
//
//	go run ./tools/dev/threads --cli bazel-bin/third_party/whisper_cpp/whisper-cli --audio jfk.mp3 [--threads 1,2] [--runs 2] [--report FILE.json] MODEL.bin...
//
// Words are decoded greedily and without a fallback, so that each run does the same. Decoding is what whisper-cli says of it itself.
// It exits 1 where a run fails or says nothing of its times.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "threads:", err)
		os.Exit(1)
	}
}

// spinning is the argument by which this program is a busy loop.
const spinning = "--spin"

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 1 && args[0] == spinning {
		for ctx.Err() == nil {
		}
		return nil
	}
	flags := flag.NewFlagSet("threads", flag.ContinueOnError)
	cli := flags.String("cli", "", "whisper-cli, a `program` without Core ML")
	audio := flags.String("audio", "", "the recording, a `file`")
	counts := flags.String("threads", "1,2", "numbers of threads")
	runs := flags.Int("runs", 2, "runs of each")
	path := flags.String("report", "", "`file` for the table as a stored report")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *cli == "" || *audio == "" || flags.NArg() == 0 {
		return fmt.Errorf("--cli, --audio and a model are needed")
	}
	words := []string{"go run ./tools/dev/threads", "--cli", filepath.Base(*cli), "--audio", filepath.Base(*audio), "--threads", *counts, "--runs", strconv.Itoa(*runs)}
	for _, m := range flags.Args() {
		words = append(words, filepath.Base(m))
	}
	w, err := report.Begin(*path, "threads", strings.Join(words, " "), out)
	if err != nil {
		return err
	}
	number := func(name, unit string, decimals int) report.Column {
		return report.Column{Name: name, Kind: report.Number, Unit: unit, Decimals: decimals}
	}
	if err := w.Begin("threads", report.Column{Name: "model", Kind: report.Text}, report.Column{Name: "beside it", Kind: report.Text}, number("threads", "", 0), number("run", "", 0),
		number("time", "s", 1), number("processor time", "s", 1), number("of them decoding", "s", 1)); err != nil {
		return err
	}
	for _, model := range flags.Args() {
		for _, loaded := range []bool{false, true} {
			for _, n := range strings.Split(*counts, ",") {
				for i := range *runs {
					if err := one(ctx, w, *cli, *audio, model, n, i+1, loaded); err != nil {
						return err
					}
				}
			}
		}
	}
	return w.End(fmt.Sprintf("%s without Core ML, greedy, without fallback; the made load is %d busy loops; what else ran is in the state before and after", filepath.Base(*cli), runtime.NumCPU()))
}

func one(ctx context.Context, w *report.Writer, cli, audio, model, threads string, run int, loaded bool) (err error) {
	beside := "as it is"
	if loaded {
		beside = "made load"
		stop, err := load(ctx)
		defer stop()
		if err != nil {
			return err
		}
	}
	var text bytes.Buffer
	c := exec.CommandContext(ctx, cli, "-m", model, "-f", audio, "-t", threads, "-bs", "1", "-bo", "1", "-nf", "-l", "en")
	c.Stdout, c.Stderr = io.Discard, &text
	begin := time.Now()
	if err := c.Run(); err != nil {
		return fmt.Errorf("whisper-cli with %s threads: %w\n%s", threads, err, text.String())
	}
	passed := time.Since(begin)
	decoding, err := decoded(text.String())
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(threads)
	if err != nil {
		return fmt.Errorf("--threads: %w", err)
	}
	processor := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	return w.Row(report.T(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(model), "ggml-"), ".bin")), report.T(beside), report.N(float64(n)), report.N(float64(run)),
		report.N(passed.Seconds()), report.N(processor.Seconds()), report.N(decoding.Seconds()))
}

// load starts a busy loop for every processor, each a process of its own.
func load(ctx context.Context) (stop func(), err error) {
	var all []*exec.Cmd
	stop = func() {
		for _, c := range all {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
	self, err := os.Executable()
	if err != nil {
		return stop, err
	}
	for range runtime.NumCPU() {
		c := exec.CommandContext(ctx, self, spinning)
		if err := c.Start(); err != nil {
			return stop, fmt.Errorf("start a busy loop: %w", err)
		}
		all = append(all, c)
	}
	return stop, nil
}

// decodeLine is what whisper-cli says of decoding, in batches and one by one; the time is that which passed.
var decodeLine = regexp.MustCompile(`whisper_print_timings:\s+(?:decode|batchd) time =\s+([0-9.]+) ms`)

func decoded(log string) (time.Duration, error) {
	found := decodeLine.FindAllStringSubmatch(log, -1)
	if len(found) == 0 {
		return 0, fmt.Errorf("expected whisper-cli's own times, found none in its log: %q", log[max(0, len(log)-300):])
	}
	var sum time.Duration
	for _, m := range found {
		ms, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(ms * float64(time.Millisecond))
	}
	return sum, nil
}
