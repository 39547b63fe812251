package text

import (
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

func (p *parser) arg() (mil.Arg, error) {
	if err := p.node(); err != nil {
		return mil.Arg{}, err
	}
	name, err := p.ident("the name of an argument")
	if err != nil {
		return mil.Arg{}, err
	}
	a := mil.Arg{Name: name}
	if err := p.expect("="); err != nil {
		return a, err
	}
	if !p.is("(") {
		b, err := p.binding()
		a.Bindings = []mil.Binding{b}
		return a, err
	}
	a.Variadic = true
	err = p.list("(", ")", func() error {
		b, err := p.binding()
		a.Bindings = append(a.Bindings, b)
		return err
	})
	return a, err
}

func (p *parser) binding() (mil.Binding, error) {
	if err := p.node(); err != nil {
		return mil.Binding{}, err
	}
	if p.tok.kind == tokIdent {
		rest := strings.TrimLeft(p.lex.src[p.lex.pos:], " \t\r\n")
		if !strings.HasPrefix(rest, "(") && !strings.HasPrefix(rest, "<") {
			name, err := p.ident("a name")
			return mil.Binding{Name: name}, err
		}
	}
	v, err := p.typedValue()
	return mil.Binding{Value: v}, err
}

func (p *parser) attrs() ([]mil.Attr, error) {
	if !p.is("[") {
		return nil, nil
	}
	var attrs []mil.Attr
	err := p.list("[", "]", func() error {
		if err := p.node(); err != nil {
			return err
		}
		name, err := p.ident("the name of an attribute")
		if err != nil {
			return err
		}
		if err := p.expect("="); err != nil {
			return err
		}
		v, err := p.typedValue()
		attrs = append(attrs, mil.Attr{Name: name, Value: v})
		return err
	})
	return attrs, err
}
