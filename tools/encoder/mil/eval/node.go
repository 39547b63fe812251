package eval

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// node is one value of the program: a root that owns storage, or a view into one.
type node struct {
	name    string
	dtype   mil.DType
	shape   []int
	strides []int // in elements
	offset  int   // in elements, into the root's storage
	root    *node // itself for a root

	value    *mil.Value   // of a constant, nil for everything else
	constant []byte       // bytes of a resolved numeric constant
	late     *mil.BlobRef // of a constant that is read when it is needed
	input    bool

	// Of roots: index into frame.buf, size, place in the arena (-1 outside it),
	// and the steps that write first and read last.
	slot, bytes, at int
	first, last     int
}

// step is one operation, ready to run.
type step struct {
	op   string
	line int
	ins  []*node
	outs []*node
	run  func(f *frame)
	// fuse describes the operation to the pass that joins neighbours; may be nil.
	fuse any
}

// frame holds the storage of one run.
type frame struct {
	buf  [][]byte
	pool *kernel.Pool

	late  Late
	spare []byte // of the last constant that was read late

	mu  sync.Mutex
	err error
}

// fail keeps the first failure of a run; steps go on, the result is dropped.
func (f *frame) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func littleEndian() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}

// allocate returns n bytes that begin on a 64-byte line.
func allocate(n int) []byte {
	b := make([]byte, n+64)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & 63)
	return b[skip : skip+n : skip+n]
}

// aligned returns b, or a copy where elements of d would not be aligned.
func aligned(b []byte, d mil.DType) []byte {
	size := uintptr(max(1, d.Bits()/8))
	if uintptr(unsafe.Pointer(unsafe.SliceData(b)))%size == 0 {
		return b
	}
	return append(allocate(0), b...)
}

// cells views bytes as elements; the bytes are aligned and a whole number of them.
func cells[T any](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// f32, f16 and i32 give a node's elements from its first on; the caller walks strides.
func (f *frame) f32(n *node) []float32 { return cells[float32](f.buf[n.root.slot])[n.offset:] }
func (f *frame) f16(n *node) []uint16  { return cells[uint16](f.buf[n.root.slot])[n.offset:] }
func (f *frame) i32(n *node) []int32   { return cells[int32](f.buf[n.root.slot])[n.offset:] }
func (f *frame) u8(n *node) []byte     { return f.buf[n.root.slot][n.offset:] }

// tensor gives a dense node's bytes.
func (f *frame) tensor(n *node) mil.Tensor {
	size := n.dtype.Bits() / 8
	shape := make([]int64, len(n.shape))
	for i, d := range n.shape {
		shape[i] = int64(d)
	}
	if !n.dense() {
		return mil.Tensor{DType: n.dtype, Shape: shape, Data: f.gathered(n)}
	}
	return mil.Tensor{DType: n.dtype, Shape: shape, Data: f.buf[n.root.slot][n.offset*size : (n.offset+n.len())*size]}
}

// gathered copies a strided node into row-major order.
func (f *frame) gathered(n *node) []byte {
	dst := newRoot("", n.dtype, n.shape)
	dst.slot = 0
	g := &frame{buf: [][]byte{allocate(dst.bytes), f.buf[n.root.slot]}, pool: f.pool}
	src := *n
	src.root = &node{slot: 1}
	g.move(dst, &src)
	return g.buf[0]
}

func (n *node) len() int { return product(n.shape) }

func product(shape []int) int {
	p := 1
	for _, d := range shape {
		p *= d
	}
	return p
}

// dense reports whether elements lie in row-major order without gaps.
func (n *node) dense() bool {
	want := 1
	for i := len(n.shape) - 1; i >= 0; i-- {
		if n.shape[i] != 1 && n.strides[i] != want {
			return false
		}
		want *= n.shape[i]
	}
	return true
}

func denseStrides(shape []int) []int {
	s := make([]int, len(shape))
	step := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = step
		step *= shape[i]
	}
	return s
}

// accept checks an input tensor against the declared feature.
func (n *node) accept(t mil.Tensor) error {
	shape := make([]int, len(t.Shape))
	for i, d := range t.Shape {
		shape[i] = int(d)
	}
	if len(n.shape) == 0 && slices.Equal(shape, []int{1}) {
		shape = nil // a scalar is [1] at the boundary
	}
	if t.DType != n.dtype || !slices.Equal(shape, n.shape) {
		return fmt.Errorf("input %q: expected %s %v, found %s %v", n.name, n.dtype, n.shape, t.DType, t.Shape)
	}
	if want := n.len() * n.dtype.Bits() / 8; len(t.Data) != want {
		return fmt.Errorf("input %q: expected %d bytes, found %d", n.name, want, len(t.Data))
	}
	return nil
}
