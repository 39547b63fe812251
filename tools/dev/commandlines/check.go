package main

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// census is what was looked at, and what is wrong with it.
type census struct {
	lines map[string]int // by program
	wrong []string
}

// world is what command lines may name.
type world struct {
	files    map[string]string
	folders  map[string]bool
	commands map[string]map[string]bool // coregate's, by path; of each flag, whether it takes a value
	examples map[string]bool            // names of targets in documents' Starlark
}

// check looks at every document. files holds the text of all files by slashed path.
func check(files map[string]string) census {
	c := census{lines: map[string]int{}}
	w := newWorld(files)
	if len(w.commands) == 0 {
		c.wrong = append(c.wrong, "docs/commands: expected a page for each command of coregate, found none")
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, l := range lines(files[name]) {
			for _, words := range commands(l.text) {
				program, wrong := w.judge(words)
				if program != "" {
					c.lines[program]++
				}
				if wrong != "" {
					c.wrong = append(c.wrong, fmt.Sprintf("%s:%d: %s: %s", name, l.number, strings.Join(words, " "), wrong))
				}
			}
		}
	}
	return c
}

var (
	pageTitle  = regexp.MustCompile(`(?m)\A# coregate ?(.*)$`)
	pageFlag   = regexp.MustCompile("(?m)^\\| `--([a-z-]+)( [^`]+)?` \\|")
	targetName = regexp.MustCompile(`\bname = "([^"]+)"`)
	starlark   = regexp.MustCompile("(?ms)^```(?:starlark|python|bzl)\n(.*?)^```")
)

func newWorld(files map[string]string) world {
	w := world{files: files, folders: map[string]bool{".": true}, commands: map[string]map[string]bool{}, examples: map[string]bool{}}
	for name, text := range files {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			w.folders[dir] = true
		}
		if strings.HasPrefix(name, "docs/commands/") && strings.HasSuffix(name, ".md") {
			if title := pageTitle.FindStringSubmatch(text); title != nil {
				flags := map[string]bool{"help": false}
				for _, m := range pageFlag.FindAllStringSubmatch(text, -1) {
					flags[m[1]] = m[2] != ""
				}
				w.commands[title[1]] = flags
			}
		}
		var declared []string
		switch {
		case strings.HasSuffix(name, ".md"):
			for _, m := range starlark.FindAllStringSubmatch(text, -1) {
				declared = append(declared, m[1])
			}
		case strings.HasPrefix(name, "examples/") && path.Base(name) == "BUILD.bazel":
			declared = append(declared, text)
		}
		for _, t := range declared {
			for _, m := range targetName.FindAllStringSubmatch(t, -1) {
				w.examples[m[1]] = true
			}
		}
	}
	return w
}

// judge names the program of a command, empty if it is none of ours, and what is wrong with the command.
func (w world) judge(words []string) (program, wrong string) {
	for len(words) > 0 && strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "-") {
		words = words[1:] // a variable for the command
	}
	if len(words) == 0 {
		return "", ""
	}
	switch first := words[0]; {
	case first == "coregate":
		return first, w.coregate(words[1:])
	case first == "bazel":
		return first, w.bazel(words[1:])
	case first == "go" && len(words) > 1:
		return first, w.goTool(words[2:])
	case len(words) == 1 && strings.Contains(first, ":"):
		// A name in a source, such as tools/x/y_test.go:TestY: tools/dev/links looks for it.
	case strings.HasPrefix(first, "tools/") || strings.HasPrefix(first, ".ci/"):
		if _, ok := w.files[first]; !ok && !w.folders[strings.TrimSuffix(first, "/")] && !strings.ContainsAny(first, "*…<") {
			return "scripts", "there is no " + first
		}
		return "scripts", ""
	}
	return "", ""
}

// placeholder says that a word is for the reader to replace.
func placeholder(word string) bool { return strings.ContainsAny(word, "…<*[") }

func (w world) coregate(words []string) string {
	at, flags := "", w.commands[""]
	for len(words) > 0 {
		below, ok := w.commands[strings.TrimSpace(at+" "+words[0])]
		if !ok {
			break
		}
		at, flags, words = strings.TrimSpace(at+" "+words[0]), below, words[1:]
	}
	if at == "" && len(words) > 0 && placeholder(words[0]) {
		return ""
	}
	if at == "" && len(words) > 0 && !strings.HasPrefix(words[0], "-") && words[0] != "help" && words[0] != strings.ToUpper(words[0]) {
		return "coregate has no command " + words[0]
	}
	for i := 0; i < len(words); i++ {
		name, ok := strings.CutPrefix(words[i], "--")
		if !ok || placeholder(words[i]) {
			continue
		}
		if name == "" {
			return "" // what follows is another program's
		}
		name, _, given := strings.Cut(name, "=")
		value, known := flags[name]
		if !known {
			return fmt.Sprintf("coregate %s has no flag --%s", at, name)
		}
		if value && !given {
			i++
		}
	}
	return ""
}

