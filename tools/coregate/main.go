// Command coregate proves, from a run, which encoder a whisper.cpp build executed.
//
// Every subcommand that judges exits 0 (pass), 1 (fail), 2 (could not judge: usage, input, output) or
// 3 (inconclusive), prints a short table for people, and with --json one object: verdict, reasons
// (each code, expected, found, where), notes and facts. Ctrl-C exits 130.
//
// table.go lists the commands; what all of them share is in root.go (help), suggest.go, terminal.go and this file.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		// A second signal ends the program wherever it is.
		signal.Stop(signals)
		cancel(stopped{s})
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// stopped is why a context ended: a signal.
type stopped struct{ signal os.Signal }

func (s stopped) Error() string {
	if s.signal == syscall.SIGTERM {
		return "stopped by SIGTERM"
	}
	return "stopped by Ctrl-C"
}

// exitCode is what a shell makes of a program that the signal ended.
func (s stopped) exitCode() int {
	if s.signal == syscall.SIGTERM {
		return 128 + int(syscall.SIGTERM)
	}
	return 128 + int(syscall.SIGINT)
}

// verdictError carries a verdict other than pass to the exit code; its command has already reported.
type verdictError struct{ verdict reason.Verdict }

func (e verdictError) Error() string { return "verdict: " + string(e.verdict) }

// exitVerdict returns nil for a pass and otherwise the error that makes the exit code.
func exitVerdict(v reason.Verdict) error {
	if v == reason.Pass {
		return nil
	}
	return verdictError{v}
}

// run is the whole program, and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	screen := &screen{w: stderr}
	out := &output{Writer: stdout, colour: wantsColour(stdout, os.Getenv), screen: screen}
	errs := &output{Writer: stderr, colour: wantsColour(stderr, os.Getenv), screen: screen}
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(errs)
	cmd, err := execute(ctx, root, isTerminal(stderr))
	screen.close()
	if ctx.Err() != nil {
		why := stopped{os.Interrupt}
		errors.As(context.Cause(ctx), &why)
		fail(cmd, why, out, stderr)
		return why.exitCode()
	}
	if err == nil && out.failed != nil {
		err = fmt.Errorf("write output: %w", out.failed)
	}
	var v verdictError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &v):
		return v.verdict.ExitCode()
	case errors.Is(err, errNoCommand):
		return 2
	}
	fail(cmd, err, out, stderr)
	return 2
}

// execute runs the command of the arguments. A command that has nothing to clean up is left where it is when the context
// ends, since most of them read and compute without looking at it.
func execute(ctx context.Context, root *cobra.Command, terminal bool) (*cobra.Command, error) {
	working, done := context.WithCancel(ctx)
	defer done()
	var begun atomic.Pointer[cobra.Command]
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		begun.Store(cmd)
		if err := ctx.Err(); err != nil {
			return err
		}
		if terminal && !entryOf(cmd).talks {
			go root.ErrOrStderr().(*output).screen.progress(working, cmd.CommandPath())
		}
		return given(cmd, args)
	}
	type ended struct {
		cmd *cobra.Command
		err error
	}
	end := make(chan ended, 1)
	go func() {
		cmd, err := root.ExecuteContextC(ctx)
		end <- ended{cmd, err}
	}()
	select {
	case e := <-end:
		return e.cmd, e.err
	case <-ctx.Done():
	}
	// Before a command has begun, its arguments are read, which takes no time.
	cmd := begun.Load()
	if cmd == nil || entryOf(cmd).cleans {
		e := <-end
		return e.cmd, e.err
	}
	return cmd, ctx.Err()
}

// fail says why there is no answer, to people and to whoever reads objects. A command that has written its object adds no second.
func fail(cmd *cobra.Command, err error, stdout *output, stderr io.Writer) {
	fmt.Fprintf(stderr, "coregate: %s\n", reason.Visible(err.Error()))
	if cmd == nil || stdout.begun {
		return
	}
	if asJSON, flagErr := cmd.Flags().GetBool("json"); flagErr != nil || !asJSON {
		return
	}
	failed := reason.Reason{Code: reason.NotJudged, Where: cmd.CommandPath(), Expected: "usable arguments, input and output", Found: err.Error()}
	// An input that was refused for a known cause, such as a key, keeps its code.
	var known *reason.Error
	if errors.As(err, &known) {
		failed = known.Reason
	}
	if err := printJSON(stdout.Writer, report{verdict.Findings{Verdict: "error", Reasons: []reason.Reason{failed}, Notes: []reason.Reason{}}, map[string]any{}}); err != nil {
		fmt.Fprintf(stderr, "coregate: %s\n", reason.Visible(err.Error()))
	}
}
