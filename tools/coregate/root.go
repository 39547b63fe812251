package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const about = `coregate proves, from a run, which encoder a whisper.cpp build executed: Core ML's, or ggml's own.

Every command that judges exits with 0 (pass), 1 (fail), 2 (could not judge) or 3 (inconclusive), prints a
short table for people, and with --json one object. A file named "-" is standard input where a command's
help says so. Colours are for terminals alone, and NO_COLOR turns them off.`

func init() {
	cobra.EnableCommandSorting = false // the table has an order
	cobra.AddTemplateFunc("exits", exitsText)
	cobra.AddTemplateFunc("runs", runs)
}

// runs says that a command does something itself; a group of commands does not.
func runs(cmd *cobra.Command) bool { return len(entryOf(cmd).exits) > 0 }

// newRoot assembles the commands of the table.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "coregate",
		Short:         "Prove which encoder a whisper.cpp build ran",
		Long:          about,
		SilenceUsage:  true,
		SilenceErrors: true,
		// One in this program's own words is in the table.
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	for _, title := range groups {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
	}
	for _, e := range table {
		cmd := e.make()
		cmd.GroupID = e.group
		cmd.DisableFlagsInUseLine = true
		if len(e.examples) > 0 {
			cmd.Example = indent(strings.Join(e.examples, "\n"))
		}
		parent := root
		if above, _, ok := cutLast(e.path); ok {
			parent = find(root, above)
		}
		parent.AddCommand(cmd)
	}
	for _, cmd := range append(root.Commands(), root) {
		if !cmd.Runnable() {
			needsCommand(cmd)
		}
	}
	root.SetFlagErrorFunc(unknownFlag)
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if runs .}}", 1) + `{{exits .}}`)
	root.SetHelpCommand(newHelpCmd())
	root.SetHelpCommandGroupID(groupProgram)
	addCompletions(root)
	return root
}

// cutLast cuts the last word off a path.
func cutLast(path string) (above, name string, ok bool) {
	i := strings.LastIndexByte(path, ' ')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// find is the command of a path of the table, which has it.
func find(root *cobra.Command, path string) *cobra.Command {
	cmd, rest, err := root.Find(strings.Fields(path))
	if err != nil || len(rest) > 0 {
		panic(fmt.Sprintf("table: %s is not there: put it before what is below it", path))
	}
	return cmd
}

// pathOf is a command's path in the table.
func pathOf(cmd *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
}

func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// exitsText is the last section of a command's help.
func exitsText(cmd *cobra.Command) string {
	e := entryOf(cmd)
	var b strings.Builder
	if from := e.readers(); from != "" {
		fmt.Fprintf(&b, "\nStandard input, as -:\n  %s\n", from)
	}
	for i, x := range e.exits {
		if i == 0 {
			b.WriteString("\nExit codes:\n")
		}
		fmt.Fprintf(&b, "  %-5s%s\n", x.code, x.means)
	}
	return b.String()
}

// newHelpCmd is help that fails for a command which is none.
func newHelpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Say what a command does, its flags and its exit codes",
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			about, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 && !about.Runnable() || len(rest) > 0 && about == root {
				return unknownCommand(root, args[0])
			}
			if len(rest) > 0 {
				return unknownCommand(about, rest[0])
			}
			return about.Help()
		},
	}
}
