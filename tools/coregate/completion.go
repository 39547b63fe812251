package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/third_party/whisper_cpp/pins"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// shells are those that completions are written for.
var shells = []string{"bash", "zsh", "fish"}

func newCompletionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completions of a shell: bash, zsh or fish",
		Long: `Print what makes a shell complete commands, flags and their values:

    coregate completion bash > ~/.local/share/bash-completion/completions/coregate
    coregate completion zsh  > a folder of $fpath, as the file _coregate
    coregate completion fish > ~/.config/fish/completions/coregate.fish

bash needs its package bash-completion.`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root, w := cmd.Root(), cmd.OutOrStdout()
			write := map[string]func(io.Writer) error{
				"bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
				"zsh":  root.GenZshCompletion,
				"fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
			}[args[0]]
			if write == nil {
				return fmt.Errorf("completion %s: expected one of %s", args[0], strings.Join(shells, ", "))
			}
			return write(w)
		},
	}
}

// addCompletions says which words an argument or flag takes, where they are few. A flag that is not here takes a file.
func addCompletions(root *cobra.Command) {
	words := map[string][]string{
		"kind": {"coreml", "canary", "contrast"}, "lane": {"physical", "emulated"}, "profile": {"release", "numbers", "runs"},
		"flavour": {"coreml", "ggml"}, "os": {"linux", "macos"}, "arch": {"x86_64", "arm64"}, "mode": {"burst", "sustained", "energy"},
		"stage": {"run", "compile", "first_load"}, "claim": {"faster", "smaller", "efficient", "sustained"}, "pin": pins.Names(),
	}
	words["policy"] = policy.Names()
	formats := map[string][]string{"report": {"html", "junit", "text"}, "bench report": {"html", "text"}, "man": {"man", "markdown"}}
	for _, e := range table {
		cmd := find(root, e.path)
		for name, values := range words {
			// The pin of a run is a file, and a policy that verify demands has a digest.
			other := name == "pin" && e.path == "run" || name == "policy" && e.path == "verify"
			if cmd.Flags().Lookup(name) != nil && !other {
				completeFlag(cmd, name, values)
			}
		}
		if values := formats[e.path]; values != nil {
			completeFlag(cmd, "format", values)
		}
	}
	find(root, "explain").ValidArgsFunction = cobra.FixedCompletions(codes(), cobra.ShellCompDirectiveNoFileComp)
	find(root, "man").ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		above, rest, err := cmd.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, c := range above.Commands() {
			names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

func completeFlag(cmd *cobra.Command, name string, values []string) {
	if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

// codes are all reason codes, sorted.
func codes() []string {
	var out []string
	for _, s := range reason.Sections {
		for _, d := range s.Table {
			out = append(out, d.Code)
		}
	}
	slices.Sort(out)
	return out
}
