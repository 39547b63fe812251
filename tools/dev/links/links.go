package main

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	// A fence opens and closes on a line of its own.
	fence = regexp.MustCompile("^ {0,3}(```|~~~)")
	// [text](target), ![text](target), with a title or not.
	inline = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?[^)]*\)`)
	// [name]: target
	reference = regexp.MustCompile(`^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)>?`)
	// src="target" and href="target" of embedded HTML.
	attribute = regexp.MustCompile(`(?:src|href)="([^"]+)"`)
	// A document that a file names by its path from the root. A longer path may have another root.
	mention = regexp.MustCompile(`(?:^|[^\w./-])(docs/[a-z0-9_./-]+\.md)\b`)
	// A place in the sources, alone between backticks: `tools/x/y_test.go:TestName`, or without a name. NAME is left to the reader.
	place = regexp.MustCompile("`((?:docs|gate|tools|third_party|patches|testdata)/[A-Za-z0-9_./-]+)(?::([A-Za-z_][A-Za-z0-9_]*))?`")
	// https://…, mailto:…
	scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
	// <a id="name">, an anchor that a document sets itself.
	set = regexp.MustCompile(`<a id="([^"]+)">`)
	// What leaves no trace in a heading's anchor: a link's target.
	linked = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// A changelog names what was there before a change.
const changelog = "CHANGELOG.md"

// census is what was looked at, and what is wrong with it.
type census struct {
	documents, links, mentions, places int
	wrong                              []string
}

// check looks at every document and at every file that names one. files holds the text of the files by slashed path.
func check(files map[string]string) census {
	c := census{}
	entries := entriesOf(files)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".md") {
			c.documents++
			c.document(name, files, entries)
			if name != changelog {
				c.named(name, files, entries)
			}
			continue
		}
		// A test makes a world of its own, in which other documents are.
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for i, line := range strings.Split(files[name], "\n") {
			for _, m := range mention.FindAllStringSubmatch(line, -1) {
				c.mentions++
				if !entries[path.Clean(m[1])] {
					c.say(name, i, "there is no %s: write it or name another document", m[1])
				}
			}
		}
	}
	return c
}

func (c *census) say(name string, line int, format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf("%s:%d: ", name, line+1)+fmt.Sprintf(format, args...))
}

// entriesOf lists the files and their folders: what a clone holds, whatever else lies in this tree.
func entriesOf(files map[string]string) map[string]bool {
	entries := map[string]bool{".": true}
	for name := range files {
		for ; name != "."; name = path.Dir(name) {
			entries[name] = true
		}
	}
	return entries
}

// document checks the links of one document, and the documents that it names by their path.
func (c *census) document(name string, files map[string]string, entries map[string]bool) {
	for i, line := range prose(files[name]) {
		for _, pattern := range []*regexp.Regexp{inline, reference, attribute} {
			for _, m := range pattern.FindAllStringSubmatch(line, -1) {
				if scheme.MatchString(m[1]) {
					continue
				}
				c.links++
				c.link(name, i, m[1], files, entries)
			}
		}
	}
}

// named checks the places in the sources that a document names: the file is there, and what is called so is defined in it.
func (c *census) named(name string, files map[string]string, entries map[string]bool) {
	for i, line := range strings.Split(files[name], "\n") {
		for _, m := range place.FindAllStringSubmatch(line, -1) {
			if strings.Contains(m[1], "NAME") {
				continue
			}
			c.places++
			file := path.Clean(m[1])
			switch {
			case !entries[file]:
				c.say(name, i, "there is no %s under version control", m[1])
			case m[2] != "" && !defines(files[file], m[2]):
				c.say(name, i, "%s defines no %s", m[1], m[2])
			}
		}
	}
}

// defines reports whether a source defines a function, type or rule of a name, or a target in a BUILD file.
func defines(source, name string) bool {
	return regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |class |struct |def |void |bool |var |const |@implementation )` + name + `\b|^\s*name = "` + name + `"|^` + name + ` = `).MatchString(source)
}

func (c *census) link(name string, line int, target string, files map[string]string, entries map[string]bool) {
	file, anchor, _ := strings.Cut(target, "#")
	to := name
	switch {
	case strings.HasPrefix(file, "/"):
		to = path.Clean(strings.TrimPrefix(file, "/"))
	case file != "":
		to = path.Join(path.Dir(name), file)
	}
	if !entries[to] {
		c.say(name, line, "%s: there is no %s under version control", target, to)
		return
	}
	if anchor == "" {
		return
	}
	if known := anchors(files[to]); !strings.HasSuffix(to, ".md") || !slices.Contains(known, anchor) {
		c.say(name, line, "%s: expected an anchor of %s, found no such heading", target, to)
	}
}

// prose is a document's lines, with empty ones in place of code, whose brackets are no links.
func prose(text string) []string {
	lines := strings.Split(text, "\n")
	open := ""
	for i, line := range lines {
		m := fence.FindStringSubmatch(line)
		switch {
		case open == "" && m != nil:
			open, lines[i] = m[1], ""
		case open != "":
			if m != nil && m[1] == open {
				open = ""
			}
			lines[i] = ""
		default:
			lines[i] = withoutCode(line)
		}
	}
	return lines
}

// withoutCode takes the text between pairs of backticks out of a line.
func withoutCode(line string) string {
	parts := strings.Split(line, "`")
	var out strings.Builder
	for i, part := range parts {
		// The last part is open if the backticks are odd, so it is text.
		if i%2 == 0 || i == len(parts)-1 {
			out.WriteString(part)
		}
	}
	return out.String()
}

// anchors are the headings of a document as GitHub names them, and those that it sets itself.
func anchors(text string) []string {
	var out []string
	seen := map[string]int{}
	open := false
	for line := range strings.Lines(text) {
		if fence.MatchString(line) {
			open = !open
		}
		if !open {
			for _, m := range set.FindAllStringSubmatch(line, -1) {
				out = append(out, m[1])
			}
		}
		title := strings.TrimLeft(line, "#")
		if open || title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		slug := slugOf(title)
		n := seen[slug]
		seen[slug]++
		if n > 0 {
			slug = fmt.Sprintf("%s-%d", slug, n)
		}
		out = append(out, slug)
	}
	return out
}

func slugOf(title string) string {
	title = linked.ReplaceAllString(title, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(title))
}
