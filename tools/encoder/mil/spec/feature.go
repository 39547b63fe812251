package spec

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

func (d *decoder) feature(fs *[]Feature, f field) error {
	b, err := f.bytes()
	if err != nil {
		return err
	}
	var ft Feature
	err = d.message(b, func(f field) (err error) {
		switch f.num {
		case 1:
			ft.Name, err = f.str()
		case 2:
			ft.Doc, err = f.str()
		case 3:
			var tb []byte
			if tb, err = f.bytes(); err == nil {
				err = d.featureType(&ft, tb)
			}
		default:
			d.skip("FeatureDescription", f)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("feature %q: %w", ft.Name, err)
	}
	*fs = append(*fs, ft)
	return nil
}

func (d *decoder) featureType(ft *Feature, b []byte) error {
	return d.message(b, func(f field) (err error) {
		switch {
		case f.num == 1000:
			ft.Optional, err = f.bool()
			return err
		case f.num < 1 || f.num > 8:
			d.skip("FeatureType", f)
			return nil
		case ft.Kind != NoFeature:
			return fmt.Errorf("two types (fields %d and %d)", ft.Kind, f.num)
		}
		ft.Kind = FeatureKind(f.num)
		tb, err := f.bytes()
		if err != nil {
			return err
		}
		switch ft.Kind {
		case MultiArrayFeature:
			ft.Array, err = d.array(tb)
		case StateFeature:
			err = d.message(tb, func(f field) error {
				if f.num != 1 {
					d.skip("StateFeatureType", f)
					return nil
				}
				ab, err := f.bytes()
				if err == nil {
					ft.Array, err = d.array(ab)
				}
				return err
			})
		default:
			ft.raw = slices.Clone(tb)
		}
		return err
	})
}

func (d *decoder) array(b []byte) (*Array, error) {
	a := &Array{}
	err := d.message(b, func(f field) (err error) {
		switch f.num {
		case 1:
			err = d.extents(&a.Shape, f)
		case 2:
			var v int64
			v, err = f.int()
			a.DType = ArrayDType(v)
		case 21:
			a.Enumerated, err = d.shapes(f)
		case 31:
			a.Ranges, err = d.ranges(f)
		case 41, 51, 61:
			a.HasDefault = true
		default:
			d.skip("ArrayFeatureType", f)
		}
		return err
	})
	return a, err
}

// extents appends a repeated int64 field. Every element counts as a node.
func (d *decoder) extents(shape *[]int64, f field) error {
	return numbers(f, protowire.VarintType, func(u uint64) error {
		if d.nodes++; d.nodes > maxNodes {
			return fmt.Errorf("more than %d numbers, the limit", maxNodes)
		}
		*shape = append(*shape, int64(u))
		return nil
	})
}

func (d *decoder) shapes(f field) ([][]int64, error) {
	b, err := f.bytes()
	if err != nil {
		return nil, err
	}
	shapes := [][]int64{} // not nil: even an empty list makes the shape flexible
	err = d.message(b, func(f field) error {
		if f.num != 1 {
			d.skip("EnumeratedShapes", f)
			return nil
		}
		sb, err := f.bytes()
		if err != nil {
			return err
		}
		var shape []int64
		err = d.message(sb, func(f field) error {
			if f.num != 1 {
				d.skip("Shape", f)
				return nil
			}
			return d.extents(&shape, f)
		})
		shapes = append(shapes, shape)
		return err
	})
	return shapes, err
}

func (d *decoder) ranges(f field) ([]Range, error) {
	b, err := f.bytes()
	if err != nil {
		return nil, err
	}
	ranges := []Range{}
	err = d.message(b, func(f field) error {
		if f.num != 1 {
			d.skip("ShapeRange", f)
			return nil
		}
		rb, err := f.bytes()
		if err != nil {
			return err
		}
		var r Range
		err = d.message(rb, func(f field) (err error) {
			switch f.num {
			case 1:
				r.Lower, err = f.int()
			case 2:
				r.Upper, err = f.int()
			default:
				d.skip("SizeRange", f)
			}
			return err
		})
		ranges = append(ranges, r)
		return err
	})
	return ranges, err
}

// EncodeDescription encodes d as ModelDescription, deterministically.
// Default values of optional inputs are not kept, so they are refused.
func EncodeDescription(d *Description) ([]byte, error) {
	var b []byte
	var err error
	add := func(num protowire.Number, fs []Feature) {
		for _, f := range fs {
			fb, ferr := encodeFeature(f)
			if ferr != nil && err == nil {
				err = ferr
			}
			b = appendMessage(b, num, fb)
		}
	}
	add(1, d.Inputs)
	add(10, d.Outputs)
	b = appendString(b, 11, d.PredictedFeature)
	b = appendString(b, 12, d.PredictedProbabs)
	add(13, d.States)
	for _, fn := range d.Functions {
		fb, ferr := encodeFunctionDescription(fn)
		if ferr != nil && err == nil {
			err = ferr
		}
		b = appendMessage(b, 20, fb)
	}
	b = appendString(b, 21, d.DefaultFunction)
	add(50, d.Training)
	if m := encodeMetadata(d.Metadata); len(m) > 0 {
		b = appendMessage(b, 100, m)
	}
	return b, err
}

func encodeFunctionDescription(fn Function) ([]byte, error) {
	b := appendString(nil, 1, fn.Name)
	for _, part := range []struct {
		num      protowire.Number
		features []Feature
	}{{2, fn.Inputs}, {3, fn.Outputs}, {6, fn.States}} {
		for _, f := range part.features {
			fb, err := encodeFeature(f)
			if err != nil {
				return nil, fmt.Errorf("function %s: %w", fn.Name, err)
			}
			b = appendMessage(b, part.num, fb)
		}
	}
	b = appendString(b, 4, fn.PredictedFeature)
	return appendString(b, 5, fn.PredictedProbabs), nil
}

func encodeMetadata(m Metadata) []byte {
	b := appendString(nil, 1, m.Doc)
	b = appendString(b, 2, m.Version)
	b = appendString(b, 3, m.Author)
	b = appendString(b, 4, m.License)
	for _, k := range slices.Sorted(maps.Keys(m.User)) {
		b = appendMessage(b, 100, appendString(appendString(nil, 1, k), 2, m.User[k]))
	}
	return b
}

func encodeFeature(f Feature) ([]byte, error) {
	body := f.raw
	switch f.Kind {
	case NoFeature:
		return nil, fmt.Errorf("feature %s has no type", f.Name)
	case MultiArrayFeature, StateFeature:
		if f.Array == nil || f.Array.HasDefault {
			return nil, fmt.Errorf("feature %s: expected an array without a default value", f.Name)
		}
		body = encodeArray(f.Array)
		if f.Kind == StateFeature {
			body = appendMessage(nil, 1, body)
		}
	}
	t := appendBool(appendMessage(nil, protowire.Number(f.Kind), body), 1000, f.Optional)
	b := appendString(appendString(nil, 1, f.Name), 2, f.Doc)
	return appendMessage(b, 3, t), nil
}

func encodeArray(a *Array) []byte {
	b := appendExtents(nil, a.Shape)
	b = appendInt(b, 2, int64(a.DType))
	if a.Enumerated != nil {
		var e []byte
		for _, s := range a.Enumerated {
			e = appendMessage(e, 1, appendExtents(nil, s))
		}
		b = appendMessage(b, 21, e)
	}
	if a.Ranges != nil {
		var e []byte
		for _, r := range a.Ranges {
			e = appendMessage(e, 1, appendInt(appendInt(nil, 1, r.Lower), 2, r.Upper))
		}
		b = appendMessage(b, 31, e)
	}
	return b
}

func appendExtents(b []byte, shape []int64) []byte {
	if len(shape) == 0 {
		return b
	}
	var p []byte
	for _, d := range shape {
		p = protowire.AppendVarint(p, uint64(d))
	}
	return appendMessage(b, 1, p)
}
