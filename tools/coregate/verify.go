package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/verify"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

func newVerifyCmd() *cobra.Command {
	var (
		d                 verify.Demands
		files             verify.Files
		keyFile, lane, at string
		policies          []string
		asJSON            bool
	)
	cmd := &cobra.Command{
		Use:   "verify --key P.pem SIGNED",
		Short: "Verify a signed receipt, offline",
		Long: `Verify a signed receipt: its signature and form, its verdict, what is demanded of it, and the
files at hand. A signed receipt alone is enough; what could not be checked for want of files
is listed.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if d.Key, err = envelope.ReadPublicKey(keyFile); err != nil {
				return err
			}
			if d.Lane, err = parseLane(lane); err != nil {
				return err
			}
			if d.Policies, err = parsePolicies(policies); err != nil {
				return err
			}
			if cmd.Flags().Changed("max-age") && d.MaxAge <= 0 {
				return fmt.Errorf("--max-age %s: expected more than nothing", d.MaxAge)
			}
			d.Now = time.Now()
			if at != "" {
				if d.Now, err = time.Parse(time.RFC3339, at); err != nil {
					return fmt.Errorf("--at %s: expected RFC 3339, such as 2026-01-02T03:04:05Z", at)
				}
			}
			signed, err := readInput(cmd.InOrStdin(), args[0], maxSigned)
			if err != nil {
				return err
			}
			result, err := verify.Verify(cmd.Context(), signed, d, files)
			if err != nil {
				return err
			}
			return printVerification(cmd.OutOrStdout(), result, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&keyFile, "key", "", "the signer's public key (PEM)")
	f.StringVar(&lane, "lane", "", "demand a lane: physical or emulated")
	f.BoolVar(&d.AllowUnsupportedPin, "allow-unsupported-pin", false, "let a receipt of another pin through")
	f.StringArrayVar(&policies, "policy", nil, "demand a policy: NAME=SHA256; may be repeated")
	f.StringArrayVar(&d.Judgements, "judgement", nil, "demand a judgement by name, e.g. parity; may be repeated")
	f.StringVar(&d.OSBuild, "os-build", "", "demand the build of the operating system, e.g. 24G720")
	f.DurationVar(&d.MaxAge, "max-age", 0, "demand that nothing the signer vouches for is older, e.g. 720h")
	f.StringVar(&at, "at", "", "verify as of this time (RFC 3339), not now")
	f.StringVar(&files.CLI, "cli", "", "whisper-cli at hand")
	f.StringVar(&files.Model, "model", "", "the model at hand")
	f.StringVar(&files.Encoder, "encoder", "", "the encoder at hand, a directory")
	f.StringArrayVar(&files.Others, "file", nil, "a file or directory that the receipt must name; may be repeated")
	f.StringVar(&files.Release, "release", "", "a directory of which the receipt must name every entry")
	f.StringArrayVar(&files.Evidence, "evidence", nil, "an evidence.json to judge again; may be repeated")
	f.StringVar(&files.Reference, "reference", "", "the reference words, to judge the transcript again")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	_ = cmd.MarkFlagRequired("key")
	return cmd
}

func parseLane(text string) (evidence.Lane, error) {
	switch lane := evidence.Lane(text); lane {
	case "", evidence.LanePhysical, evidence.LaneEmulated:
		return lane, nil
	}
	return "", fmt.Errorf("--lane %s: expected physical or emulated", text)
}

var sha256Text = regexp.MustCompile(`^[0-9a-f]{64}$`)

func parsePolicies(list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range list {
		name, sum, ok := strings.Cut(text, "=")
		if !ok || name == "" || !sha256Text.MatchString(sum) {
			return nil, fmt.Errorf("--policy %s: expected NAME=SHA256", text)
		}
		if other, ok := out[name]; ok && other != sum {
			return nil, fmt.Errorf("--policy %s: demanded with %s too", text, other)
		}
		out[name] = sum
	}
	return out, nil
}

func printVerification(w io.Writer, r *verify.Result, asJSON bool) error {
	if asJSON {
		if err := printJSON(w, r); err != nil {
			return err
		}
		return exitVerdict(r.Verdict)
	}
	err := report{r.Findings, r.Facts}.print(w, "verify", false)
	for _, what := range r.Unchecked {
		fmt.Fprintf(w, "  not checked: %s\n", reason.Visible(what))
	}
	return err
}
