package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"io"
	"maps"
	"slices"
	"strings"
)

// raised is a place that raises a code, as its source says it: where, what was expected, what was found.
type raised struct{ at, text string }

// maxInputs bounds the lines of tests that are shown for a code.
const maxInputs = 4

// texts prints, for each code whose name has the prefix, what a reader is told, beside the places that raise it and the
// tests' inputs that do.
func (c *census) texts(w io.Writer, files map[string]*ast.File, tests map[string]string, prefix string) {
	definitions, sites := map[string][2]string{}, map[string][]raised{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(path, definedIn) {
			ast.Inspect(files[path], func(n ast.Node) bool { define(n, definitions); return true })
			continue
		}
		ast.Inspect(files[path], func(n ast.Node) bool { c.site(n, sites); return true })
	}
	inputs := c.inputs(tests)
	for _, name := range slices.Sorted(maps.Keys(c.codes)) {
		code := c.codes[name]
		if !strings.HasPrefix(code, prefix) {
			continue
		}
		fmt.Fprintf(w, "%s (%s)\n  means   %s\n  do      %s\n", code, strings.ToLower(c.classes[name]), definitions[name][0], definitions[name][1])
		for _, s := range sites[name] {
			fmt.Fprintf(w, "  raised  %s: %s\n", s.at, s.text)
		}
		for _, line := range inputs[code] {
			fmt.Fprintf(w, "  input   %s\n", line)
		}
		fmt.Fprintln(w)
	}
}

// define keeps the texts of a table's row by the name of its constant.
func define(n ast.Node, definitions map[string][2]string) {
	row, ok := n.(*ast.CompositeLit)
	if !ok {
		return
	}
	name, texts := "", [2]string{}
	for _, x := range row.Elts {
		field, ok := x.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, _ := field.Key.(*ast.Ident)
		switch value, isText := literal(field.Value); {
		case key == nil:
		case key.Name == "Code":
			if id, ok := field.Value.(*ast.Ident); ok {
				name = id.Name
			}
		case key.Name == "Means" && isText:
			texts[0] = value
		case key.Name == "Do" && isText:
			texts[1] = value
		}
	}
	if name != "" {
		definitions[name] = texts
	}
}

// site keeps the smallest call, or row of a table, that names a code.
func (c *census) site(n ast.Node, sites map[string][]raised) {
	var of []ast.Expr
	switch n := n.(type) {
	case *ast.CallExpr:
		of = n.Args
	case *ast.CompositeLit:
		for _, x := range n.Elts {
			if field, ok := x.(*ast.KeyValueExpr); ok {
				x = field.Value
			}
			of = append(of, x)
		}
	default:
		return
	}
	for _, x := range of {
		s, ok := x.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		if from, ok := s.X.(*ast.Ident); !ok || from.Name != "reason" || c.codes[s.Sel.Name] == "" {
			continue
		}
		var b bytes.Buffer
		if err := format.Node(&b, c.fset, n); err != nil {
			continue
		}
		sites[s.Sel.Name] = append(sites[s.Sel.Name], raised{at: c.fset.Position(n.Pos()).String(), text: short(b.String())})
	}
}

// inputs are lines of tests by the code that they name: the input stands in the same row, or above it.
func (c *census) inputs(tests map[string]string) map[string][]string {
	known := map[string]bool{}
	for _, code := range c.codes {
		known[code] = true
	}
	found := map[string][]string{}
	for _, path := range slices.Sorted(maps.Keys(tests)) {
		if strings.HasPrefix(path, definedIn) || strings.HasPrefix(path, "tools/dev/codes/") {
			continue
		}
		number := 0
		for line := range strings.Lines(tests[path]) {
			number++
			if len(line) > 2000 || strings.HasSuffix(path, ".json") {
				continue // a file of data, which shows no input
			}
			named := map[string]bool{}
			for _, m := range constant.FindAllStringSubmatch(line, -1) {
				named[c.codes[m[1]]] = true
			}
			for _, word := range spelled.FindAllString(line, -1) {
				named[word] = known[word]
			}
			for code, is := range named {
				if is && code != "" && len(found[code]) < maxInputs {
					found[code] = append(found[code], fmt.Sprintf("%s:%d: %s", path, number, short(line)))
				}
			}
		}
	}
	return found
}

// short is a text on one line.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 300 {
		return string(runes[:300]) + "…"
	}
	return text
}
