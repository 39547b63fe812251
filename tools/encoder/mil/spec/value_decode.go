package spec

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

func (d *decoder) value(b []byte) (*mil.Value, error) {
	v := &mil.Value{}
	var imm []byte
	set := 0
	err := d.message(b, func(f field) (err error) {
		switch f.num {
		case 1:
			v.Doc, err = f.str()
		case 2:
			if v.Type != nil {
				return fmt.Errorf("a constant with two types")
			}
			v.Type, err = d.typeField(f)
		case 3:
			set++
			imm, err = f.bytes()
		case 5:
			set++
			var bb []byte
			if bb, err = f.bytes(); err == nil {
				v.Blob, err = d.blobRef(bb)
			}
		default:
			d.skip("Value", f)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case v.Type == nil:
		return nil, fmt.Errorf("a constant without a type")
	case set != 1:
		return nil, fmt.Errorf("a constant with %d values: expected an immediate or a blob", set)
	case v.Blob != nil:
		return v, nil
	}
	return v, d.immediate(v, imm)
}

func (d *decoder) blobRef(b []byte) (*mil.BlobRef, error) {
	r := &mil.BlobRef{}
	err := d.message(b, func(f field) (err error) {
		switch f.num {
		case 1:
			r.Path, err = f.str()
		case 2:
			var v int64
			v, err = f.int()
			r.Offset = uint64(v)
		default:
			d.skip("BlobFileValue", f)
		}
		return err
	})
	return r, err
}

var immediateKinds = map[protowire.Number]mil.Kind{1: mil.TensorKind, 2: mil.TupleKind, 3: mil.ListKind, 4: mil.DictKind}

func (d *decoder) immediate(v *mil.Value, b []byte) error {
	set := false
	err := d.message(b, func(f field) error {
		kind, ok := immediateKinds[f.num]
		if !ok || set {
			return fmt.Errorf("a constant of type %s with unexpected value field %d", v.Type, f.num)
		}
		set = true
		if kind != v.Type.Kind {
			return fmt.Errorf("a constant of type %s holds another kind of value (field %d)", v.Type, f.num)
		}
		vb, err := f.bytes()
		if err != nil {
			return err
		}
		if kind == mil.TensorKind {
			return d.tensor(v, vb)
		}
		return d.message(vb, func(f field) error {
			if f.num != 1 {
				return fmt.Errorf("unexpected field %d in a compound constant", f.num)
			}
			return d.element(v, kind, f)
		})
	})
	if err == nil && !set {
		err = fmt.Errorf("a constant of type %s has an empty value", v.Type)
	}
	return err
}

// element decodes one element of a tuple or list, or one pair of a dictionary.
func (d *decoder) element(v *mil.Value, kind mil.Kind, f field) error {
	b, err := f.bytes()
	if err != nil {
		return err
	}
	if kind != mil.DictKind {
		it, err := d.value(b)
		v.Items = append(v.Items, it)
		return err
	}
	var pair mil.Pair
	err = d.message(b, func(f field) error {
		b, err := f.bytes()
		if err != nil {
			return err
		}
		it, err := d.value(b)
		switch f.num {
		case 1:
			pair.Key = it
		case 2:
			pair.Val = it
		}
		return err
	})
	if err == nil && (pair.Key == nil || pair.Val == nil) {
		err = fmt.Errorf("a dictionary entry without key or value")
	}
	v.Pairs = append(v.Pairs, pair)
	return err
}

// tensor decodes a TensorValue into packed bytes of the type's own width.
func (d *decoder) tensor(v *mil.Value, b []byte) error {
	set := false
	err := d.message(b, func(f field) error {
		if set {
			return fmt.Errorf("a tensor constant with two values")
		}
		set = true
		vb, err := f.bytes()
		if err != nil {
			return err
		}
		return d.message(vb, func(g field) error {
			if g.num != 1 {
				return fmt.Errorf("unexpected field %d in a tensor constant", g.num)
			}
			return d.elements(v, f.num, g)
		})
	})
	if err == nil && !set {
		err = fmt.Errorf("a constant of type %s has no elements field", v.Type)
	}
	return err
}

// integers appends the integers of a field; narrow ones are 32 bits wide.
func integers(v *mil.Value, f field, narrow bool) error {
	dt, n := v.Type.DType, int64(0)
	if bits := int64(dt.Bits()); len(v.Data) > 0 {
		n = int64(len(v.Data)) * 8 / bits
	}
	return numbers(f, protowire.VarintType, func(u uint64) error {
		if narrow {
			u = uint64(int64(int32(u)))
		}
		if !fits(dt, int64(u)) {
			return fmt.Errorf("a constant of type %s: %d does not fit", v.Type, int64(u))
		}
		v.Data = mil.AppendInt(v.Data, dt, n, u)
		n++
		return nil
	})
}

// elements appends what one "values" field of TensorValue's member num holds.
func (d *decoder) elements(v *mil.Value, num protowire.Number, f field) error {
	dt := v.Type.DType
	mismatch := func() error { return fmt.Errorf("a constant of type %s with elements in field %d", v.Type, num) }
	le := binary.LittleEndian
	switch num {
	case 1: // floats
		if dt != mil.Float32 {
			return mismatch()
		}
		return numbers(f, protowire.Fixed32Type, func(u uint64) error {
			v.Data = le.AppendUint32(v.Data, uint32(u))
			return nil
		})
	case 6: // doubles
		if dt != mil.Float64 {
			return mismatch()
		}
		return numbers(f, protowire.Fixed64Type, func(u uint64) error {
			v.Data = le.AppendUint64(v.Data, u)
			return nil
		})
	case 2, 5: // ints, longInts
		if !dt.IsInt() {
			return mismatch()
		}
		return integers(v, f, num == 2)
	case 3: // bools
		if dt != mil.Bool {
			return mismatch()
		}
		return numbers(f, protowire.VarintType, func(u uint64) error {
			v.Data = append(v.Data, byte(min(u, 1)))
			return nil
		})
	case 4: // strings: arbitrary bytes
		if dt != mil.String {
			return mismatch()
		}
		b, err := f.bytes()
		if d.nodes++; err == nil && d.nodes > maxNodes {
			err = fmt.Errorf("more than %d values, the limit", maxNodes)
		}
		v.Strings = append(v.Strings, string(b))
		return err
	case 7: // bytes: the elements as they lie in memory
		b, err := f.bytes()
		if dt == mil.String || dt == mil.Bool || len(v.Data) > 0 {
			return mismatch()
		}
		v.Data = append(v.Data, b...)
		return err
	}
	return fmt.Errorf("a constant of type %s with elements in unknown field %d", v.Type, num)
}

// fits reports whether x, read as signed, is a number of type dt. Uint64
// travels in longInts as its two's complement, and any bits will do.
func fits(dt mil.DType, x int64) bool {
	bits := uint(dt.Bits())
	if bits >= 64 {
		return true
	}
	if dt.IsSigned() {
		return x>>(bits-1) == 0 || x>>(bits-1) == -1
	}
	return x>>bits == 0 || dt == mil.Uint32 && x == int64(int32(x))
}
