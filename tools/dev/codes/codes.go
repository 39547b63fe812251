package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const definedIn = "tools/base/reason/"

// census is what the sources say about codes.
type census struct {
	fset *token.FileSet
	// codes are the values of the constants by name; rows counts the constants' rows in tables.
	codes map[string]string
	rows  map[string]int
	// classes are the classes of the rows.
	classes map[string]string
	// emitted are constants that stand where a finding may be made of them.
	emitted map[string]bool
	wrong   []string
}

// check returns what is wrong with the codes of these sources, whose tests are given too.
func check(sources, tests, exempt map[string]string) ([]string, error) {
	c, _, err := take(sources)
	if err != nil {
		return nil, err
	}
	c.conclude()
	c.tested(tests, exempt)
	slices.Sort(c.wrong)
	return c.wrong, nil
}

// take reads the sources.
func take(sources map[string]string) (*census, map[string]*ast.File, error) {
	c := &census{fset: token.NewFileSet(), codes: map[string]string{}, rows: map[string]int{}, classes: map[string]string{}, emitted: map[string]bool{}}
	files := map[string]*ast.File{}
	for _, path := range slices.Sorted(maps.Keys(sources)) {
		f, err := parser.ParseFile(c.fset, path, sources[path], parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		files[path] = f
		if strings.HasPrefix(path, definedIn) {
			c.define(f)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasPrefix(path, definedIn) {
			c.use(files[path])
		}
	}
	return c, files, nil
}

func (c *census) say(at token.Pos, format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf("%s: ", c.fset.Position(at))+fmt.Sprintf(format, args...))
}

// define collects constants and table rows.
func (c *census) define(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			if n.Tok != token.CONST {
				return true
			}
			for _, spec := range n.Specs {
				v := spec.(*ast.ValueSpec)
				if v.Type != nil || len(v.Values) != 1 {
					continue
				}
				if text, ok := literal(v.Values[0]); ok && v.Names[0].IsExported() {
					c.codes[v.Names[0].Name] = text
				}
			}
		case *ast.CompositeLit:
			c.row(n)
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Code" {
				switch value := n.Value.(type) {
				case *ast.Ident:
					if value.IsExported() {
						c.rows[value.Name]++
					}
				case *ast.BasicLit:
					c.say(n.Pos(), "a row has the code %s: name it by its constant", value.Value)
				}
			}
		}
		return true
	})
}

// use collects what is emitted and refuses codes that are spelled out.
func (c *census) use(f *ast.File) {
	compared := map[ast.Node]bool{}
	known := map[string]string{}
	for name, code := range c.codes {
		known[code] = name
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			// A comparison asks for a code; it makes no finding.
			if n.Op == token.EQL || n.Op == token.NEQ {
				compared[n.X], compared[n.Y] = true, true
			}
		case *ast.CaseClause:
			for _, x := range n.List {
				compared[x] = true
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "reason" && !compared[n] {
				c.emitted[n.Sel.Name] = true
			}
		case *ast.BasicLit:
			if text, ok := literal(n); ok && known[text] != "" {
				c.say(n.Pos(), "the code %s is spelled out: write reason.%s", text, known[text])
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Code" {
				c.undefined(n.Value, known)
			}
		case *ast.CallExpr:
			if len(n.Args) > 3 && makesFinding(n.Fun) {
				c.undefined(n.Args[0], known)
			}
		}
		return true
	})
}

// makesFinding says whether a function takes a code first: reason.Errorf, or a collector's Add or Addf.
func makesFinding(fun ast.Expr) bool {
	s, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, _ := s.X.(*ast.Ident)
	return s.Sel.Name == "Add" || s.Sel.Name == "Addf" || s.Sel.Name == "Errorf" && x != nil && x.Name == "reason"
}

// undefined refuses a literal in a code's place that no constant has.
func (c *census) undefined(x ast.Expr, known map[string]string) {
	if text, ok := literal(x); ok && known[text] == "" && text == strings.ToUpper(text) && strings.Contains(text, "_") {
		c.say(x.Pos(), "the code %q is not defined in %s", text, definedIn)
	}
}

func (c *census) conclude() {
	by := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.codes)) {
		code := c.codes[name]
		if other, ok := by[code]; ok {
			c.wrong = append(c.wrong, fmt.Sprintf("%s: constants %s and %s have one value", code, other, name))
		}
		by[code] = name
		if c.rows[name] != 1 {
			c.wrong = append(c.wrong, fmt.Sprintf("%s: defined in %d rows of tables, expected 1", code, c.rows[name]))
		}
		if !c.emitted[name] {
			c.wrong = append(c.wrong, fmt.Sprintf("%s: never emitted: emit it or remove it", code))
		}
	}
	for name := range c.rows {
		if c.codes[name] == "" {
			c.wrong = append(c.wrong, fmt.Sprintf("%s: a row of a table, but no constant", name))
		}
	}
}

func literal(x ast.Expr) (string, bool) {
	l, ok := x.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}
