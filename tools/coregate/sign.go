package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/modulearchive"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/release"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// maxSigned bounds receipts, releases and signed files, in bytes. A receipt has a few thousand,
// and a parsed document takes many times its size.
const maxSigned = 4 << 20

func newSignCmd() *cobra.Command {
	var (
		keyFile, at  string
		observations []string
		bundle       bool
	)
	cmd := &cobra.Command{
		Use:   "sign --key K.pem RECEIPT",
		Short: "Sign a receipt: a DSSE envelope, or a Sigstore bundle, on standard output",
		Long: `Sign a receipt, or a release of many, with an Ed25519 or ECDSA P-256 key (PKCS#8 PEM).

What is signed is the receipt as the build wrote it, byte for byte. With --time or
--observations the signer also vouches for when it was signed and when and on what the runs
happened; verify --max-age reads that.

    openssl genpkey -algorithm ed25519 -out K.pem
    openssl pkey -in K.pem -pubout -out P.pem`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := envelope.ReadPrivateKey(keyFile)
			if err != nil {
				return err
			}
			if exposed := envelope.Exposed(keyFile); exposed != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "coregate sign: warning: %s\n", reason.Visible(exposed))
			}
			payload, err := readInput(cmd.InOrStdin(), args[0], maxSigned)
			if err != nil {
				return err
			}
			if payload, err = seal(payload, at, observations); err != nil {
				return err
			}
			out, err := envelope.Sign(cmd.Context(), key, payload)
			if err == nil && bundle {
				out, err = envelope.Bundle(out, key)
			}
			if err != nil {
				return err
			}
			// What is signed must be small enough to be verified.
			if len(out) > maxSigned {
				return fmt.Errorf("the signed file would have %d bytes, more than the %d that verify reads", len(out), maxSigned)
			}
			_, err = cmd.OutOrStdout().Write(out)
			return err
		},
	}
	cmd.Flags().StringVar(&keyFile, "key", "", "the private key")
	cmd.Flags().StringVar(&at, "time", "", "vouch for this time of signing (RFC 3339), or \"now\"")
	cmd.Flags().StringArrayVar(&observations, "observations", nil, "vouch for an observations.json of the receipt's runs; may be repeated")
	cmd.Flags().BoolVar(&bundle, "bundle", false, "write a Sigstore bundle")
	_ = cmd.MarkFlagRequired("key")
	return cmd
}

// seal checks that data is a receipt or a release and adds what the signer vouches for, if anything.
func seal(data []byte, at string, observations []string) ([]byte, error) {
	plain := at == "" && len(observations) == 0
	if _, err := release.Decode(data); err == nil && plain {
		return data, nil
	}
	if _, err := modulearchive.Decode(data); err == nil && plain {
		return data, nil
	}
	s, err := statement.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("only a receipt, or a release or a module archive's receipt without --time and --observations, is signed: %w", err)
	}
	if plain {
		return data, nil
	}
	now := time.Now()
	if at != "" && at != "now" {
		if now, err = time.Parse(time.RFC3339, at); err != nil {
			return nil, fmt.Errorf("--time %s: expected RFC 3339, such as 2026-01-02T03:04:05Z", at)
		}
	}
	var runs []*evidence.Observations
	for _, path := range observations {
		text, err := readInput(nil, path, strictjson.MaxBytes)
		if err != nil {
			return nil, err
		}
		o, err := evidence.DecodeObservations(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		runs = append(runs, o)
	}
	sealed, err := s.Sealed(now, runs)
	if err != nil {
		return nil, err
	}
	return statement.Encode(sealed)
}
