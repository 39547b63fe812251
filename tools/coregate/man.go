package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	module "github.com/coreml-gate/rules_coreml_gate"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/wholefile"
)

func newManCmd() *cobra.Command {
	var format, out string
	cmd := &cobra.Command{
		Use:   "man [COMMAND]",
		Short: "Print the manual page of a command, or write all of them",
		Long: `Print the manual page of a command, or of coregate itself; man -l - shows it. With --out, a page for each command
is written into a folder, such as the man1 of a folder of $MANPATH.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			write := map[string]func(*cobra.Command) string{"man": manPage, "markdown": markdownPage}[format]
			if write == nil {
				return fmt.Errorf("--format %s: expected man or markdown", format)
			}
			about, rest, err := cmd.Root().Find(args)
			switch {
			case err != nil:
				return unknownCommand(cmd.Root(), args[0])
			case len(rest) > 0:
				return unknownCommand(about, rest[0])
			case out == "":
				_, err := fmt.Fprint(cmd.OutOrStdout(), write(about))
				return err
			case len(args) > 0:
				return fmt.Errorf("--out writes every page: leave %q out", strings.Join(args, " "))
			}
			for name, page := range commandPages(cmd.Root(), format, write) {
				if err := wholefile.Bytes(filepath.Join(out, name), []byte(page)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "man", "man, or markdown as in docs/commands")
	cmd.Flags().StringVar(&out, "out", "", "an existing folder to write every page to")
	return cmd
}

// commandPages are the pages of all commands, by file name.
func commandPages(root *cobra.Command, format string, write func(*cobra.Command) string) map[string]string {
	out := map[string]string{}
	for _, cmd := range documented(root) {
		name := pageName(cmd)
		if format == "markdown" {
			out[strings.TrimPrefix(name, "coregate-")+".md"] = write(cmd)
		} else {
			out[name+".1"] = write(cmd)
		}
	}
	if format == "markdown" {
		out["README.md"] = out["coregate.md"]
		delete(out, "coregate.md")
	}
	return out
}

// documented are coregate and all its commands, in the order of help.
func documented(root *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{root}
	for _, e := range table {
		out = append(out, find(root, e.path))
	}
	return out
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// aboutText is what help says first: the long text, or the short one as a sentence.
func aboutText(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return cmd.Long
	}
	return cmd.Short + "."
}

// block is a part of a text: a paragraph, or lines to be kept as they are.
type block struct {
	kept bool
	text string
}

// blocks cuts a text of help at its empty lines. What is indented is kept as it is.
func blocks(text string) []block {
	var out []block
	for part := range strings.SplitSeq(text, "\n\n") {
		part = strings.Trim(part, "\n")
		if strings.HasPrefix(part, "    ") {
			out = append(out, block{true, strings.TrimPrefix(strings.ReplaceAll(part, "\n    ", "\n"), "    ")})
		} else if part != "" {
			out = append(out, block{false, part})
		}
	}
	return out
}

// below lists a command's own commands, in the order of the table.
func below(cmd *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, c := range documented(cmd.Root())[1:] {
		if c.Parent() == cmd {
			out = append(out, c)
		}
	}
	return out
}

// flagsOf visits the flags of a command's own, sorted by name.
func flagsOf(cmd *cobra.Command, visit func(name, value, usage, byDefault string)) {
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		byDefault := f.DefValue
		if byDefault == "" || byDefault == "false" || byDefault == "[]" || byDefault == "0" || byDefault == "0s" {
			byDefault = ""
		}
		visit(f.Name, value, usage, byDefault)
	})
}

// A pipe would end a cell, and an opening angle bracket begin a tag.
var markdownEscapes = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "[", `\[`, "$", `\$`)

// markdownPage is a command's page of docs/commands.
func markdownPage(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nWritten by `go test ./tools/coregate -run Pages -update` from `%s --help`.\n", cmd.CommandPath(), cmd.CommandPath())
	for _, part := range blocks(aboutText(cmd)) {
		if part.kept {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", part.text)
		} else {
			fmt.Fprintf(&b, "\n%s\n", markdownEscapes.Replace(part.text))
		}
	}
	if runs(cmd) {
		fmt.Fprintf(&b, "\n## Usage\n\n```\n%s\n```\n", useLine(cmd))
	}
	if children := below(cmd); len(children) > 0 {
		b.WriteString("\n## Commands\n")
		group := ""
		for i, c := range children {
			if i == 0 || c.GroupID != group {
				group = c.GroupID
				fmt.Fprintf(&b, "\n| %s | |\n|---|---|\n", strings.TrimSuffix(group, ":"))
			}
			fmt.Fprintf(&b, "| [%s](%s.md) | %s |\n", c.CommandPath(), strings.TrimPrefix(pageName(c), "coregate-"), markdownEscapes.Replace(c.Short))
		}
	}
	rows := ""
	flagsOf(cmd, func(name, value, usage, byDefault string) {
		if byDefault != "" {
			byDefault = "`" + byDefault + "`"
		}
		rows += fmt.Sprintf("| `%s` | %s | %s |\n", strings.TrimSpace("--"+name+" "+value), markdownEscapes.Replace(usage), byDefault)
	})
	if rows != "" {
		b.WriteString("\n## Flags\n\n| flag | | default |\n|---|---|---|\n" + rows)
	}
	e := entryOf(cmd)
	if from := e.readers(); from != "" {
		fmt.Fprintf(&b, "\n## Standard input\n\nAs `-`: %s.\n", from)
	}
	if len(e.exits) > 0 {
		b.WriteString("\n## Exit codes\n\n| code | |\n|---|---|\n")
		for _, x := range e.exits {
			fmt.Fprintf(&b, "| %s | %s |\n", x.code, x.means)
		}
	}
	if len(e.examples) > 0 {
		fmt.Fprintf(&b, "\n## Examples\n\n```sh\n%s\n```\n", strings.Join(e.examples, "\n"))
	}
	return b.String()
}

// useLine is how a command is called, each form that begins with its name on a line of its own.
func useLine(cmd *cobra.Command) string {
	prefix := strings.TrimSuffix(cmd.CommandPath(), cmd.Name())
	return prefix + strings.ReplaceAll(cmd.Use, " | "+cmd.Name()+" ", "\n"+cmd.CommandPath()+" ")
}

// A line of a manual page that begins with a dot or a quote would be an instruction.
var instruction = regexp.MustCompile(`(?m)^([.'])`)

// roff spells a text for a manual page.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(text)
	return instruction.ReplaceAllString(text, `\&$1`)
}

// manPage is a command's manual page, section 1.
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	// No date: the same program writes the same page.
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"coregate %s\" \"rules_coreml_gate\"\n.nh\n.ad l\n", strings.ToUpper(pageName(cmd)), module.Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(cmd)), roff(cmd.Short))
	if runs(cmd) {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n.fi\n", roff(useLine(cmd)))
	} else {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n%s COMMAND [FLAGS]\n", roff(cmd.CommandPath()))
	}
	b.WriteString(".SH DESCRIPTION\n")
	for i, part := range blocks(aboutText(cmd)) {
		switch {
		case part.kept:
			fmt.Fprintf(&b, ".PP\n.nf\n.RS 4\n%s\n.RE\n.fi\n", roff(part.text))
		case i > 0:
			fmt.Fprintf(&b, ".PP\n%s\n", roff(part.text))
		default:
			fmt.Fprintf(&b, "%s\n", roff(part.text))
		}
	}
	if children := below(cmd); len(children) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, c := range children {
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR(1)\n%s.\n", roff(pageName(c)), roff(c.Short))
		}
	}
	flags := ""
	flagsOf(cmd, func(name, value, usage, byDefault string) {
		flags += fmt.Sprintf(".TP\n\\fB\\-\\-%s\\fR", roff(name))
		if value != "" {
			flags += fmt.Sprintf(" \\fI%s\\fR", roff(value))
		}
		flags += "\n" + roff(usage)
		if byDefault != "" {
			flags += fmt.Sprintf(" (%s by default)", roff(byDefault))
		}
		flags += ".\n"
	})
	if flags != "" {
		b.WriteString(".SH OPTIONS\n" + flags)
	}
	e := entryOf(cmd)
	if from := e.readers(); from != "" {
		fmt.Fprintf(&b, ".SH STANDARD INPUT\nAs \\-: %s.\n", roff(from))
	}
	if len(e.exits) > 0 {
		b.WriteString(".SH EXIT STATUS\n")
		for _, x := range e.exits {
			fmt.Fprintf(&b, ".TP\n%s\n%s.\n", x.code, roff(x.means))
		}
	}
	if len(e.examples) > 0 {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(strings.Join(e.examples, "\n")))
	}
	if cmd.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n\\fB%s\\fR(1)\n", roff(pageName(cmd.Parent())))
	}
	return b.String()
}
