// Package rewire changes the programs of encoders for tests: Break connects
// something otherwise than it was, and Keep writes the same computation in
// another way. Both work on a copy and follow a seed.
package rewire

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// Clone copies a function's operations, so that the copy may be changed.
func Clone(f *mil.Function) *mil.Function {
	c := *f
	body := *f.Body
	body.Outputs = slices.Clone(f.Body.Outputs)
	body.Ops = nil
	for _, op := range f.Body.Ops {
		o := *op
		o.Inputs, o.Outputs, o.Attrs = nil, slices.Clone(op.Outputs), slices.Clone(op.Attrs)
		for _, a := range op.Inputs {
			a.Bindings = slices.Clone(a.Bindings)
			o.Inputs = append(o.Inputs, a)
		}
		body.Ops = append(body.Ops, &o)
	}
	c.Body = &body
	return &c
}

// use is an operand of an operation that is a tensor of floats.
type use struct {
	op       *mil.Op
	at       int // position of the operation
	arg, nth int
	typ      *mil.Type
	constant bool
}

func (u use) name() string { return u.op.Inputs[u.arg].Bindings[u.nth].Name }
func (u use) set(name string) {
	u.op.Inputs[u.arg].Bindings[u.nth] = mil.Binding{Name: name}
}

func uses(f *mil.Function) []use {
	types, constant := map[string]*mil.Type{}, map[string]bool{}
	for _, p := range f.Params {
		types[p.Name] = p.Type
	}
	var list []use
	for at, op := range f.Body.Ops {
		for i, a := range op.Inputs {
			for n, b := range a.Bindings {
				t := types[b.Name]
				if t.IsTensor() && t.DType.IsFloat() && len(t.Shape) > 0 && op.Type != "const" {
					if e, err := t.Elements(); err == nil && e >= 8 {
						list = append(list, use{op, at, i, n, t, constant[b.Name]})
					}
				}
			}
		}
		for _, o := range op.Outputs {
			types[o.Name], constant[o.Name] = o.Type, op.Type == "const"
		}
	}
	return list
}

// Break gives a copy in which one or two operands are others of their type, and says what was done.
func Break(f *mil.Function, r *rand.Rand) (*mil.Function, string) {
	for {
		c := Clone(f)
		list := uses(c)
		a := list[r.IntN(len(list))]
		b := list[r.IntN(len(list))]
		if a.name() == b.name() || !a.typ.Equal(b.typ) || a.constant != b.constant {
			continue
		}
		if a.constant {
			before := func(x use, name string) bool { return defined(c, name) < x.at }
			x, y := a.name(), b.name()
			if r.IntN(2) == 0 || !before(a, y) || !before(b, x) {
				if !before(a, y) {
					continue
				}
				a.set(y)
				return c, fmt.Sprintf("line %d: %s reads %s for %s", a.op.Line, a.op.Type, y, x)
			}
			a.set(y)
			b.set(x)
			return c, fmt.Sprintf("lines %d and %d: %s and %s exchanged", a.op.Line, b.op.Line, x, y)
		}
		if defined(c, b.name()) >= a.at {
			continue
		}
		x, y := a.name(), b.name()
		a.set(y)
		return c, fmt.Sprintf("line %d: %s takes %s for %s", a.op.Line, a.op.Type, y, x)
	}
}

func defined(f *mil.Function, name string) int {
	return slices.IndexFunc(f.Body.Ops, func(op *mil.Op) bool {
		return slices.ContainsFunc(op.Outputs, func(o mil.Param) bool { return o.Name == name })
	})
}

// Keep gives a copy that computes the same, and says in how many places it was written otherwise.
func Keep(f *mil.Function, r *rand.Rand) (*mil.Function, int) {
	k := &keeper{f: Clone(f), r: r}
	for _, op := range slices.Clone(k.f.Body.Ops) {
		if r.IntN(3) > 0 || len(op.Outputs) != 1 {
			continue
		}
		switch op.Type {
		case "add", "mul":
			k.commute(op)
		case "linear":
			k.spell(op)
		case "const":
			k.double(op)
		default:
			k.pass(op)
		}
	}
	k.reorder()
	k.rename()
	return k.f, k.changes
}

type keeper struct {
	f       *mil.Function
	r       *rand.Rand
	changes int
}

func (k *keeper) fresh() string {
	k.changes++
	return fmt.Sprintf("fresh_%d", k.changes)
}

func (k *keeper) insert(at int, ops ...*mil.Op) {
	k.f.Body.Ops = slices.Insert(k.f.Body.Ops, at, ops...)
}

func (k *keeper) at(op *mil.Op) int { return slices.Index(k.f.Body.Ops, op) }

func (k *keeper) commute(op *mil.Op) {
	for i := range op.Inputs {
		switch op.Inputs[i].Name {
		case "x":
			op.Inputs[i].Name = "y"
		case "y":
			op.Inputs[i].Name = "x"
		}
	}
	k.changes++
}

