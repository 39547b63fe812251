package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/policy"
	pages "github.com/coreml-gate/rules_coreml_gate/tools/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/runner"
)

func newReportCmd() *cobra.Command {
	var (
		format, out, key, reference, parity string
		files                               []string
	)
	cmd := &cobra.Command{
		Use:   "report RECEIPT",
		Short: "Turn a receipt into a page, JUnit XML or a short text",
		Long: `Turn a receipt, signed or not, into one self-contained HTML page, JUnit XML or a short text.
Evidence and observations of its runs, given with --file, are shown where they belong; a file that the
receipt does not name is refused.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := reportData(cmd, args[0], key)
			if err != nil {
				return err
			}
			if err := addFiles(d, files, reference, parity); err != nil {
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
	return cmd
}

// reportData reads the receipt and checks its signature where a key was given.
func reportData(cmd *cobra.Command, path, keyFile string) (*pages.Data, error) {
	s, err := readReceipt(cmd.InOrStdin(), path)
	if err != nil {
		return nil, err
	}
	d, err := pages.New(s)
	if err != nil {
		return nil, err
	}
	d.Machine, d.Explain = runner.MachineID(), definition
	if keyFile == "" {
		return d, nil
	}
	key, err := envelope.ReadPublicKey(keyFile)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	e, err := envelope.Parse(data)
	if err != nil {
		return nil, err
	}
	if _, _, err := e.Open(cmd.Context(), key); err != nil {
		return nil, err
	}
	d.Signature = "valid, by key " + key.ID()[:16] + "…"
	return d, nil
}

func addFiles(d *pages.Data, files []string, reference, parity string) error {
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, err := d.Add(data); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if reference != "" {
		text, err := os.ReadFile(reference)
		if err != nil {
			return err
		}
		d.Reference = string(text)
	}
	if parity == "" {
		return nil
	}
	data, err := os.ReadFile(parity)
	if err != nil {
		return err
	}
	if d.Parity, err = pages.ParseParity(data); err != nil {
		return fmt.Errorf("%s: %w", parity, err)
	}
	if p, err := policy.Frozen(d.Parity.Policy); err == nil {
		d.Parity.Limit = p.Thresholds["snr_db_min"]
	}
	return nil
}

func writeReport(stdout io.Writer, d *pages.Data, format, out string) (err error) {
	w := stdout
	if out != "" {
		f, err := os.Create(out)
		if err != nil {
			return err
		}
		defer func() {
			if cerr := f.Close(); err == nil {
				err = cerr
			}
		}()
		w = f
	}
	switch format {
	case "html":
		return pages.HTML(w, d)
	case "junit":
		return pages.JUnit(w, d)
	case "text":
		return pages.Text(w, d)
	}
	return fmt.Errorf("--format %s: expected html, junit or text", format)
}
