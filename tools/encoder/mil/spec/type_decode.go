package spec

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

func (d *decoder) typeField(f field) (*mil.Type, error) {
	b, err := f.bytes()
	if err != nil {
		return nil, err
	}
	return d.valueType(b)
}

func (d *decoder) valueType(b []byte) (*mil.Type, error) {
	var t *mil.Type
	err := d.message(b, func(f field) error {
		if t != nil {
			return fmt.Errorf("a type that is given twice")
		}
		b, err := f.bytes()
		if err != nil {
			return err
		}
		switch f.num {
		case 1:
			t, err = d.tensorType(b)
		case 2:
			t, err = d.compound(mil.ListKind, b)
		case 3:
			t, err = d.compound(mil.TupleKind, b)
		case 4:
			t, err = d.compound(mil.DictKind, b)
		case 5:
			t, err = d.compound(mil.StateKind, b)
		default:
			return fmt.Errorf("unknown kind of type, field %d", f.num)
		}
		return err
	})
	if err == nil && t == nil {
		err = fmt.Errorf("an empty type")
	}
	return t, err
}

func (d *decoder) tensorType(b []byte) (*mil.Type, error) {
	t := &mil.Type{Kind: mil.TensorKind}
	var rank int64
	err := d.message(b, func(f field) (err error) {
		switch f.num {
		case 1:
			var v int64
			v, err = f.int()
			if t.DType = mil.DType(v); err == nil && (int64(t.DType) != v || !t.DType.Valid()) {
				err = fmt.Errorf("unknown element type %d", v)
			}
		case 2:
			rank, err = f.int()
		case 3:
			var n int64
			if n, err = d.dim(f); err == nil && n == variadic {
				t.VariableRank = true
			}
			t.Shape = append(t.Shape, n)
		default:
			d.skip("TensorType", f)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	switch {
	case !t.DType.Valid():
		return nil, fmt.Errorf("a tensor type without element type")
	case rank == -1 && len(t.Shape) == 0:
		t.VariableRank = true
	case rank != int64(len(t.Shape)):
		return nil, fmt.Errorf("a tensor type of rank %d with %d dimensions", rank, len(t.Shape))
	case t.VariableRank && len(t.Shape) != 1:
		return nil, fmt.Errorf("a variadic dimension among %d others", len(t.Shape)-1)
	case t.VariableRank:
		t.Shape = nil
	}
	return t, nil
}

const variadic = int64(-2)

func (d *decoder) dim(f field) (int64, error) {
	b, err := f.bytes()
	if err != nil {
		return 0, err
	}
	size, set := int64(0), false
	err = d.message(b, func(f field) error {
		b, err := f.bytes()
		if err != nil {
			return err
		}
		if set || f.num != 1 && f.num != 2 {
			return fmt.Errorf("a dimension with unexpected field %d", f.num)
		}
		set = true
		if f.num == 2 {
			size = mil.Unknown
		}
		return d.message(b, func(g field) error {
			v, err := g.int()
			switch {
			case g.num != 1:
				d.skip("Dimension", g)
			case f.num == 2 && v != 0:
				size = variadic
			case f.num == 1:
				size = v
				if v < 0 {
					return fmt.Errorf("a dimension above the signed 64-bit range")
				}
			}
			return err
		})
	})
	if err == nil && !set {
		err = fmt.Errorf("an empty dimension")
	}
	return size, err
}

// compound decodes list, tuple, dictionary and state types: field 1 (and for
// dictionaries 2) are types; field 2 of a list is its length.
func (d *decoder) compound(kind mil.Kind, b []byte) (*mil.Type, error) {
	t := &mil.Type{Kind: kind}
	err := d.message(b, func(f field) (err error) {
		if kind == mil.ListKind && f.num == 2 {
			if t.Length, err = d.dim(f); t.Length == variadic {
				t.Length = mil.Unknown
			}
			return err
		}
		it, err := d.typeField(f)
		switch {
		case err != nil:
		case kind == mil.TupleKind && f.num == 1:
			t.Items = append(t.Items, it)
		case kind == mil.DictKind && f.num == 1:
			t.Key = it
		case kind == mil.DictKind && f.num == 2:
			t.Val = it
		case f.num == 1:
			t.Elem = it
		default:
			err = fmt.Errorf("unexpected field %d in a type", f.num)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	missing := (kind == mil.ListKind || kind == mil.StateKind) && t.Elem == nil ||
		kind == mil.DictKind && (t.Key == nil || t.Val == nil)
	if missing {
		return nil, fmt.Errorf("a compound type without its element types")
	}
	return t, nil
}
