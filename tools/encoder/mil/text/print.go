package text

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/half"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

const (
	funcIndent = "    "
	opIndent   = "            "
	endIndent  = "        "
)

// Write prints p as Apple's compiler would: program 1.0 or 1.3, chosen by
// p.Major and p.Minor. It refuses what the text form cannot hold: nested
// blocks, specialisations for other opsets, block attributes.
func Write(w io.Writer, p *mil.Program) error {
	pr := &printer{w: bufio.NewWriter(w)}
	switch {
	case p.Major == 1 && p.Minor == 3:
		pr.plain = true
	case p.Major == 1 && p.Minor == 0:
	default:
		return fmt.Errorf("program version %d.%d: expected 1.0 or 1.3", p.Major, p.Minor)
	}
	pr.printf("program(%d.%d)\n", p.Major, p.Minor)
	if len(p.Attrs) > 0 {
		pr.attrs(p.Attrs)
		pr.str("\n")
	}
	pr.str("{\n")
	for _, f := range p.Functions {
		if err := pr.function(f); err != nil {
			return fmt.Errorf("function %s: %w", f.Name, err)
		}
	}
	pr.str("}")
	if pr.err != nil {
		return pr.err
	}
	return pr.w.Flush()
}

// printer keeps the first error; bufio keeps those of the writer.
type printer struct {
	w     *bufio.Writer
	plain bool // program 1.3: scalars without tensor<…, []>
	err   error
}

func (p *printer) str(s string) { p.w.WriteString(s) }

func (p *printer) printf(f string, args ...any) { fmt.Fprintf(p.w, f, args...) }

func (p *printer) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *printer) function(f *mil.Function) error {
	if len(f.Others) > 0 {
		return fmt.Errorf("%d bodies for other opsets than %s have no text form", len(f.Others), f.Opset)
	}
	if f.Body == nil || len(f.Body.Inputs) > 0 || len(f.Body.Attrs) > 0 {
		return fmt.Errorf("a body with inputs or attributes of its own has no text form")
	}
	p.printf("%sfunc %s<%s>(", funcIndent, f.Name, f.Opset)
	p.params(f.Params)
	p.str(")")
	if len(f.Attrs) > 0 {
		p.str(" ")
		p.attrs(f.Attrs)
	}
	p.str(" {\n")
	for _, op := range f.Body.Ops {
		if len(op.Blocks) > 0 {
			return fmt.Errorf("operation %s (%d): nested blocks have no known text form", op.Type, op.Line)
		}
		p.op(op)
	}
	p.printf("%s} -> (%s);\n", endIndent, strings.Join(f.Body.Outputs, ", "))
	return p.err
}

func (p *printer) params(ps []mil.Param) {
	for i, prm := range ps {
		if i > 0 {
			p.str(", ")
		}
		p.typ(prm.Type)
		p.str(" ")
		p.str(prm.Name)
	}
}

func (p *printer) op(op *mil.Op) {
	p.str(opIndent)
	p.params(op.Outputs)
	if len(op.Outputs) > 0 {
		p.str(" = ")
	}
	p.str(op.Type)
	p.str("(")
	for i, a := range op.Inputs {
		if i > 0 {
			p.str(", ")
		}
		p.str(a.Name)
		p.str(" = ")
		p.arg(a)
	}
	p.str(")")
	if len(op.Attrs) > 0 {
		p.attrs(op.Attrs)
	}
	p.str(";\n")
}

func (p *printer) arg(a mil.Arg) {
	many := a.Variadic || len(a.Bindings) != 1
	if many {
		p.str("(")
	}
	for i, b := range a.Bindings {
		if i > 0 {
			p.str(", ")
		}
		if b.Value != nil {
			p.value(b.Value)
		} else {
			p.str(b.Name)
		}
	}
	if many {
		p.str(")")
	}
}

func (p *printer) attrs(attrs []mil.Attr) {
	p.str("[")
	for i, a := range attrs {
		if i > 0 {
			p.str(", ")
		}
		p.str(a.Name)
		p.str(" = ")
		p.value(a.Value)
	}
	p.str("]")
}

func (p *printer) typ(t *mil.Type) {
	var b strings.Builder
	t.Format(&b, p.plain)
	p.str(b.String())
}

