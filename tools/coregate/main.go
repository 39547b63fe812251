// Command coregate proves, from a run, which encoder a whisper.cpp build executed.
//
// Every subcommand that judges exits 0 (pass), 1 (fail), 2 (could not judge: usage, input, output) or
// 3 (inconclusive), prints a short table for people, and with --json one object: verdict, reasons
// (each code, expected, found, where), notes and facts.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// What does not look at the context ends with the second signal.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// commands are the constructors of all subcommands, in the order of help. A file that adds one adds a
// line here.
var commands = []func() *cobra.Command{
	newRunCmd,
	newJudgeCmd,
	newInspectCmd,
	newDeriveCmd,
	newSignCmd,
	newVerifyCmd,
	newDiffCmd,
	newReportCmd,
	newAuditCmd,
	newParityCmd,
	newPredictCmd,
	newTranscriptsCmd,
	newMelCmd,
	newMilCmd,
	newBinaryCmd,
	newPinCmd,
	newPatchCmd,
	newABCmd,
	newSanitizeCmd,
	newBenchCmd,
	newFitCmd,
	newExplainCmd,
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

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "coregate",
		Short:         "Prove which encoder a whisper.cpp build ran",
		SilenceUsage:  true,
		SilenceErrors: true,

		PersistentPreRunE: given,
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	out := &output{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	for _, make := range commands {
		root.AddCommand(make())
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil && out.failed != nil {
		err = fmt.Errorf("write output: %w", out.failed)
	}
	var v verdictError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &v):
		return v.verdict.ExitCode()
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("stopped by a signal: %w", err)
	}
	fmt.Fprintf(stderr, "coregate: %s\n", reason.Visible(err.Error()))
	// Whoever reads objects gets one here too.
	if asJSON, flagErr := cmd.Flags().GetBool("json"); flagErr == nil && asJSON {
		failed := reason.Reason{Code: reason.NotJudged, Where: cmd.CommandPath(), Expected: "usable arguments, input and output", Found: err.Error()}
		// An input that was refused for a known cause, such as a key, keeps its code.
		var known *reason.Error
		if errors.As(err, &known) {
			failed = known.Reason
		}
		if err := printJSON(stdout, report{verdict.Findings{Verdict: "error", Reasons: []reason.Reason{failed}, Notes: []reason.Reason{}}, map[string]any{}}); err != nil {
			fmt.Fprintf(stderr, "coregate: %s\n", reason.Visible(err.Error()))
		}
	}
	return 2
}

// output remembers that a write failed: a table is printed without looking, and a pass that nobody could
// read is none.
type output struct {
	io.Writer
	failed error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return n, err
}
