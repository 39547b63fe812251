package spec

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// DecodeProgram decodes a MILSpec.Program and checks that its names agree.
// Maps come out sorted by key. The result does not share memory with b.
func DecodeProgram(b []byte) (*mil.Program, error) {
	d := &decoder{}
	p, err := d.program(b)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (d *decoder) program(b []byte) (*mil.Program, error) {
	if len(b) > MaxProgram {
		return nil, fmt.Errorf("program of %d bytes, the limit is %d", len(b), MaxProgram)
	}
	p := &mil.Program{}
	err := d.message(b, func(f field) (err error) {
		switch f.num {
		case 1:
			var v int64
			if v, err = f.int(); err == nil && (v < 0 || v > math.MaxInt32) {
				err = fmt.Errorf("program version %d", v)
			}
			p.Major = int(v)
		case 2:
			var fn *mil.Function
			if fn, err = d.function(f); err == nil {
				p.Functions = append(p.Functions, fn)
			}
		case 3:
			p.Doc, err = f.str()
		case 4:
			err = d.attr(&p.Attrs, f)
		default:
			d.skip("Program", f)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(p.Functions, func(a, b *mil.Function) int { return cmp.Compare(a.Name, b.Name) })
	sortAttrs(p.Attrs)
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p, nil
}

func sortAttrs(attrs []mil.Attr) {
	slices.SortStableFunc(attrs, func(a, b mil.Attr) int { return cmp.Compare(a.Name, b.Name) })
}

func (d *decoder) attr(attrs *[]mil.Attr, f field) error {
	name, b, err := d.mapEntry(f)
	if err != nil {
		return err
	}
	v, err := d.value(b)
	if err != nil {
		return fmt.Errorf("attribute %q: %w", name, err)
	}
	*attrs = append(*attrs, mil.Attr{Name: name, Value: v})
	return nil
}

func (d *decoder) function(f field) (*mil.Function, error) {
	name, b, err := d.mapEntry(f)
	if err != nil {
		return nil, err
	}
	fn := &mil.Function{Name: name}
	var bodies []mil.Specialization
	err = d.message(b, func(f field) (err error) {
		switch f.num {
		case 1:
			err = d.param(&fn.Params, f)
		case 2:
			fn.Opset, err = f.str()
		case 3:
			var s mil.Specialization
			if s, err = d.specialization(f); err == nil {
				bodies = append(bodies, s)
			}
		case 4:
			err = d.attr(&fn.Attrs, f)
		default:
			d.skip("Function", f)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("function %q: %w", name, err)
	}
	sortAttrs(fn.Attrs)
	slices.SortStableFunc(bodies, func(a, b mil.Specialization) int { return cmp.Compare(a.Opset, b.Opset) })
	for i, s := range bodies {
		if i > 0 && bodies[i-1].Opset == s.Opset {
			return nil, fmt.Errorf("function %q: two bodies for opset %q", name, s.Opset)
		}
		if s.Opset == fn.Opset {
			fn.Body = s.Body
		} else {
			fn.Others = append(fn.Others, s)
		}
	}
	return fn, nil
}

func (d *decoder) specialization(f field) (mil.Specialization, error) {
	opset, b, err := d.mapEntry(f)
	if err != nil {
		return mil.Specialization{}, err
	}
	body, err := d.block(b)
	return mil.Specialization{Opset: opset, Body: body}, err
}

func (d *decoder) param(ps *[]mil.Param, f field) error {
	b, err := f.bytes()
	if err != nil {
		return err
	}
	var p mil.Param
	err = d.message(b, func(f field) (err error) {
		switch f.num {
		case 1:
			p.Name, err = f.str()
		case 2:
			p.Type, err = d.typeField(f)
		default:
			d.skip("NamedValueType", f)
		}
		return err
	})
	*ps = append(*ps, p)
	return err
}

func (d *decoder) block(b []byte) (*mil.Block, error) {
	blk := &mil.Block{}
	err := d.message(b, func(f field) (err error) {
		switch f.num {
		case 1:
			err = d.param(&blk.Inputs, f)
		case 2:
			var name string
			name, err = f.str()
			blk.Outputs = append(blk.Outputs, name)
		case 3:
			var op *mil.Op
			if op, err = d.op(f); err != nil {
				return fmt.Errorf("operation %d: %w", len(blk.Ops)+1, err)
			}
			op.Line = len(blk.Ops) + 1
			blk.Ops = append(blk.Ops, op)
		case 4:
			err = d.attr(&blk.Attrs, f)
		default:
			d.skip("Block", f)
		}
		return err
	})
	sortAttrs(blk.Attrs)
	return blk, err
}

func (d *decoder) op(f field) (*mil.Op, error) {
	b, err := f.bytes()
	if err != nil {
		return nil, err
	}
	op := &mil.Op{}
	err = d.message(b, func(f field) (err error) {
		switch f.num {
		case 1:
			op.Type, err = f.str()
		case 2:
			var a mil.Arg
			if a, err = d.arg(f); err == nil {
				op.Inputs = append(op.Inputs, a)
			}
		case 3:
			err = d.param(&op.Outputs, f)
		case 4:
			var nb []byte
			if nb, err = f.bytes(); err == nil {
				var blk *mil.Block
				blk, err = d.block(nb)
				op.Blocks = append(op.Blocks, blk)
			}
		case 5:
			err = d.attr(&op.Attrs, f)
		default:
			d.skip("Operation", f)
		}
		return err
	})
	slices.SortStableFunc(op.Inputs, func(a, b mil.Arg) int { return cmp.Compare(a.Name, b.Name) })
	sortAttrs(op.Attrs)
	return op, err
}

func (d *decoder) arg(f field) (mil.Arg, error) {
	name, b, err := d.mapEntry(f)
	if err != nil {
		return mil.Arg{}, err
	}
	a := mil.Arg{Name: name}
	err = d.message(b, func(f field) error {
		if f.num != 1 {
			d.skip("Argument", f)
			return nil
		}
		bind, err := d.binding(f)
		a.Bindings = append(a.Bindings, bind)
		return err
	})
	a.Variadic = len(a.Bindings) != 1
	if err != nil {
		return a, fmt.Errorf("argument %q: %w", name, err)
	}
	return a, nil
}

func (d *decoder) binding(f field) (mil.Binding, error) {
	b, err := f.bytes()
	if err != nil {
		return mil.Binding{}, err
	}
	var bind mil.Binding
	set := 0
	err = d.message(b, func(f field) (err error) {
		switch f.num {
		case 1:
			set++
			bind.Name, err = f.str()
		case 2:
			set++
			var vb []byte
			if vb, err = f.bytes(); err == nil {
				bind.Value, err = d.value(vb)
			}
		default:
			d.skip("Binding", f)
		}
		return err
	})
	if err == nil && set != 1 {
		err = fmt.Errorf("a binding with %d values: expected a name or a constant", set)
	}
	return bind, err
}
