package main

import (
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// byHand are codes that change a verdict and that no test raises, with the reason why none can.
var byHand = map[string]string{}

var (
	constant = regexp.MustCompile(`\breason\.([A-Z][A-Za-z0-9]*)\b`)
	spelled  = regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\b`)
)

// named are the codes that a text names, by constant or by value.
func (c *census) named(text string) map[string]bool {
	known := map[string]bool{}
	for _, code := range c.codes {
		known[code] = true
	}
	found := map[string]bool{}
	for _, m := range constant.FindAllStringSubmatch(text, -1) {
		if code, ok := c.codes[m[1]]; ok {
			found[code] = true
		}
	}
	for _, code := range spelled.FindAllString(text, -1) {
		if known[code] {
			found[code] = true
		}
	}
	return found
}

// tested finds codes which change a verdict and which nothing in tests names, and reasons for such codes that are out of date.
func (c *census) tested(tests map[string]string, exempt map[string]string) {
	found := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(tests)) {
		// A test of the vocabulary names codes and raises none.
		if !strings.HasPrefix(path, definedIn) && !strings.HasPrefix(path, "tools/dev/codes/") {
			maps.Copy(found, c.named(tests[path]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.codes)) {
		code := c.codes[name]
		why, excused := exempt[code]
		switch {
		case c.classes[name] == "Note":
		case !found[code] && !excused:
			c.wrong = append(c.wrong, fmt.Sprintf("%s: no test raises it: add one, or a mutant (tools/dev/mutants)", code))
		case found[code] && excused:
			c.wrong = append(c.wrong, fmt.Sprintf("%s: a test raises it, and byHand says that none can (%s): remove it there", code, why))
		}
	}
	for _, code := range slices.Sorted(maps.Keys(exempt)) {
		if !slices.Contains(slices.Collect(maps.Values(c.codes)), code) {
			c.wrong = append(c.wrong, fmt.Sprintf("%s: byHand names it, and it is not defined", code))
		}
	}
}

// row keeps the class of a table's row.
func (c *census) row(n *ast.CompositeLit) {
	var name, class string
	for _, x := range n.Elts {
		field, ok := x.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, _ := field.Key.(*ast.Ident)
		value, _ := field.Value.(*ast.Ident)
		switch {
		case key == nil || value == nil:
		case key.Name == "Code":
			name = value.Name
		case key.Name == "Class":
			class = value.Name
		}
	}
	if name != "" {
		c.classes[name] = class
	}
}
