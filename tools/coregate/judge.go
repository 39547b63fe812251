package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/agreement"
)

// judgeFlags are the inputs of coregate judge: either evidence of runs, or one log.
type judgeFlags struct {
	log, exit, kind, argv    string
	coreml, canary, contrast string
	reference                string
	silent, asJSON           bool
}

func newJudgeCmd() *cobra.Command {
	var f judgeFlags
	cmd := &cobra.Command{
		Use:   "judge [EVIDENCE.json]",
		Short: "Judge the evidence of a run, the three runs of a gate, or the log of a run",
		Long: `Judge one evidence.json by its kind; or with --coreml, --canary and --contrast the three
runs of a gate together; or with --log the log of a run that was made elsewhere.

A log is raw stderr, or a text with the head lines "exit: …" and "argv: …" and the sections
"--- stderr" and "--- stdout". --exit takes an exit code, "signal N", a signal's name or "timeout".`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, args); err != nil {
				return err
			}
			return f.run(cmd.InOrStdin(), cmd.OutOrStdout(), args)
		},
	}
	cmd.Flags().StringVar(&f.log, "log", "", "a log file, or - for standard input")
	cmd.Flags().StringVar(&f.exit, "exit", "", "how the logged run ended")
	cmd.Flags().StringVar(&f.kind, "kind", "", "what the logged run was for: coreml, canary or contrast (coreml if left out)")
	cmd.Flags().StringVar(&f.argv, "argv", "", "arguments of the logged run, as a shell takes them")
	cmd.Flags().StringVar(&f.coreml, "coreml", "", "evidence of the positive run")
	cmd.Flags().StringVar(&f.canary, "canary", "", "evidence of the negative control")
	cmd.Flags().StringVar(&f.contrast, "contrast", "", "evidence of the contrast run")
	cmd.Flags().StringVar(&f.reference, "reference", "", "text file with the reference words, for the three runs together")
	cmd.Flags().BoolVar(&f.silent, "silence", false, "the fixture holds no words, so an empty transcript is right")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return cmd
}

// check refuses flags that the given input makes meaningless: a flag that is not read is a mistake that nobody sees.
func (f judgeFlags) check(cmd *cobra.Command, args []string) error {
	together := f.coreml != "" || f.canary != "" || f.contrast != ""
	var input string
	var unread []string
	switch {
	case f.log != "":
		input, unread = "--log", []string{"reference"}
	case together:
		input, unread = "the evidence of a gate's runs", []string{"exit", "kind", "argv", "silence"}
		if f.reference == "" {
			return fmt.Errorf("--reference is missing: the transcript judgement compares the words of --coreml and --contrast with a text file; name it, or judge each run's evidence by itself")
		}
	case len(args) == 1:
		input, unread = "evidence, which says this itself", []string{"exit", "kind", "argv", "reference"}
	}
	for _, name := range unread {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is not read beside %s: leave it out, or give the input that it belongs to", name, input)
		}
	}
	return nil
}

func (f judgeFlags) run(stdin io.Reader, stdout io.Writer, args []string) error {
	together := f.coreml != "" || f.canary != "" || f.contrast != ""
	switch {
	case f.log != "" && (together || len(args) > 0) || together && len(args) > 0:
		return fmt.Errorf("judge takes a log, or one evidence file, or the runs of a gate: give one of them")
	case f.log != "":
		return f.judgeLog(stdin, stdout)
	case together:
		return f.judgeRuns(stdin, stdout)
	case len(args) == 1:
		return f.judgeOne(stdin, stdout, args[0])
	}
	return fmt.Errorf("judge needs --log FILE, an evidence.json, or --coreml, --canary and --contrast")
}

func (f judgeFlags) judgeLog(stdin io.Reader, stdout io.Writer) error {
	text, err := readInput(stdin, f.log, judge.MaxLog)
	if err != nil {
		return err
	}
	r, err := judge.ParseLog(text)
	if refused, ok := refusal(err); ok {
		return refused.print(stdout, "log", f.asJSON)
	}
	if err != nil {
		return err
	}
	if f.exit != "" {
		if err = r.SetExit(f.exit); err != nil {
			return err
		}
	}
	switch kind := evidence.Kind(f.kind); kind {
	case "":
	case evidence.KindCoreML, evidence.KindCanary, evidence.KindContrast:
		r.Kind = kind
	default:
		return fmt.Errorf("--kind %s: expected coreml, canary or contrast", f.kind)
	}
	r.Argv = append(r.Argv, judge.SplitArguments(f.argv)...)
	r.Words = !f.silent
	j := judge.Judge(r)
	if !r.StdoutKnown {
		j.Facts["words"] = "not judged: the log has no section \"--- stdout\""
	}
	return printJudgement(stdout, j, f.asJSON)
}

