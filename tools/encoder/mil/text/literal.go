package text

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/half"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// typedValue parses T "(" lit ")".
func (p *parser) typedValue() (*mil.Value, error) {
	t, err := p.typ()
	if err != nil {
		return nil, err
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	v, err := p.literal(t, false)
	if err != nil {
		return nil, err
	}
	return v, p.expect(")")
}

// literal parses a literal of type t. Inside a container (nested), a tensor
// type may leave dimensions open; the literal settles them.
func (p *parser) literal(t *mil.Type, nested bool) (*mil.Value, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if p.isWord("BLOBFILE") {
		return p.blobFile(t)
	}
	v := &mil.Value{Type: t}
	switch t.Kind {
	case mil.TensorKind:
		return p.tensorLiteral(t, nested)
	case mil.ListKind:
		err := p.list("[", "]", func() error {
			it, err := p.literal(t.Elem, true)
			v.Items = append(v.Items, it)
			return err
		})
		if err == nil && t.Length != mil.Unknown && int64(len(v.Items)) != t.Length {
			return nil, p.errorf("list: expected %d elements, found %d", t.Length, len(v.Items))
		}
		return v, err
	case mil.TupleKind:
		err := p.list("(", ")", func() error {
			if len(v.Items) == len(t.Items) {
				return p.errorf("tuple: more than the %d elements of its type", len(t.Items))
			}
			it, err := p.literal(t.Items[len(v.Items)], true)
			v.Items = append(v.Items, it)
			return err
		})
		if err == nil && len(v.Items) != len(t.Items) {
			return nil, p.errorf("tuple: expected %d elements, found %d", len(t.Items), len(v.Items))
		}
		return v, err
	case mil.DictKind:
		return v, p.list("{", "}", func() error { return p.pair(v) })
	}
	return nil, p.errorf("a constant cannot have type %s", t)
}

func (p *parser) pair(v *mil.Value) error {
	if err := p.expect("{"); err != nil {
		return err
	}
	key, err := p.literal(v.Type.Key, true)
	if err != nil {
		return err
	}
	if err := p.expect(","); err != nil {
		return err
	}
	val, err := p.literal(v.Type.Val, true)
	if err != nil {
		return err
	}
	v.Pairs = append(v.Pairs, mil.Pair{Key: key, Val: val})
	return p.expect("}")
}

func (p *parser) blobFile(t *mil.Type) (*mil.Value, error) {
	if !t.Static() {
		return nil, p.errorf("BLOBFILE: expected a tensor type of fixed shape, found %s", t)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	ref := &mil.BlobRef{}
	var havePath, haveOffset bool
	err := p.list("(", ")", func() error {
		key, err := p.ident("path or offset")
		if err != nil {
			return err
		}
		if err := p.expect("="); err != nil {
			return err
		}
		at := p.tok
		v, err := p.typedValue()
		if err != nil {
			return err
		}
		switch {
		case key == "path" && !havePath:
			ref.Path, havePath = v.AsString()
		case key == "offset" && !haveOffset:
			ns, err := v.AsInts()
			if err == nil && len(ns) == 1 && ns[0] >= 0 {
				ref.Offset, haveOffset = uint64(ns[0]), true
			}
		default:
			return p.lex.errorf(at.line, at.col, "BLOBFILE: unexpected or repeated %q", clip(key))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !havePath || !haveOffset {
		return nil, p.errorf("BLOBFILE: expected path as one string and offset as one whole number from 0")
	}
	return &mil.Value{Type: t, Blob: ref}, nil
}

// tensorLiteral parses nested brackets around scalars. One flat buffer is
// filled; the extents that the brackets show must agree with the type.
func (p *parser) tensorLiteral(t *mil.Type, nested bool) (*mil.Value, error) {
	if t.VariableRank || !nested && !t.Static() {
		return nil, p.errorf("a constant tensor needs a fixed shape, found %s", t)
	}
	if len(t.Shape) > maxDepth {
		return nil, p.errorf("constant of rank %d, the limit is %d", len(t.Shape), maxDepth)
	}
	b := tensorBuilder{p: p, t: t, seen: make([]int64, len(t.Shape))}
	for i := range b.seen {
		b.seen[i] = mil.Unknown
	}
	if err := b.level(0); err != nil {
		return nil, err
	}
	shape := make([]int64, len(t.Shape))
	for i, want := range t.Shape {
		got := max(b.seen[i], 0)
		if b.seen[i] == mil.Unknown && want != mil.Unknown {
			got = want // below an empty level nothing is written
		}
		if want != mil.Unknown && got != want {
			return nil, p.errorf("constant of type %s: dimension %d has %d elements", t, i, got)
		}
		shape[i] = got
	}
	v := &mil.Value{Type: mil.TensorOf(t.DType, shape...), Data: b.data, Strings: b.strs}
	n, err := v.Type.Elements()
	if err != nil {
		return nil, p.errorf("%v", err)
	}
	if n != b.n {
		return nil, p.errorf("constant of type %s: expected %d elements, found %d", v.Type, n, b.n)
	}
	return v, nil
}

type tensorBuilder struct {
	p    *parser
	t    *mil.Type
	seen []int64 // extents found so far
	data []byte
	strs []string
	n    int64
}

func (b *tensorBuilder) level(i int) error {
	if i == len(b.t.Shape) {
		return b.scalar()
	}
	var n int64
	err := b.p.list("[", "]", func() error {
		n++
		return b.level(i + 1)
	})
	if err != nil {
		return err
	}
	if b.seen[i] != mil.Unknown && b.seen[i] != n {
		return b.p.errorf("constant of type %s: rows of %d and of %d elements", b.t, b.seen[i], n)
	}
	b.seen[i] = n
	return nil
}

func (b *tensorBuilder) scalar() error {
	p, d, tok := b.p, b.t.DType, b.p.tok
	b.n++
	switch {
	case d == mil.String:
		if tok.kind != tokString {
			return p.errorf("expected a string, found %s", tok.describe())
		}
		if err := p.node(); err != nil {
			return err
		}
		b.strs = append(b.strs, strings.Clone(tok.text))
	case d == mil.Bool:
		switch {
		case p.isWord("true"):
			b.data = append(b.data, 1)
		case p.isWord("false"):
			b.data = append(b.data, 0)
		default:
			return p.errorf("expected true or false, found %s", tok.describe())
		}
	case d.IsFloat():
		if err := b.float(d, tok); err != nil {
			return err
		}
	case d.IsInt():
		if err := b.int(d, tok); err != nil {
			return err
		}
	default:
		return p.errorf("a literal of type %s is not known", d)
	}
	return p.advance()
}

func (b *tensorBuilder) float(d mil.DType, tok token) error {
	if tok.kind != tokNumber && tok.kind != tokIdent {
		return b.p.errorf("expected a number of type %s, found %s", d, tok.describe())
	}
	bits := 64
	if d == mil.Float32 {
		bits = 32
	}
	x, err := strconv.ParseFloat(tok.text, bits)
	if err != nil || strings.Contains(tok.text, "_") {
		return b.p.errorf("expected a number of type %s, found %s", d, tok.describe())
	}
	le := binary.LittleEndian
	switch d {
	case mil.Float16:
		b.data = le.AppendUint16(b.data, half.FromFloat64(x))
	case mil.Float32:
		b.data = le.AppendUint32(b.data, math.Float32bits(float32(x)))
	case mil.Float64:
		b.data = le.AppendUint64(b.data, math.Float64bits(x))
	default:
		return b.p.errorf("a literal of type %s is not known", d)
	}
	return nil
}

func (b *tensorBuilder) int(d mil.DType, tok token) error {
	bits := d.Bits()
	var raw uint64
	var err error
	if d.IsSigned() {
		var i int64
		i, err = strconv.ParseInt(tok.text, 0, bits)
		raw = uint64(i)
	} else {
		raw, err = strconv.ParseUint(tok.text, 0, bits)
	}
	if tok.kind != tokNumber || err != nil {
		return b.p.errorf("expected a whole number that fits %s, found %s", d, tok.describe())
	}
	b.data = mil.AppendInt(b.data, d, b.n-1, raw)
	return nil
}
