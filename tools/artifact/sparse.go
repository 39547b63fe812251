package artifact

import (
	"errors"
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/mil"
)

func (d *decompressor) sparse(op *mil.Op) (*dense, error) {
	data, err := d.argument(op, "nonzero_data")
	if err != nil {
		return nil, err
	}
	mask, err := d.argument(op, "mask")
	if err != nil {
		return nil, err
	}
	if shape, err := d.optional(op, "shape"); err != nil {
		return nil, err
	} else if shape != nil {
		// Up to iOS 17 the mask is packed like indices of one bit.
		if mask, err = unpack(mask, &dense{values: make([]float32, 2)}, shape); err != nil {
			return nil, err
		}
	}
	return scatter(data, mask)
}

// scatter puts the values of data where mask is set, and zeros elsewhere.
func scatter(data, mask *dense) (*dense, error) {
	n := len(mask.values)
	x := &dense{shape: mask.shape, values: make([]float32, n), pruned: make([]bool, n), rms: data.rms, rounded: data.rounded}
	if data.slack != nil {
		x.slack = make([]float32, n)
	}
	k := 0
	for i, m := range mask.values {
		if m == 0 {
			x.pruned[i] = true
			continue
		}
		if k < len(data.values) {
			x.values[i] = data.values[k]
			if x.slack != nil {
				x.slack[i] = data.slack[k]
			}
		}
		k++
	}
	if k != len(data.values) {
		return nil, fmt.Errorf("the mask has %d values set, there are %d", k, len(data.values))
	}
	return x, nil
}

// gather is the inverse of scatter.
func gather(x, mask *dense) (*dense, error) {
	if len(x.values) != len(mask.values) {
		return nil, fmt.Errorf("a mask of %d for %d values", len(mask.values), len(x.values))
	}
	out := &dense{rms: x.rms}
	for i, m := range mask.values {
		if m != 0 {
			out.values = append(out.values, x.values[i])
			out.slack = append(out.slack, x.slack[i])
		}
	}
	out.shape = []int64{int64(len(out.values))}
	return out, nil
}

// sparseToSparse decompresses only the values that a mask keeps. Output 0 is
// the mask, output 1 the values.
func (d *decompressor) sparseToSparse(op *mil.Op, out int) (*dense, error) {
	maskName, dataName := "indices_mask", "indices_nonzero_data"
	if op.Type == "constexpr_sparse_blockwise_shift_scale" {
		maskName, dataName = "data_mask", "nonzero_data"
	}
	mask, err := d.argument(op, maskName)
	if err != nil {
		return nil, err
	}
	if out == 0 {
		if v, err := d.optional(op, "vector_axis"); err != nil || v != nil {
			return nil, errors.Join(err, errUnsupported)
		}
		return mask, nil
	}
	data, err := d.argument(op, dataName)
	if err != nil {
		return nil, err
	}
	full, err := scatter(data, mask)
	if err != nil {
		return nil, err
	}
	var x *dense
	if op.Type == "constexpr_sparse_blockwise_shift_scale" {
		scale, err := d.argument(op, "scale")
		if err != nil {
			return nil, err
		}
		offset, err := d.optional(op, "offset")
		if err != nil {
			return nil, err
		}
		x, err = shiftScale(full, scale, offset)
		if err != nil {
			return nil, err
		}
	} else {
		lut, err := d.argument(op, "lut")
		if err != nil {
			return nil, err
		}
		if len(lut.shape) > 0 && lut.shape[len(lut.shape)-1] > 1 {
			return nil, errUnsupported
		}
		if x, err = lookUp(full, lut, -1); err != nil {
			return nil, err
		}
	}
	return gather(x, mask)
}
