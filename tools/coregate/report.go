package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/policy"
	pages "github.com/coreml-gate/rules_coreml_gate/tools/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/runner"
	"github.com/coreml-gate/rules_coreml_gate/tools/strictjson"
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
Evidence and observations of its runs, given with --file, are shown where they belong, as are the reference words
and a measurement of parity; a file that is not of this receipt is refused.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if forms[format] == nil {
				return fmt.Errorf("--format %s: expected html, junit or text", format)
			}
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
	given(cmd)
	return cmd
}

// reportData reads the receipt and checks its signature where a key was given.
func reportData(cmd *cobra.Command, path, keyFile string) (*pages.Data, error) {
	data, err := readInput(cmd.InOrStdin(), path, maxSigned)
	if err != nil {
		return nil, err
	}
	s, err := decodeReceipt(path, data)
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

// forms are the reports that can be written.
var forms = map[string]func(io.Writer, *pages.Data) error{"html": pages.HTML, "junit": pages.JUnit, "text": pages.Text}

// writeReport makes the whole report before it opens anything: what stands at out is the old report or the
// new one, never half of one.
func writeReport(stdout io.Writer, d *pages.Data, format, out string) error {
	var b bytes.Buffer
	if err := forms[format](&b, d); err != nil {
		return err
	}
	if out == "" {
		_, err := stdout.Write(b.Bytes())
		return err
	}
	return replaceFile(out, b.Bytes())
}

// replaceFile writes a file beside the one at path and puts it in its place. What is there and no plain file,
// such as /dev/stdout, is written to.
func replaceFile(path string, data []byte) error {
	// A new file is readable as any other would be; the one that it replaces keeps who may read it.
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		if mode = info.Mode().Perm(); !info.Mode().IsRegular() {
			return os.WriteFile(path, data, 0o666)
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err := errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}
