package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// given refuses a flag that is there without a value, such as --reference "$REFERENCE" where REFERENCE is not set:
// taken for a flag that was left out, it would demand nothing. It runs before every command.
func given(cmd *cobra.Command, args []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" {
			err = fmt.Errorf("--%s is empty: give it a value, or leave it out", f.Name)
		}
	})
	if err != nil || cmd.ArgsLenAtDash() >= 0 {
		return err // what is behind -- belongs to another program
	}
	return readOnce(cmd, args)
}

// readOnce refuses "-" where a command reads no standard input, and a second "-", which would read nothing.
func readOnce(cmd *cobra.Command, args []string) error {
	e := entryOf(cmd)
	var readers, wrong []string
	for _, arg := range args {
		if arg == "-" {
			readers = append(readers, "an argument")
			if e.stdin == "" {
				wrong = append(wrong, "an argument")
			}
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			if value == "-" {
				readers = append(readers, "--"+f.Name)
				if !slices.Contains(e.stdinFlags, f.Name) {
					wrong = append(wrong, "--"+f.Name)
				}
			}
		}
	})
	switch {
	case len(wrong) > 0:
		return fmt.Errorf("%s: standard input is not read there, found - as %s: name a file", cmd.CommandPath(), wrong[0])
	case len(readers) > 1:
		return fmt.Errorf("standard input can be read once, and is asked for by %s: name a file for all but one", strings.Join(readers, ", "))
	}
	return nil
}
