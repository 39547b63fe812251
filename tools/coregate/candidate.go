package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/third_party/whisper_cpp/pins"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/ab"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/binary"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/candidate"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/candidate/trial"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

// candidateFlags are what `pin candidate` is told.
type candidateFlags struct {
	source, commit, manifest string
	evidence                 []string
	build                    bool
	workspace, bazel         string
	control                  ab.Config
	asJSON                   bool
}

func newPinCandidateCmd() *cobra.Command {
	var f candidateFlags
	cmd := &cobra.Command{
		Use:   "candidate --source DIR [--commit ID]",
		Short: "Say what a proposed upstream revision means for the patch",
		Long: `Say what a proposed upstream revision means for the compatibility patch, and whether it could be a pin.

From the source: is the batch initialised, which early returns are unsafe, does the patch apply, is the
contract (markers, exit codes, encoder name, tensors, flags) still there. With an unpatched whisper-cli of the
candidate, the negative control is repeated --n times under each heap setting. With evidence of runs of the candidate
(coregate run), those are judged. --build makes all of these with Bazel, from the candidate as upstream has it; a
candidate that does not build by the supported pin's list of files is not run, and the answer says so. The answer lists the four conditions under which the patch may go, each met,
not met or not run. A run on the emulated lane meets a condition "emulated only", which never deletes.

The verdict is about the candidate as a pin: fail if it breaks the contract, or needs the patch and does not
take it exactly. The decision about the patch is beside it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	cmd.Flags().StringVar(&f.source, "source", "", "clone or unpacked archive of whisper.cpp")
	cmd.Flags().StringVar(&f.commit, "commit", "", "commit of the clone (default: HEAD); its work tree is not looked at")
	cmd.Flags().StringVar(&f.manifest, "manifest", "", "where to write the candidate's content manifest")
	cmd.Flags().StringVar(&f.control.Unpatched, "unpatched", "", "unpatched whisper-cli of the candidate, built with Core ML and without fallback")
	cmd.Flags().StringVar(&f.control.Model, "model", "", "a ggml model for the control")
	cmd.Flags().StringVar(&f.control.Audio, "audio", "", "an audio file for the control")
	cmd.Flags().IntVar(&f.control.N, "n", 100, "runs of the control under each heap setting")
	cmd.Flags().StringArrayVar(&f.evidence, "evidence", nil, "evidence.json of a run of the candidate; may be repeated")
	cmd.Flags().BoolVar(&f.build, "build", false, "build and run the candidate with Bazel: the control, a hundred times under each heap setting, and both positive paths")
	cmd.Flags().StringVar(&f.workspace, "workspace", ".", "with --build: a checkout of this project")
	cmd.Flags().StringVar(&f.bazel, "bazel", "bazel", "with --build: the Bazel to run")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
	mustHave(cmd, "source")
	cmd.MarkFlagsRequiredTogether("unpatched", "model", "audio")
	cmd.MarkFlagsMutuallyExclusive("build", "unpatched")
	cmd.MarkFlagsMutuallyExclusive("build", "evidence")
	return cmd
}

func (f *candidateFlags) run(cmd *cobra.Command) error {
	if f.control.Unpatched != "" {
		wrong, err := refusePrograms(f.control.Unpatched)
		if err != nil {
			return err
		}
		if len(wrong) > 0 {
			return printRefused(cmd.OutOrStdout(), "candidate", wrong, f.asJSON)
		}
	}
	q, err := f.question(cmd)
	if err != nil {
		return err
	}
	a, err := candidate.Ask(cmd.Context(), q)
	if err != nil {
		return err
	}
	if f.manifest != "" {
		if err := os.WriteFile(f.manifest, a.Manifest.Format(), 0o644); err != nil {
			return fmt.Errorf("write manifest: %w", err)
		}
	}
	r := report{Findings: a.Findings}
	title := "candidate " + shorten(q.Commit)
	if f.asJSON {
		r.Facts = map[string]any{
			"commit": q.Commit, "decision": a.Decision, "conditions": a.Conditions, "batch": a.Batch, "patch": a.Patch, "contract": a.Contract,
			"manifest_sha256": a.ManifestSHA256, "missing": a.Missing, "places": a.Places, "control": a.Control,
		}
		return r.print(cmd.OutOrStdout(), title, true)
	}
	printCandidate(cmd.OutOrStdout(), a)
	r.Facts = map[string]any{"manifest_sha256": a.ManifestSHA256}
	return r.print(cmd.OutOrStdout(), title, false)
}

func (f *candidateFlags) question(cmd *cobra.Command) (candidate.Question, error) {
	var q candidate.Question
	for i, name := range pins.Names() {
		e, err := pins.Load(name)
		if err != nil {
			return q, err
		}
		q.Pins = append(q.Pins, e.Pin)
		if i == 0 {
			q.Supported, q.SupportedManifest, q.Patch = e.Pin, e.Manifest, e.Patch
		}
	}
	var err error
	if q.Source, q.Commit, err = openCandidate(f.source, f.commit); err != nil {
		return q, err
	}
	if f.control.Unpatched != "" {
		f.control.Progress = counting(cmd.ErrOrStderr(), "runs of the control")
		q.Control = &f.control
		id, err := binary.Inspect(f.control.Unpatched)
		q.Emulated = err != nil || !id.LinksCoreML()
	}
	if f.build {
		if err := f.runTrial(cmd, &q); err != nil {
			return q, err
		}
	}
	for _, path := range f.evidence {
		e, _, err := evidence.ReadFile(path)
		if err != nil {
			return q, err
		}
		q.Runs = append(q.Runs, candidate.Run{
			Commit: e.Pin.Commit, CoreML: e.Kind == evidence.KindCoreML, Contrast: e.Kind == evidence.KindContrast,
			Physical: e.Lane == evidence.LanePhysical, Verdict: judge.Judge(judge.FromEvidence(e)).Verdict,
		})
	}
	return q, nil
}

// runTrial builds and runs the candidate.
func (f *candidateFlags) runTrial(cmd *cobra.Command, q *candidate.Question) error {
	if q.Commit == "" {
		return errors.New("--build: expected a clone, so that what is built has a commit; found a folder")
	}
	result, err := trial.Run(cmd.Context(), trial.Config{
		Source: q.Source, Commit: q.Commit, Supported: q.Supported, SupportedManifest: q.SupportedManifest,
		Workspace: f.workspace, Bazel: f.bazel, Log: cmd.ErrOrStderr(),
	})
	var not *trial.NotBuilt
	switch {
	case errors.As(err, &not):
		q.NotBuilt = not.Why
		return nil
	case err != nil:
		return err
	}
	q.ControlRows, f.evidence = result.Control, result.Evidence
	for _, path := range result.Evidence {
		e, _, err := evidence.ReadFile(path)
		if err != nil {
			return err
		}
		q.Emulated = q.Emulated || e.Lane != evidence.LanePhysical
	}
	return nil
}

// openCandidate opens a clone at a commit, or a folder for what it holds; the commit is full, or empty for a folder.
func openCandidate(dir, commit string) (pin.Source, string, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("--source: expected a clone or an unpacked archive of whisper.cpp: %w", err)
	case !info.IsDir():
		return nil, "", fmt.Errorf("--source: expected a clone or an unpacked archive of whisper.cpp, found the file %s: unpack it and name the folder", dir)
	case !pin.IsClone(dir) && commit != "":
		return nil, "", fmt.Errorf("--commit %s: %s is not a git repository (no .git at its top, and no bare one), so nothing shows which commit it is: name a clone, or leave --commit out", commit, dir)
	case !pin.IsClone(dir):
		return pin.Dir(dir), "", nil
	}
	if commit == "" {
		commit = "HEAD"
	}
	if commit, err = pin.Resolve(dir, commit); err != nil {
		return nil, "", err
	}
	src, err := pin.OpenClone(dir, commit)
	return src, commit, err
}

func shorten(commit string) string {
	if commit == "" {
		return "of an unknown commit"
	}
	return commit[:min(12, len(commit))]
}

func printCandidate(w io.Writer, a *candidate.Answer) {
	fmt.Fprintf(w, "patch: %s\n", a.Decision)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, c := range a.Conditions {
		fmt.Fprintf(t, "  %d\t%s\t%s\t%s\n", i+1, c.State, c.Name, c.Evidence)
	}
	t.Flush()
	kept := 0
	for _, c := range a.Contract {
		if c.Kept {
			kept++
		}
	}
	fmt.Fprintf(w, "  applies: %s; contract: %d of %d clauses kept; files: %d, %d missing\n", a.Patch, kept, len(a.Contract), len(a.Manifest), len(a.Missing))
}