func (w world) goTool(words []string) string {
	for _, word := range words {
		dir, ok := strings.CutPrefix(word, "./")
		if !ok || placeholder(word) {
			continue
		}
		dir = strings.TrimSuffix(strings.TrimSuffix(dir, "..."), "/")
		if _, isFile := w.files[dir]; dir != "" && !w.folders[dir] && !isFile {
			return "there is no folder " + dir
		}
		break // arguments follow
	}
	return ""
}

var bazelCommands = []string{"build", "test", "run", "query", "cquery", "aquery", "fetch", "sync", "info", "clean", "shutdown", "mod", "coverage", "version", "help"}

func (w world) bazel(words []string) string {
	for len(words) > 0 && strings.HasPrefix(words[0], "--") {
		words = words[1:] // of the server
	}
	if len(words) == 0 || placeholder(words[0]) {
		return ""
	}
	if !slices.Contains(bazelCommands, words[0]) {
		return "bazel has no command " + words[0]
	}
	for i, word := range words[1:] {
		if word == "--" {
			rest := words[i+2:]
			if slices.Contains(words, "//tools/coregate") {
				return w.coregate(rest)
			}
			return ""
		}
		if wrong := w.argument(word); wrong != "" {
			return wrong
		}
	}
	return ""
}

var (
	config    = regexp.MustCompile(`^--config=([A-Za-z0-9_-]+)$`)
	labelFlag = regexp.MustCompile(`^--(?:no)?(//[^=]+)`)
	ownLabel  = regexp.MustCompile(`^-?//([A-Za-z0-9_./-]*)(?::([A-Za-z0-9_.+/-]+))?$`)
	// A name that a loop completes.
	begunName  = regexp.MustCompile(`\bname = "([^"]+)" \+`)
	derivation = regexp.MustCompile(`(?:_(?:test|receipt|run|coreml|canary|contrast|markers|contract|parity|transcript|words|encoder|evidence))+$`)
)

func (w world) argument(word string) string {
	if placeholder(word) {
		return ""
	}
	if m := config.FindStringSubmatch(word); m != nil {
		if !regexp.MustCompile(`(?m)^(?:common|build|test|run):` + m[1] + `\b`).MatchString(w.files[".bazelrc"]) {
			return ".bazelrc has no configuration " + m[1]
		}
		return ""
	}
	label := word
	if m := labelFlag.FindStringSubmatch(word); m != nil {
		label = m[1]
	}
	m := ownLabel.FindStringSubmatch(label)
	if m == nil {
		return ""
	}
	return w.label(m[1], m[2])
}

// The targets that coreml_encoder_gate makes without a prefix.
var gateTargets = []string{"receipt", "encoder", "coreml_run", "canary_run", "contrast_run", "contract", "parity", "markers", "canary", "contrast", "transcript", "words"}

// label says what is wrong with a target of this repository. One of a package that is not here is a reader's: it is made by the
// Starlark that some document shows.
func (w world) label(pkg, target string) string {
	pkg, all := strings.TrimSuffix(strings.TrimSuffix(pkg, "..."), "/"), strings.HasSuffix(pkg, "...")
	build := "BUILD.bazel"
	if pkg != "" {
		build = pkg + "/BUILD.bazel"
	}
	text, ok := w.files[build]
	switch {
	case all && (pkg == "" || w.folders[pkg]), ok && target == "all":
		return ""
	case target == "":
		target = path.Base(pkg)
	}
	base := strings.TrimSuffix(derivation.ReplaceAllString(target, ""), "_receipt")
	for _, name := range []string{target, base, strings.TrimSuffix(target, ".json")} {
		if ok && (strings.Contains(text, `"`+name+`"`) || slices.Contains(gateTargets, strings.TrimSuffix(target, "_test")) && strings.Contains(text, "coreml_encoder_gate(")) {
			return ""
		}
		if (!ok || pkg == "") && w.examples[name] {
			return ""
		}
	}
	for _, m := range begunName.FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(target, m[1]) {
			return ""
		}
	}
	switch {
	case pkg == "x": // a document's example of any package
		return ""
	case ok:
		return fmt.Sprintf("%s has no target %s", build, target)
	}
	return fmt.Sprintf("there is no package %q here, and no document makes a target %s", pkg, target)
}
