// Package serve is the evaluator's side of the emulated Core ML runtime: a
// process that loads one encoder and predicts on request, over its standard
// input and output, for the double of whisper.cpp's Core ML bridge.
//
// Protocol version 1. Every number is little-endian.
//
//	hello, once, from the evaluator:
//	    u32 magic 0x56454743 ("CGEV")   u32 version = 1
//	    u32 status (0 loaded, 1 load failed, 2 the load raises an exception)
//	    u32 n   n bytes of text
//	    After status 1 and 2 the evaluator exits with 1. The text of status 0 names
//	    the kernel path, that of the others says what is wrong.
//	request:
//	    u32 op   1 predict: u32 n_mel, u32 n_ctx, n_mel*n_ctx float32, row by row
//	             2 bye: the evaluator exits with 0, as it does at end of input
//	reply:
//	    u32 status (0 ok, 1 prediction failed, 2 the prediction raises an exception,
//	    3 ok, but the one output is not called "output": the text is its name)
//	    u32 n   n bytes of text
//	    and after 0 and 3: u32 type (Core ML's ArrayDataType: 65568 float32, 65552 float16,
//	    65600 double), u32 rank, rank * u64 extents, rank * u64 strides in
//	    elements, u64 n, n bytes of data
//
// The bridge asks for the feature "output" given "logmel_data" of shape
// [1, n_mel, n_ctx]; with another input's name, type or shape a prediction fails, as
// Core ML's would. Exceptions are raised by faults alone. Faults (see [Faults]) bend replies, for tests only.
package serve

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/eval"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// Protocol constants.
const (
	Magic   = 0x56454743
	Version = 1

	opPredict = 1
	opBye     = 2

	statusOK        = 0
	statusFailed    = 1
	statusRaises    = 2
	statusOtherName = 3

	// InputName and OutputName are the features that the bridge uses.
	InputName  = "logmel_data"
	OutputName = "output"

	// maxMel bounds a request, in values: far above any Whisper model.
	maxMel = 1 << 26
	// maxText bounds the text of a hello or reply.
	maxText = 1 << 16
)

// Core ML's numbers for array element types (FeatureTypes.proto).
var arrayTypes = map[mil.DType]uint32{
	mil.Float32: 65568, mil.Float16: 65552, mil.Float64: 65600, mil.Int32: 131104, mil.Int8: 131080,
}

// Predictor turns a mel into the encoder's output.
type Predictor interface {
	Predict(mels, frames int, mel []byte) (Reply, error)
}

// Reply is a successful prediction: elements, and where they lie. Strides are in
// elements.
type Reply struct {
	Name    string // of the output; empty for OutputName
	DType   mil.DType
	Shape   []int64
	Strides []int64
	Data    []byte
}

// Run loads the encoder at path and answers requests from r on w until the end
// of the input. It returns the process's exit code; what goes wrong outside the
// protocol is written to stderr.
func Run(r io.Reader, w io.Writer, stderr io.Writer, path, fault string) int {
	out := bufio.NewWriterSize(w, 1<<16)
	p, err := load(path, fault)
	if err != nil {
		if werr := hello(out, statusOf(err), err.Error()); werr != nil {
			fmt.Fprintf(stderr, "gate_evaluator: cannot report a failed load (%v): %v\n", err, werr)
		}
		return 1
	}
	defer p.Close()
	if err := hello(out, statusOK, "kernel "+kernel.Path()); err != nil {
		fmt.Fprintf(stderr, "gate_evaluator: cannot greet: %v\n", err)
		return 1
	}
	if err := answer(bufio.NewReaderSize(r, 1<<16), out, p); err != nil {
		fmt.Fprintf(stderr, "gate_evaluator: %v\n", err)
		return 1
	}
	return 0
}

// errRaises is what an exception of Core ML's would be.
var errRaises = errors.New("an exception is raised, as the fault demands")

func statusOf(err error) uint32 {
	if errors.Is(err, errRaises) {
		return statusRaises
	}
	return statusFailed
}

func hello(w *bufio.Writer, status uint32, text string) error {
	put(w, Magic, Version, status)
	putText(w, text)
	return w.Flush()
}

func answer(r io.Reader, w *bufio.Writer, p Predictor) error {
	for {
		op, err := get(r)
		if errors.Is(err, io.EOF) {
			return nil // the parent is gone, or done
		}
		if err != nil {
			return fmt.Errorf("cannot read a request: %w", err)
		}
		switch op {
		case opBye:
			return nil
		case opPredict:
			if err := predict(r, w, p); err != nil {
				return err
			}
		default:
			return fmt.Errorf("request %d is not known; expected %d (predict) or %d (bye)", op, opPredict, opBye)
		}
	}
}