// spell writes a linear as a product and a sum.
func (k *keeper) spell(op *mil.Op) {
	x, w, b := op.Input("x"), op.Input("weight"), op.Input("bias")
	if x == nil || w == nil || b == nil {
		return
	}
	product := mil.Param{Name: k.fresh(), Type: op.Outputs[0].Type}
	one := func(name string, v mil.Binding) mil.Arg { return mil.Arg{Name: name, Bindings: []mil.Binding{v}} }
	k.insert(k.at(op), &mil.Op{Type: "matmul", Line: op.Line, Outputs: []mil.Param{product}, Inputs: []mil.Arg{
		one("x", x.Bindings[0]), one("y", w.Bindings[0]),
		one("transpose_x", mil.Binding{Value: mil.BoolValue(false)}), one("transpose_y", mil.Binding{Value: mil.BoolValue(true)})}})
	op.Type = "add"
	op.Inputs = []mil.Arg{one("x", mil.Binding{Name: product.Name}), one("y", b.Bindings[0])}
}

// double makes a constant twice, for some of those who read it.
func (k *keeper) double(op *mil.Op) {
	twin := *op
	twin.Outputs = []mil.Param{{Name: k.fresh(), Type: op.Outputs[0].Type}}
	k.insert(k.at(op), &twin)
	k.each(k.at(op), op.Outputs[0].Name, func(b *mil.Binding) {
		if k.r.IntN(2) == 0 {
			b.Name = twin.Outputs[0].Name
		}
	})
}

// pass leads a value through an identity, or through a transposition and back.
func (k *keeper) pass(op *mil.Op) {
	o := op.Outputs[0]
	if !o.Type.IsTensor() || !o.Type.DType.IsFloat() || slices.Contains(k.f.Body.Outputs, o.Name) {
		return
	}
	name := k.fresh()
	through := []*mil.Op{step("identity", op.Line, o.Name, name, o.Type, nil)}
	if len(o.Type.Shape) == 3 && k.r.IntN(2) == 0 {
		turned := mil.TensorOf(o.Type.DType, o.Type.Shape[0], o.Type.Shape[2], o.Type.Shape[1])
		between := k.fresh()
		through = []*mil.Op{step("transpose", op.Line, o.Name, between, turned, mil.Int32sValue(0, 2, 1)), step("transpose", op.Line, between, name, o.Type, mil.Int32sValue(0, 2, 1))}
	}
	at := k.at(op) + 1
	k.each(at, o.Name, func(b *mil.Binding) { b.Name = name })
	k.insert(at, through...)
}

func step(kind string, line int, from, to string, t *mil.Type, perm *mil.Value) *mil.Op {
	op := &mil.Op{Type: kind, Line: line, Outputs: []mil.Param{{Name: to, Type: t}}, Inputs: []mil.Arg{{Name: "x", Bindings: []mil.Binding{{Name: from}}}}}
	if perm != nil {
		op.Inputs = append(op.Inputs, mil.Arg{Name: "perm", Bindings: []mil.Binding{{Value: perm}}})
	}
	return op
}

// each visits the operands of a name from an operation on.
func (k *keeper) each(from int, name string, visit func(*mil.Binding)) {
	for _, op := range k.f.Body.Ops[from:] {
		for i := range op.Inputs {
			for n := range op.Inputs[i].Bindings {
				if op.Inputs[i].Bindings[n].Name == name {
					visit(&op.Inputs[i].Bindings[n])
				}
			}
		}
	}
}

// reorder puts the operations into another order in which all still come after what they read.
func (k *keeper) reorder() {
	made := map[string]bool{}
	for _, p := range k.f.Params {
		made[p.Name] = true
	}
	rest := k.f.Body.Ops
	var done []*mil.Op
	for len(rest) > 0 {
		var ready []int
		for i, op := range rest {
			if len(ready) == 8 {
				break
			}
			if !slices.ContainsFunc(op.Inputs, func(a mil.Arg) bool {
				return slices.ContainsFunc(a.Bindings, func(b mil.Binding) bool { return b.Value == nil && !made[b.Name] })
			}) {
				ready = append(ready, i)
			}
		}
		i := ready[k.r.IntN(len(ready))]
		done = append(done, rest[i])
		for _, o := range rest[i].Outputs {
			made[o.Name] = true
		}
		rest = slices.Delete(slices.Clone(rest), i, i+1)
	}
	k.f.Body.Ops = done
}

// rename gives every value but inputs and outputs a name that says nothing.
func (k *keeper) rename() {
	names := map[string]string{}
	for _, op := range k.f.Body.Ops {
		for i, o := range op.Outputs {
			if !slices.Contains(k.f.Body.Outputs, o.Name) {
				names[o.Name] = fmt.Sprintf("v%d", len(names))
				op.Outputs[i].Name = names[o.Name]
			}
		}
		op.Attrs = slices.DeleteFunc(slices.Clone(op.Attrs), func(a mil.Attr) bool { return a.Name == "name" })
	}
	for _, op := range k.f.Body.Ops {
		for _, a := range op.Inputs {
			for n, b := range a.Bindings {
				if other, ok := names[b.Name]; ok {
					a.Bindings[n].Name = other
				}
			}
		}
	}
}
