package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// needsCommand makes a group of commands refuse what is none of them. Without a word it prints its help, which is no
// success: a script whose variable was empty must not go on.
func needsCommand(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		cmd.SetOut(cmd.ErrOrStderr())
		if err := cmd.Help(); err != nil {
			return err
		}
		return errNoCommand
	}
}

// errNoCommand is that a command was called for which help says all; it has been printed.
var errNoCommand = errors.New("no command was given")

func unknownCommand(parent *cobra.Command, word string) error {
	var names []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("%s has no command %q: %s", parent.CommandPath(), word, instead(nearest(word, names), parent.CommandPath()+" --help lists all"))
}

// unknownFlag adds the nearest flags to the error of an unknown one.
func unknownFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return fmt.Errorf("%w (%s --help lists the flags)", err, cmd.CommandPath())
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	word := unknown.GetSpecifiedName()
	// -key, where --key is meant, is read as three flags of one letter.
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		word = letters
	}
	near := nearest(word, names)
	for i := range near {
		near[i] = "--" + near[i]
	}
	return fmt.Errorf("%w: %s", err, instead(near, cmd.CommandPath()+" --help lists the flags"))
}

func instead(near []string, otherwise string) string {
	if len(near) == 0 {
		return otherwise
	}
	return "did you mean " + strings.Join(near, " or ") + "?"
}

// nearest are at most three of the names that a word may have been meant for, the nearest first: those it begins, and those
// at most a third of its letters away.
func nearest(word string, names []string) []string {
	word = strings.ToLower(word)
	type candidate struct {
		name  string
		edits int
	}
	var near []candidate
	for _, name := range names {
		edits := distance(word, strings.ToLower(name))
		switch {
		case len(word) > 1 && strings.HasPrefix(strings.ToLower(name), word):
			near = append(near, candidate{name, 0})
		case edits <= max(1, len([]rune(word))/3):
			near = append(near, candidate{name, edits})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.edits - b.edits })
	var out []string
	for _, c := range near[:min(len(near), 3)] {
		out = append(out, c.name)
	}
	return out
}

// distance counts the letters to insert, delete, replace or swap with the next one that make one word another.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	// The rows of the table of all beginnings: the one before the last, the last, and this one.
	older, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, last, row = last, row, older
	}
	return last[len(y)]
}
