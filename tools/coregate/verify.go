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
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/verify"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// verifyFlags are what is demanded of a receipt and which files are given, as the command line gives them.
type verifyFlags struct {
	demands  verify.Demands
	files    verify.Files
	key      string
	profile  string
	lane     string
	policies []string
	at       string
	json     bool
}

func newVerifyCmd() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify --key P.pem SIGNED",
		Short: "Verify a signed receipt, offline",
		Long: `Verify a signed receipt: its signature and form, its verdict, what is demanded of it, and the
files that are given. The release gate is demanded: contract, markers, canary, contrast, transcript, parity under fp32_v2, and
words where the gate has recordings; --profile demands less. A signed receipt alone is enough; what could not be
checked for want of files is listed, and so is what the release gate would prove beyond the profile.

Of the receipt of this module's own archive, --file ARCHIVE is compared with what it lists.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.parse(cmd); err != nil {
				return err
			}
			signed, err := readInput(cmd.InOrStdin(), args[0], maxSigned)
			if err != nil {
				return err
			}
			result, err := verify.Verify(cmd.Context(), signed, f.demands, f.files)
			if err != nil {
				return err
			}
			return printVerification(cmd.OutOrStdout(), result, f.json)
		},
	}
	f.add(cmd)
	return cmd
}

func (f *verifyFlags) add(cmd *cobra.Command) {
	d, files, flags := &f.demands, &f.files, cmd.Flags()
	flags.StringVar(&f.key, "key", "", "the signer's public key (PEM)")
	flags.StringVar(&f.profile, "profile", string(statement.ProfileRelease), "how much must be proven: release, numbers (parity under any frozen policy), or runs (nothing of the encoder's contents)")
	flags.StringVar(&f.lane, "lane", "", "demand a lane: physical or emulated")
	flags.BoolVar(&d.AllowUnsupportedPin, "allow-unsupported-pin", false, "let a receipt of another pin through")
	flags.StringArrayVar(&f.policies, "policy", nil, "demand a policy: NAME=SHA256; may be repeated")
	flags.StringArrayVar(&d.Judgements, "judgement", nil, "demand a judgement by name, e.g. words; may be repeated")
	flags.StringVar(&d.OSBuild, "os-build", "", "demand the build of the operating system, e.g. 24G720")
	flags.DurationVar(&d.MaxAge, "max-age", 0, "demand that nothing the signer vouches for is older, e.g. 720h")
	flags.StringVar(&f.at, "at", "", "verify as of this time (RFC 3339), not now")
	flags.StringVar(&files.CLI, "cli", "", "the whisper-cli that ships")
	flags.StringVar(&files.Model, "model", "", "the model that ships")
	flags.StringVar(&files.Encoder, "encoder", "", "the encoder that ships, a directory")
	flags.StringArrayVar(&files.Others, "file", nil, "a file or directory that the receipt must name; may be repeated")
	flags.StringVar(&files.Release, "release", "", "a directory that ships: its entries must be what was gated, all of one gate")
	flags.StringArrayVar(&files.Evidence, "evidence", nil, "an evidence.json to judge again; may be repeated")
	flags.StringVar(&files.Reference, "reference", "", "the reference words, to judge the transcript again")
	flags.StringVar(&files.Words, "words", "", "the folder of the runs on recordings, to judge the words again")
	flags.StringVar(&files.Mel, "mel", "", "the mel that parity was computed on, where it is not the built-in one")
	flags.StringVar(&files.Plan, "plan", "", "the record of the compute plan, to judge the placement again")
	flags.StringVar(&files.Recording, "recording", "", "the folder of the recording by Instruments, to judge the placement again")
	flags.BoolVar(&files.AsSigned, "as-signed", false, "with all evidence, model and encoder given, take contract and parity as signed")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	_ = cmd.MarkFlagRequired("key")
}

// parse reads what the flags hold as text.
func (f *verifyFlags) parse(cmd *cobra.Command) (err error) {
	d := &f.demands
	if d.Key, err = envelope.ReadPublicKey(f.key); err != nil {
		return err
	}
	if d.Profile, err = statement.ParseProfile(f.profile); err != nil {
		return fmt.Errorf("--profile: %w", err)
	}
	if d.Lane, err = parseLane(f.lane); err != nil {
		return err
	}
	if d.Policies, err = parsePolicies(f.policies); err != nil {
		return err
	}
	if cmd.Flags().Changed("max-age") && d.MaxAge <= 0 {
		return fmt.Errorf("--max-age %s: expected more than nothing", d.MaxAge)
	}
	d.Now = time.Now()
	if f.at != "" {
		if d.Now, err = time.Parse(time.RFC3339, f.at); err != nil {
			return fmt.Errorf("--at %s: expected RFC 3339, such as 2026-01-02T03:04:05Z", f.at)
		}
	}
	return nil
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