func (f judgeFlags) judgeOne(stdin io.Reader, stdout io.Writer, path string) error {
	e, err := readEvidence(stdin, path)
	if err != nil {
		if refused, ok := refusal(err); ok {
			return refused.print(stdout, "evidence", f.asJSON)
		}
		if looksLikeLog(path) {
			err = fmt.Errorf("%w: it is not an evidence.json; judge a log with --log %s", err, path)
		}
		return err
	}
	r := judge.FromEvidence(e)
	r.Words = !f.silent
	return printJudgement(stdout, judge.Judge(r), f.asJSON)
}

// readEvidence reads an evidence.json, or standard input.
func readEvidence(stdin io.Reader, path string) (*evidence.Evidence, error) {
	data, err := readInput(stdin, path, strictjson.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("read evidence: %w", err)
	}
	e, err := evidence.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return e, nil
}

// refusal is the report of an input that was refused by a code, if err is one.
func refusal(err error) (report, bool) {
	var refused *reason.Error
	if !errors.As(err, &refused) {
		return report{}, false
	}
	return report{Findings: verdict.From(refused.Reason), Facts: map[string]any{}}, true
}

// looksLikeLog says whether a file begins otherwise than JSON's objects do.
func looksLikeLog(path string) bool {
	file, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(file, head) // a shorter file is one too
	head = bytes.TrimSpace(head[:n])
	return len(head) > 0 && head[0] != '{'
}

func (f judgeFlags) judgeRuns(stdin io.Reader, stdout io.Writer) error {
	var runs judge.Runs
	for _, side := range []struct {
		path string
		to   **evidence.Evidence
	}{{f.coreml, &runs.CoreML}, {f.canary, &runs.Canary}, {f.contrast, &runs.Contrast}} {
		if side.path == "" {
			continue
		}
		e, err := readEvidence(stdin, side.path)
		if refused, ok := refusal(err); ok {
			return refused.print(stdout, "evidence", f.asJSON)
		}
		if err != nil {
			return err
		}
		*side.to = e
	}
	reference := ""
	if f.reference != "" {
		text, err := readInput(stdin, f.reference, strictjson.MaxBytes)
		if err != nil {
			return err
		}
		reference = string(text)
	}
	p, err := policy.Frozen(agreement.DefaultPolicy)
	if err != nil {
		return err
	}
	judgements, err := agreement.JudgeRuns(runs, reference, p)
	if err != nil {
		return err
	}
	overall := verdict.Overall(judgements)
	if f.asJSON {
		if err := printJSON(stdout, struct {
			report
			Judgements []*verdict.Judgement `json:"judgements"`
		}{summary(judgements, overall), judgements}); err != nil {
			return err
		}
		return exitVerdict(overall)
	}
	for _, j := range judgements {
		_ = printJudgement(stdout, j, false)
	}
	fmt.Fprintf(stdout, "gate: %s\n", paintVerdict(stdout, overall, string(overall)))
	return exitVerdict(overall)
}

// summary is the one object of several judgements: every reason, with the judgement in its place.
func summary(judgements []*verdict.Judgement, overall reason.Verdict) report {
	out := report{verdict.New(), map[string]any{}}
	for _, j := range judgements {
		for _, r := range j.Reasons {
			r.Where = j.Name + ": " + r.Where
			out.AddReason(r)
		}
		out.AddAll(j.Notes)
		out.Facts[j.Name] = string(j.Verdict)
	}
	out.Verdict = overall
	return out
}

func printJudgement(w io.Writer, j *verdict.Judgement, asJSON bool) error {
	return report{j.Findings, j.Facts}.print(w, j.Name, asJSON)
}

// readInput reads a file, or standard input for "-", up to a limit.
func readInput(stdin io.Reader, path string, limit int64) ([]byte, error) {
	if path != "-" {
		file, err := regular.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		stdin = file
	}
	data, err := io.ReadAll(io.LimitReader(stdin, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return data, err
}