func predict(r io.Reader, w *bufio.Writer, p Predictor) error {
	mels, err := get(r)
	if err != nil {
		return fmt.Errorf("a request ends early: %w", err)
	}
	frames, err := get(r)
	if err != nil {
		return fmt.Errorf("a request ends early: %w", err)
	}
	if n := uint64(mels) * uint64(frames); n > maxMel {
		return fmt.Errorf("a mel of %d by %d is above the limit of %d values", mels, frames, maxMel)
	}
	mel := make([]byte, 4*int(mels)*int(frames))
	if _, err := io.ReadFull(r, mel); err != nil {
		return fmt.Errorf("a request ends early: %w", err)
	}
	reply, err := p.Predict(int(mels), int(frames), mel)
	switch {
	case err != nil:
		put(w, statusOf(err))
		putText(w, err.Error())
		return w.Flush()
	case reply.Name != "" && reply.Name != OutputName:
		put(w, statusOtherName)
		putText(w, reply.Name)
	default:
		put(w, statusOK)
		putText(w, "")
	}
	put(w, arrayTypes[reply.DType], uint32(len(reply.Shape)))
	for _, v := range slices.Concat(reply.Shape, reply.Strides) {
		put64(w, uint64(v))
	}
	put64(w, uint64(len(reply.Data)))
	w.Write(reply.Data)
	return w.Flush()
}

func get(r io.Reader) (uint32, error) {
	var b [4]byte
	_, err := io.ReadFull(r, b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}

// put and its like leave errors to the Flush that follows.
func put(w *bufio.Writer, vs ...uint32) {
	for _, v := range vs {
		w.Write(binary.LittleEndian.AppendUint32(nil, v))
	}
}

func put64(w *bufio.Writer, v uint64) { w.Write(binary.LittleEndian.AppendUint64(nil, v)) }

func putText(w *bufio.Writer, s string) {
	if len(s) > maxText {
		s = s[:maxText]
	}
	put(w, uint32(len(s)))
	w.WriteString(s)
}

// encoder is a loaded artifact with the fault that bends its replies.
type encoder struct {
	artifact *bundle.Artifact
	plan     *eval.Plan
	fault    *fault
	first    *Reply
	failed   bool // the first prediction has failed, for the fault that demands it
}

func load(path, name string) (*encoder, error) {
	f, err := findFault(name)
	if err != nil {
		return nil, err
	}
	if f.loadRaises {
		return nil, fmt.Errorf("fault %s: %w", f.Name, errRaises)
	}
	a, err := bundle.Open(path)
	if err != nil {
		return nil, err
	}
	e := &encoder{artifact: a, fault: f}
	if err := e.compile(); err != nil {
		a.Close()
		return nil, err
	}
	return e, nil
}

func (e *encoder) compile() error {
	if err := e.artifact.Check(); err != nil {
		return err
	}
	p := e.artifact.Program
	if p == nil {
		return fmt.Errorf("the artifact holds no ML program, but %v; only ML programs are evaluated", e.artifact.Kind)
	}
	if len(p.Functions) != 1 {
		return fmt.Errorf("the program has %d functions; an encoder has one", len(p.Functions))
	}
	name := p.Functions[0].Name
	if e.fault.program != nil {
		var err error
		if p, err = e.fault.program(p, name); err != nil {
			return fmt.Errorf("fault %s: %w", e.fault.Name, err)
		}
	}
	var err error
	e.plan, err = eval.Compile(p, name, e.artifact, eval.Options{})
	return err
}

// Close releases the artifact.
func (e *encoder) Close() error { return e.artifact.Close() }

// Predict evaluates the program on one mel.
func (e *encoder) Predict(mels, frames int, mel []byte) (Reply, error) {
	switch {
	case e.fault.raises:
		return Reply{}, fmt.Errorf("fault %s: %w", e.fault.Name, errRaises)
	case e.fault.fails, e.fault.failsFirst && !e.failed:
		e.failed = true
		return Reply{}, fmt.Errorf("the prediction fails, as fault %s demands", e.fault.Name)
	}
	out, err := e.plan.Run(context.Background(), map[string]mil.Tensor{
		InputName: {DType: mil.Float32, Shape: []int64{1, int64(mels), int64(frames)}, Data: mel},
	})
	if err != nil {
		return Reply{}, err
	}
	name := OutputName
	if _, ok := out[name]; !ok {
		names := slices.Sorted(maps.Keys(out))
		if len(names) != 1 {
			return Reply{}, fmt.Errorf("the program has no output named %q, but %q", OutputName, names)
		}
		name = names[0]
	}
	t := out[name]
	if _, ok := arrayTypes[t.DType]; !ok {
		return Reply{}, fmt.Errorf("output %q is %s, which no Core ML array holds", name, t.DType)
	}
	r := Reply{Name: name, DType: t.DType, Shape: t.Shape, Strides: contiguous(t.Shape), Data: t.Data}
	if e.fault.reply == nil {
		return r, nil
	}
	if e.first == nil {
		e.first = &r
	}
	return e.fault.reply(r, *e.first)
}

func contiguous(shape []int64) []int64 {
	s := make([]int64, len(shape))
	step := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = step
		step *= shape[i]
	}
	return s
}

// values decodes a float32 reply; faults are defined on those only.
func (r Reply) values() ([]float32, error) {
	if r.DType != mil.Float32 || len(r.Shape) != 3 {
		return nil, fmt.Errorf("expected a float32 output of rank 3, found %s %v", r.DType, r.Shape)
	}
	v := make([]float32, len(r.Data)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(r.Data[4*i:]))
	}
	return v, nil
}

func encode(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
