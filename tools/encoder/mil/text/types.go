package text

import (
	"strconv"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

func (p *parser) dim() (int64, error) {
	if p.is("?") {
		return mil.Unknown, p.advance()
	}
	if p.tok.kind != tokNumber {
		return 0, p.errorf("expected a dimension or ?, found %s", p.tok.describe())
	}
	d, err := strconv.ParseInt(p.tok.text, 10, 64)
	if err != nil || d < 0 {
		return 0, p.errorf("dimension: expected a whole number from 0, found %s", p.tok.describe())
	}
	return d, p.advance()
}

func (p *parser) typ() (*mil.Type, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	at := p.tok
	word, err := p.ident("a type")
	if err != nil {
		return nil, err
	}
	switch word {
	case "tensor":
		return p.tensorType()
	case "list", "dict", "tuple", "state":
		return p.compoundType(word)
	}
	d, ok := mil.ParseDType(word)
	if !ok {
		return nil, p.lex.errorf(at.line, at.col, "unknown type %q", clip(word))
	}
	return mil.TensorOf(d), nil
}

func (p *parser) tensorType() (*mil.Type, error) {
	if err := p.expect("<"); err != nil {
		return nil, err
	}
	at := p.tok
	word, err := p.ident("an element type")
	if err != nil {
		return nil, err
	}
	d, ok := mil.ParseDType(word)
	if !ok {
		return nil, p.lex.errorf(at.line, at.col, "unknown element type %q", clip(word))
	}
	if err := p.expect(","); err != nil {
		return nil, err
	}
	t := mil.TensorOf(d)
	err = p.list("[", "]", func() error {
		if err := p.node(); err != nil {
			return err
		}
		d, err := p.dim()
		t.Shape = append(t.Shape, d)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, p.expect(">")
}

func (p *parser) compoundType(word string) (t *mil.Type, err error) {
	t = &mil.Type{}
	if word == "tuple" {
		t.Kind = mil.TupleKind
		return t, p.list("<", ">", func() error {
			it, err := p.typ()
			t.Items = append(t.Items, it)
			return err
		})
	}
	if err := p.expect("<"); err != nil {
		return nil, err
	}
	first, err := p.typ()
	if err != nil {
		return nil, err
	}
	switch word {
	case "state":
		t.Kind, t.Elem = mil.StateKind, first
		return t, p.expect(">")
	case "list":
		t.Kind, t.Elem = mil.ListKind, first
	case "dict":
		t.Kind, t.Key = mil.DictKind, first
	}
	if err := p.expect(","); err != nil {
		return nil, err
	}
	if word == "list" {
		t.Length, err = p.dim()
	} else {
		t.Val, err = p.typ()
	}
	if err != nil {
		return nil, err
	}
	return t, p.expect(">")
}
