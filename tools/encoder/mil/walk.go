package mil

// EachValue calls fn for every constant of the program, nested ones after
// those that hold them.
func (p *Program) EachValue(fn func(*Value)) {
	eachAttr(p.Attrs, fn)
	for _, f := range p.Functions {
		eachAttr(f.Attrs, fn)
		f.Body.eachValue(fn)
		for _, o := range f.Others {
			o.Body.eachValue(fn)
		}
	}
}

// EachOp calls fn for every operation of the block and of blocks within it.
func (b *Block) EachOp(fn func(*Op)) {
	if b == nil {
		return
	}
	for _, op := range b.Ops {
		fn(op)
		for _, inner := range op.Blocks {
			inner.EachOp(fn)
		}
	}
}

func (b *Block) eachValue(fn func(*Value)) {
	if b == nil {
		return
	}
	eachAttr(b.Attrs, fn)
	for _, op := range b.Ops {
		for _, a := range op.Inputs {
			for _, bind := range a.Bindings {
				bind.Value.each(fn)
			}
		}
		eachAttr(op.Attrs, fn)
		for _, inner := range op.Blocks {
			inner.eachValue(fn)
		}
	}
}

func eachAttr(attrs []Attr, fn func(*Value)) {
	for _, a := range attrs {
		a.Value.each(fn)
	}
}

func (v *Value) each(fn func(*Value)) {
	if v == nil {
		return
	}
	fn(v)
	for _, it := range v.Items {
		it.each(fn)
	}
	for _, kv := range v.Pairs {
		kv.Key.each(fn)
		kv.Val.each(fn)
	}
}
