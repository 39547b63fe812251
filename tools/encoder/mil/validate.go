package mil

import (
	"errors"
	"fmt"
)

// Validate checks that a program's names agree: identifiers are unique where
// they must be, every operand and every output was defined before, every
// constant has a type. It says nothing about what operations mean.
func (p *Program) Validate() error {
	names := map[string]bool{}
	for _, f := range p.Functions {
		if names[f.Name] {
			return fmt.Errorf("function %s is defined twice", quoteName(f.Name))
		}
		names[f.Name] = true
		if err := f.validate(); err != nil {
			return fmt.Errorf("function %s: %w", quoteName(f.Name), err)
		}
	}
	return checkAttrs(p.Attrs)
}

func (f *Function) validate() error {
	if err := checkName("function name", f.Name); err != nil {
		return err
	}
	if f.Body == nil {
		return fmt.Errorf("no body for its opset %s", quoteName(f.Opset))
	}
	if err := checkAttrs(f.Attrs); err != nil {
		return err
	}
	bodies := []*Block{f.Body}
	for _, o := range f.Others {
		bodies = append(bodies, o.Body)
	}
	for _, b := range bodies {
		s := scope{names: map[string]bool{}}
		if err := s.define("input", f.Params); err != nil {
			return err
		}
		if err := s.block(b); err != nil {
			return err
		}
	}
	return nil
}

// scope is a chain of defined names; a nested block sees those around it.
type scope struct {
	names  map[string]bool
	parent *scope
}

func (s *scope) has(name string) bool {
	for ; s != nil; s = s.parent {
		if s.names[name] {
			return true
		}
	}
	return false
}

func (s *scope) define(what string, ps []Param) error {
	for _, p := range ps {
		if err := checkName(what, p.Name); err != nil {
			return err
		}
		if p.Type == nil {
			return fmt.Errorf("%s %s has no type", what, quoteName(p.Name))
		}
		if s.has(p.Name) {
			return fmt.Errorf("%s %s is defined twice", what, quoteName(p.Name))
		}
		s.names[p.Name] = true
	}
	return nil
}

func (s *scope) block(b *Block) error {
	if b == nil {
		return errors.New("a block is missing")
	}
	if err := s.define("block input", b.Inputs); err != nil {
		return err
	}
	if err := checkAttrs(b.Attrs); err != nil {
		return err
	}
	for _, op := range b.Ops {
		if err := s.op(op); err != nil {
			return fmt.Errorf("operation %s at line %d: %w", quoteName(op.Type), op.Line, err)
		}
	}
	for _, o := range b.Outputs {
		if !s.has(o) {
			return fmt.Errorf("output %s is not defined by any operation or input", quoteName(o))
		}
	}
	return nil
}

func (s *scope) op(op *Op) error {
	if op.Type == "" {
		return errors.New("no operation type")
	}
	seen := make(map[string]bool, len(op.Inputs))
	for _, a := range op.Inputs {
		if seen[a.Name] {
			return fmt.Errorf("argument %s is given twice", quoteName(a.Name))
		}
		seen[a.Name] = true
		for _, b := range a.Bindings {
			if b.Value == nil && !s.has(b.Name) {
				return fmt.Errorf("argument %s refers to %s, which is not defined before it", quoteName(a.Name), quoteName(b.Name))
			}
			if err := checkValue(b.Value); err != nil {
				return fmt.Errorf("argument %s: %w", quoteName(a.Name), err)
			}
		}
	}
	if err := checkAttrs(op.Attrs); err != nil {
		return err
	}
	for _, b := range op.Blocks {
		inner := scope{names: map[string]bool{}, parent: s}
		if err := inner.block(b); err != nil {
			return err
		}
	}
	return s.define("output", op.Outputs)
}

func checkAttrs(attrs []Attr) error {
	seen := make(map[string]bool, len(attrs))
	for _, a := range attrs {
		if seen[a.Name] {
			return fmt.Errorf("attribute %s is given twice", quoteName(a.Name))
		}
		seen[a.Name] = true
		if a.Value == nil {
			return fmt.Errorf("attribute %s has no value", quoteName(a.Name))
		}
		if err := checkValue(a.Value); err != nil {
			return fmt.Errorf("attribute %s: %w", quoteName(a.Name), err)
		}
	}
	return nil
}

// checkValue refuses constants whose payload cannot be what their type says.
func checkValue(v *Value) error {
	if v == nil {
		return nil
	}
	if v.Type == nil {
		return errors.New("a constant without a type")
	}
	if v.Type.Kind != TensorKind {
		return nil
	}
	n, err := v.Type.Elements()
	if err != nil {
		return err
	}
	switch {
	case v.Blob != nil:
		if v.Type.DType == String {
			return errors.New("strings cannot live in a weight file")
		}
	case v.Type.DType == String:
		if int64(len(v.Strings)) != n {
			return fmt.Errorf("constant of type %s: expected %d strings, found %d", v.Type, n, len(v.Strings))
		}
	default:
		size, err := PackedSize(v.Type.DType, n)
		if err != nil {
			return err
		}
		if int64(len(v.Data)) != size {
			return fmt.Errorf("constant of type %s: expected %d bytes, found %d", v.Type, size, len(v.Data))
		}
	}
	return nil
}

// checkName wants [A-Za-z_][A-Za-z0-9_@.]*: what MIL.proto allows, and the dot.
func checkName(what, name string) error {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || !(c == '@' || c == '.' || '0' <= c && c <= '9')) {
			return fmt.Errorf("%s %s is not an identifier", what, quoteName(name))
		}
	}
	if name == "" {
		return fmt.Errorf("a %s is empty", what)
	}
	return nil
}

// quoteName keeps outside bytes in messages short and visible.
func quoteName(s string) string {
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return fmt.Sprintf("%q", s)
}