func (p *printer) value(v *mil.Value) {
	p.typ(v.Type)
	p.str("(")
	p.literal(v)
	p.str(")")
}

func (p *printer) literal(v *mil.Value) {
	if v.Blob != nil {
		p.str("BLOBFILE(path = ")
		p.value(mil.StringValue(v.Blob.Path))
		p.str(", offset = ")
		p.value(&mil.Value{Type: mil.TensorOf(mil.Uint64), Data: binary.LittleEndian.AppendUint64(nil, v.Blob.Offset)})
		p.str(")")
		return
	}
	switch v.Type.Kind {
	case mil.TensorKind:
		p.tensor(v)
	case mil.ListKind:
		p.items("[", v.Items, "]")
	case mil.TupleKind:
		p.items("(", v.Items, ")")
	case mil.DictKind:
		p.str("{")
		for i, kv := range v.Pairs {
			if i > 0 {
				p.str(", ")
			}
			p.items("{", []*mil.Value{kv.Key, kv.Val}, "}")
		}
		p.str("}")
	default:
		p.fail("a constant of type %s has no text form", v.Type)
	}
}

func (p *printer) items(open string, vs []*mil.Value, close string) {
	p.str(open)
	for i, v := range vs {
		if i > 0 {
			p.str(", ")
		}
		p.literal(v)
	}
	p.str(close)
}

func (p *printer) tensor(v *mil.Value) {
	n, err := v.Type.Elements()
	if err != nil {
		p.fail("%w", err)
		return
	}
	elem, err := elements(v, n)
	if err != nil {
		p.fail("%w", err)
		return
	}
	next := 0
	p.level(v.Type.Shape, func() {
		p.str(elem(next))
		next++
	})
}

func (p *printer) level(shape []int64, scalar func()) {
	if len(shape) == 0 {
		scalar()
		return
	}
	p.str("[")
	for i := range shape[0] {
		if i > 0 {
			p.str(", ")
		}
		p.level(shape[1:], scalar)
	}
	p.str("]")
}

// elements returns the spelling of each of a tensor's n elements.
func elements(v *mil.Value, n int64) (func(int) string, error) {
	d := v.Type.DType
	if d == mil.String {
		if int64(len(v.Strings)) != n {
			return nil, fmt.Errorf("constant of type %s: expected %d strings, found %d", v.Type, n, len(v.Strings))
		}
		return func(i int) string { return quote(v.Strings[i]) }, nil
	}
	size, err := mil.PackedSize(d, n)
	if err != nil {
		return nil, err
	}
	if int64(len(v.Data)) != size {
		return nil, fmt.Errorf("constant of type %s: expected %d bytes, found %d", v.Type, size, len(v.Data))
	}
	le := binary.LittleEndian
	switch d {
	case mil.Float16:
		return func(i int) string { return hexFloat(float64(half.ToFloat32(le.Uint16(v.Data[2*i:])))) }, nil
	case mil.Float32:
		return func(i int) string { return hexFloat(float64(math.Float32frombits(le.Uint32(v.Data[4*i:])))) }, nil
	case mil.Float64:
		return func(i int) string { return hexFloat(math.Float64frombits(le.Uint64(v.Data[8*i:]))) }, nil
	case mil.Uint64:
		return func(i int) string { return strconv.FormatUint(le.Uint64(v.Data[8*i:]), 10) }, nil
	case mil.Bool:
		return func(i int) string { return strconv.FormatBool(v.Data[i] != 0) }, nil
	}
	if !d.IsInt() {
		return nil, fmt.Errorf("constant of type %s has no known text form", v.Type)
	}
	ints, err := mil.DecodeInts(v.Type, v.Data)
	if err != nil {
		return nil, err
	}
	return func(i int) string { return strconv.FormatInt(ints[i], 10) }, nil
}

// hexFloat spells x like C's %a: 0x1.5p-17, 0x0p+0, inf, nan.
func hexFloat(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	case math.IsNaN(x):
		return "nan"
	}
	s := strconv.FormatFloat(x, 'x', -1, 64)
	mant, exp, _ := strings.Cut(s, "p")
	digits := strings.TrimLeft(exp[1:], "0")
	if digits == "" {
		digits = "0"
	}
	return mant + "p" + exp[:1] + digits
}

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\r':
			b.WriteString(`\r`)
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
