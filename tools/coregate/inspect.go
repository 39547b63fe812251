package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/artifact"
)

func newInspectCmd() *cobra.Command {
	var o artifact.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect MODEL.bin ENCODER | inspect MODEL.bin | inspect ENCODER | inspect FOLDER",
		Short: "Judge a model and its Core ML encoder before anything runs",
		Long: `Judge a ggml-*.bin and the encoder that ships with it, from their bytes: where the runtime looks,
what is in the folder, names, types and shapes against the .bin's header, and whether the weights are
the .bin's own. The first line says whether the pair may be shipped.

Without ENCODER the one that the runtime would open is taken. An encoder alone can fail but not pass.
A folder is searched for pairs.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Frugal = true
			reports, err := inspect(args, o)
			if err != nil {
				return err
			}
			if asJSON {
				return inspectJSON(cmd.OutOrStdout(), reports)
			}
			return inspectTable(cmd.OutOrStdout(), reports)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&o.ContentsOnly, "contents-only", false, "leave out names and places, and judge an .mlpackage as what it will be compiled to")
	cmd.Flags().StringVar(&o.MinimumMacOS, "minimum-macos", "", "the oldest macOS that must read the encoder, such as 13.0")
	return cmd
}

func inspect(args []string, o artifact.Options) ([]*artifact.Report, error) {
	if len(args) == 2 {
		return one(artifact.Inspect(args[0], args[1], o))
	}
	info, err := os.Stat(args[0])
	isDir := err == nil && info.IsDir()
	switch {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, err
	case artifact.IsArtifact(args[0]):
		return one(artifact.Inspect("", args[0], o))
	case isDir:
		return artifact.InspectFolder(args[0], o)
	}
	return one(artifact.Inspect(args[0], "", o))
}

func one(r *artifact.Report, err error) ([]*artifact.Report, error) {
	return []*artifact.Report{r}, err
}

// inspectJSON prints one object. For one pair the facts are the pair's; for a
// folder they are a list under "pairs".
func inspectJSON(w io.Writer, reports []*artifact.Report) error {
	out := report{Findings: verdict.New()}
	var facts []map[string]any
	for _, r := range reports {
		out.AddAll(r.Reasons)
		out.AddAll(r.Notes)
		facts = append(facts, map[string]any{
			"verdict": r.Verdict, "shippable": r.Shippable, "model": r.Model, "encoder": r.Encoder, "pairing": r.Pairing, "derived": r.Derived,
		})
	}
	out.Facts = map[string]any{"pairs": facts}
	if len(facts) == 1 {
		out.Facts = facts[0]
		delete(out.Facts, "verdict")
	}
	return out.print(w, "inspect", true)
}

func inspectTable(w io.Writer, reports []*artifact.Report) error {
	v := artifact.Overall(reports)
	if len(reports) > 1 {
		n := 0
		for _, r := range reports {
			if r.Shippable {
				n++
			}
		}
		fmt.Fprintf(w, "%s: %d of %d may be shipped\n\n", paintVerdict(w, v, string(v)), n, len(reports))
	}
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(w)
		}
		inspectOne(w, r)
	}
	return exitVerdict(v)
}

func inspectOne(w io.Writer, r *artifact.Report) {
	answer, subject, _ := strings.Cut(headline(r), ":")
	fmt.Fprintf(w, "%s:%s\n", paintVerdict(w, r.Verdict, answer), subject)
	printReasons(w, r.Reasons)
	printReasons(w, r.Notes)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(t, "  %s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	if m := r.Model; m != nil {
		h := m.Header
		row("model", "%s, %d bytes, %s, sha256 %s", m.Path, m.Size, m.FType, m.SHA256)
		row("header", "%d mels, %d frames to %d positions of %d, %d heads, %d layers, %d tokens",
			h["n_mels"], 2*h["n_audio_ctx"], h["n_audio_ctx"], h["n_audio_state"], h["n_audio_head"], h["n_audio_layer"], h["n_vocab"])
	}
	if d := r.Derived; d != nil {
		row("runtime opens", "%s%s", d.Path, map[bool]string{true: "", false: " (nothing is there)"}[d.Exists])
		if d.Surprise != "" {
			row("", "%s", d.Surprise)
		}
	}
	encoderRows(row, r.Encoder)
	if p := r.Pairing; p != nil {
		row("weights", "%d of the .bin's %d encoder tensors match (%s), %d differ, %d absent, %d read by nothing", p.Matched, p.Tensors, p.Rule, len(p.Differing), len(p.Absent), len(p.Unused))
		if len(p.Places) > 0 {
			row("places", "%d operations of the model found in the program", len(p.Places))
		}
	}
	t.Flush()
}

func encoderRows(row func(name, format string, args ...any), e *artifact.Encoder) {
	if e == nil {
		return
	}
	row("encoder", "%s, %s %s, %d files, %d bytes", e.Path, e.Kind, e.Form, e.Files, e.Bytes)
	if e.Digest != "" {
		row("digest", "%s", e.Digest)
	}
	switch {
	case e.MinimumMacOS != "":
		row("specification", "version %d, macOS %s or newer", e.SpecificationVersion, e.MinimumMacOS)
	case e.SpecificationVersion != 0:
		row("specification", "version %d, of no known macOS", e.SpecificationVersion)
	default:
		row("specification", "not read")
	}
	if e.Program != "" {
		row("program", "%s, %s, %d operations", e.Program, e.Opset, e.Operations)
	}
	for _, f := range e.Inputs {
		row("input", "%s", f)
	}
	for _, f := range e.Outputs {
		row("output", "%s", f)
	}
	if p := e.Precision; p != nil {
		row("precision", "%s (weights %s, compute %s)", p.Class, p.Weights, p.Compute)
		for _, s := range p.Compression {
			row("compression", "%s: %d tensors, %d values", s, s.Tensors, s.Values)
		}
	}
	row("producer", "%s", e.Producer)
}

func headline(r *artifact.Report) string {
	var names []string
	if r.Model != nil {
		names = append(names, filepath.Base(r.Model.Path))
	}
	if r.Encoder != nil {
		names = append(names, filepath.Base(r.Encoder.Path))
	}
	if len(names) == 0 {
		for _, path := range r.Given {
			names = append(names, filepath.Base(path))
		}
	}
	subject := strings.Join(names, " with ")
	switch {
	case r.Shippable:
		return "may be shipped: " + subject
	case r.Verdict == reason.Pass:
		return "pass, contents only; names and places were not judged: " + subject
	case r.Verdict == reason.Failed:
		return "may not be shipped: " + subject
	}
	return "not known whether it may be shipped: " + subject
}
