package reference

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Matrices that come by rows change no bit of the result, and each row is asked for once, in order. Tensors are asked for
// whole where they are no matrices.
func TestRows(t *testing.T) {
	m := small(t, nil)
	want := encode(t, m, 1, nil)
	e, err := New(m)
	if err != nil {
		t.Fatal(err)
	}
	next := map[string]int{}
	e.Threads = 1
	e.Rows = func(name string, shape []int, first, count int) ([]float32, error) {
		if len(shape) < 2 || first != next[name] || count < 1 || first+count > shape[0] {
			return nil, fmt.Errorf("%d rows from %d on of %v, after %d", count, first, shape, next[name])
		}
		next[name] = first + count
		v, err := modelTensors(m)(name, shape)
		columns := len(v) / shape[0]
		return slices.Clone(v[first*columns:][:count*columns]), err
	}
	got, err := e.Encode(t.Context(), mel())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Error("the result is another when matrices come by rows")
	}
	for _, name := range []string{"conv1.weight", "conv2.weight", "blocks.1.attn.key.weight", "blocks.0.mlp.2.weight"} {
		if next[name] == 0 {
			t.Errorf("%s was not asked for by rows", name)
		}
	}
}

// Too few values are no rows, and an error of the reader is the run's, with the tensor's name.
func TestRowsRefuses(t *testing.T) {
	m := small(t, nil)
	disk := errors.New("disk")
	for name, c := range map[string]struct {
		rows func(v []float32) ([]float32, error)
		want string
	}{
		"a value is missing": {func(v []float32) ([]float32, error) { return v[1:], nil }, "expected 48 rows of 12, found 575 values"},
		"one too many":       {func(v []float32) ([]float32, error) { return append(v, 0), nil }, "found 577 values"},
		"an error":           {func([]float32) ([]float32, error) { return nil, disk }, "disk"},
	} {
		e, err := New(m)
		if err != nil {
			t.Fatal(err)
		}
		e.Rows = func(tensor string, shape []int, first, count int) ([]float32, error) {
			v, err := modelTensors(m)(tensor, shape)
			if err != nil {
				return nil, err
			}
			columns := len(v) / shape[0]
			v = slices.Clone(v[first*columns:][:count*columns])
			if tensor == "blocks.1.mlp.0.weight" {
				return c.rows(v)
			}
			return v, nil
		}
		if _, err := e.Encode(t.Context(), mel()); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "blocks.1.mlp.0.weight") {
			t.Errorf("%s: %v, want an error with %q and the tensor's name", name, err, c.want)
		}
	}
}
