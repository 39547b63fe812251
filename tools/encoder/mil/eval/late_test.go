package eval

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// lateWeights gives three constants of four values when they are needed, and notes each time.
type lateWeights struct {
	reads  []uint64
	sizes  []int
	broken error
}

func (l *lateWeights) Is(ref mil.BlobRef) bool { return ref.Path == "@late" }

func (l *lateWeights) Read(ref mil.BlobRef, into []byte) error {
	l.reads = append(l.reads, ref.Offset)
	l.sizes = append(l.sizes, len(into))
	if l.broken != nil && ref.Offset == 2 {
		return l.broken
	}
	v := float32(ref.Offset)
	copy(into, floats(v, 10*v, 100*v, 1000*v).Data)
	return nil
}

func (l *lateWeights) Blob(ref mil.BlobRef) (mil.DType, []byte, error) {
	return 0, nil, fmt.Errorf("%s at %d was asked for and not read", ref.Path, ref.Offset)
}

const lateBody = `
	tensor<fp32,[4]> a = const()[name=string("a"), val=tensor<fp32,[4]>(BLOBFILE(path=string("@late"), offset=uint64(1)))];
	tensor<fp32,[4]> b = const()[name=string("b"), val=tensor<fp32,[4]>(BLOBFILE(path=string("@late"), offset=uint64(2)))];
	tensor<fp32,[2,2]> v = reshape(x=b, shape=tensor<int32,[2]>([2,2]));
	tensor<fp32,[4]> s = add(x=x, y=a);
	tensor<fp32,[4]> f = reshape(x=v, shape=tensor<int32,[1]>([4]));
	tensor<fp32,[4]> y = mul(x=s, y=f);
	tensor<fp32,[4]> z = sub(x=y, y=a);`

// Constants that are read late give what constants give, are read when an operation needs them, and are dropped after it.
func TestLate(t *testing.T) {
	for _, keep := range []bool{false, true} {
		l := &lateWeights{}
		plan, err := Compile(program(t, "tensor<fp32,[4]> x", lateBody, "y, z"), "main", l, Options{Late: l, KeepAll: keep})
		if err != nil {
			t.Fatal(err)
		}
		if len(l.reads) > 0 {
			t.Errorf("%v were read before the program ran", l.reads)
		}
		for range 2 { // what a run dropped is there for the next
			out, err := plan.Run(t.Context(), map[string]mil.Tensor{"x": floats(1, 2, 3, 4)})
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string][]float32{"y": {4, 240, 20600, 2008000}, "z": {3, 230, 20500, 2007000}} {
				if got := cells[float32](out[name].Data); !slices.Equal(got, want) {
					t.Errorf("%s is %v, want %v", name, got, want)
				}
			}
		}
		for _, n := range l.sizes {
			if n != 16 {
				t.Errorf("%d bytes were asked for, a constant has 16", n)
			}
		}
		// a is used by two operations that lie apart: once each, in each run.
		if n := count(l.reads, 1); n != 4 {
			t.Errorf("a was read %d times in two runs, want 4", n)
		}
	}
}

func count(list []uint64, x uint64) (n int) {
	for _, y := range list {
		if y == x {
			n++
		}
	}
	return n
}

// A constant that cannot be read ends the run, with its name.
func TestLateFails(t *testing.T) {
	disk := errors.New("disk")
	l := &lateWeights{broken: disk}
	plan, err := Compile(program(t, "tensor<fp32,[4]> x", lateBody, "y"), "main", l, Options{Late: l})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Run(t.Context(), map[string]mil.Tensor{"x": floats(1, 2, 3, 4)}); !errors.Is(err, disk) || !strings.Contains(err.Error(), "constant b") {
		t.Errorf("%v, want the disk's error and the constant's name", err)
	}
}

// A trace shows late constants' consumers what they hold, and views of them too.
func TestLateTrace(t *testing.T) {
	l := &lateWeights{}
	plan, err := Compile(program(t, "tensor<fp32,[4]> x", lateBody, "z"), "main", l, Options{Late: l, KeepAll: true})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string][]float32{}
	_, err = plan.Trace(t.Context(), map[string]mil.Tensor{"x": floats(1, 2, 3, 4)}, func(v Traced) {
		seen[v.Name] = slices.Clone(cells[float32](v.Data))
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float32{"v": {2, 20, 200, 2000}, "f": {2, 20, 200, 2000}, "s": {2, 12, 103, 1004}} {
		if !slices.Equal(seen[name], want) {
			t.Errorf("%s is %v in the trace, want %v", name, seen[name], want)
		}
	}
}
