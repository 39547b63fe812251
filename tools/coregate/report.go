package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/wholefile"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
	pages "github.com/coreml-gate/rules_coreml_gate/tools/receipt/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/runner"
)

func newReportCmd() *cobra.Command {
	var (
		format, out, key, reference, parity, plan string
		files                                     []string
	)
	cmd := &cobra.Command{
		Use:   "report RECEIPT",
		Short: "Turn a receipt or a release into a page, JUnit XML or a short text",
		Long: `Turn a receipt, signed or not, into one self-contained HTML page, JUnit XML or a short text.
Evidence and observations of its runs, given with --file, are shown where they belong, as are the reference words
and a measurement of parity and a compute plan; a file that is not of this receipt is refused. Of a release its receipts are listed.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains([]string{"html", "junit", "text"}, format) {
				return fmt.Errorf("--format %s: expected html, junit or text", format)
			}
			s, signature, err := reported(cmd, args[0], key)
			if refused, ok := newer(err); ok {
				return refused.print(cmd.OutOrStdout(), args[0], false)
			}
			if err != nil {
				return err
			}
			if s.release != nil {
				if len(files) > 0 || reference != "" || parity != "" || plan != "" {
					return fmt.Errorf("files of runs, reference words, parity and a plan are of one gate, and %s is %s: report that gate's own receipt with them", args[0], s)
				}
				r, err := pages.NewRelease(s.release)
				if err != nil {
					return err
				}
				r.Signature = signature
				return writeReport(cmd.OutOrStdout(), r, format, out)
			}
			d, err := pages.New(s.receipt)
			if err != nil {
				return err
			}
			d.Signature, d.Machine, d.Explain = signature, runner.MachineID(), reason.Lookup
			if err := addFiles(d, files, reference, parity, plan); err != nil {
				return err
			}
			return writeReport(cmd.OutOrStdout(), d, format, out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "html", "html, junit or text")
	f.StringVar(&out, "out", "", "where the report goes (standard output if left out)")
	f.StringVar(&key, "key", "", "the signer's public key, to check the signature first")
	f.StringArrayVar(&files, "file", nil, "an evidence.json or observations.json of the receipt's runs; may be repeated")
	f.StringVar(&reference, "reference", "", "the reference words, to show them aligned")
	f.StringVar(&parity, "parity", "", "what coregate parity --json printed, to plot it")
	f.StringVar(&plan, "plan", "", "the record of the compute plan that the placement was judged from, to draw it")
	return cmd
}

// reported reads the receipt or release, checks its signature where a key was given, and says what is known of it.
func reported(cmd *cobra.Command, path, keyFile string) (signable, string, error) {
	data, err := readInput(cmd.InOrStdin(), path, maxSigned)
	if err != nil {
		return signable{}, "", err
	}
	s, err := decodeStatement(path, data)
	if err != nil || keyFile == "" {
		return s, "not looked at", err
	}
	key, err := envelope.ReadPublicKey(keyFile)
	if err != nil {
		return s, "", err
	}
	e, err := envelope.Parse(data)
	if err != nil {
		return s, "", err
	}
	if _, _, err := e.Open(cmd.Context(), key); err != nil {
		return s, "", err
	}
	return s, "valid, by key " + key.ID()[:16] + "…", nil
}

func addFiles(d *pages.Data, files []string, reference, parity, plan string) error {
	add := func(path string, add func(data []byte) error) error {
		if path == "" {
			return nil
		}
		data, err := readInput(nil, path, strictjson.MaxBytes)
		if err != nil {
			return err
		}
		if err := add(data); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	}
	for _, path := range files {
		if err := add(path, func(data []byte) error { _, err := d.Add(data); return err }); err != nil {
			return err
		}
	}
	if err := add(reference, d.AddReference); err != nil {
		return err
	}
	if err := add(plan, d.AddPlacement); err != nil {
		return err
	}
	if err := add(parity, d.AddParity); err != nil {
		return err
	}
	if d.Parity == nil {
		return nil
	}
	if p, err := policy.Frozen(d.Parity.Policy); err == nil {
		d.Parity.Limit = p.Thresholds["snr_db_min"]
	}
	return nil
}

// reportable is what a report can be made of.
type reportable interface {
	HTML(io.Writer) error
	JUnit(io.Writer) error
	Text(io.Writer) error
}

// writeReport makes the whole report before it opens anything: what stands at out is the old report or the
// new one, never half of one.
func writeReport(stdout io.Writer, of reportable, format, out string) error {
	var b bytes.Buffer
	if err := map[string]func(io.Writer) error{"html": of.HTML, "junit": of.JUnit, "text": of.Text}[format](&b); err != nil {
		return err
	}
	if out == "" {
		_, err := stdout.Write(b.Bytes())
		return err
	}
	return wholefile.Bytes(out, b.Bytes())
}
