package serve

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

const (
	mels, frames = 3, 4
	// The program turns [1, 3, 4] into [1, 4, 3] and normalises each frame.
	source = `program(1.3)
{
    func main<ios16>(tensor<fp32, [1, 3, 4]> logmel_data) {
        tensor<int32, [3]> perm = const()[name = string("perm"), val = tensor<int32, [3]>([0, 2, 1])];
        tensor<int32, [1]> axes = const()[name = string("axes"), val = tensor<int32, [1]>([-1])];
        tensor<fp32, [1, 4, 3]> turned = transpose(perm = perm, x = logmel_data)[name = string("turned")];
        tensor<fp32, [1, 4, 3]> output = layer_norm(axes = axes, x = turned)[name = string("output")];
    } -> (output);
}
`
)

// artifact writes source as a package and returns its path.
func artifact(t *testing.T, source string) string {
	t.Helper()
	p, err := text.Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "e.mlpackage")
	array := func(name string, shape ...int64) spec.Feature {
		return spec.Feature{Name: name, Kind: spec.MultiArrayFeature, Array: &spec.Array{Shape: shape, DType: spec.ArrayFloat32}}
	}
	m := &spec.Model{SpecificationVersion: 7, Kind: spec.MLProgram, Program: p, Description: &spec.Description{}}
	m.Description.Inputs = []spec.Feature{array("logmel_data", 1, mels, frames)}
	m.Description.Outputs = []spec.Feature{array("output", 1, frames, mels)}
	if err := bundle.WritePackage(path, m, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

func mel() []float32 {
	v := make([]float32, mels*frames)
	for i := range v {
		v[i] = float32(i*i%7) + 0.25*float32(i)
	}
	return v
}

func request(m, n uint32, v []float32) []byte {
	b := le(opPredict, m, n)
	return append(b, encode(v)...)
}

func le(vs ...uint32) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// reader takes the evaluator's words apart.
type reader struct {
	t *testing.T
	*bytes.Reader
}

func (r reader) u32() uint32 {
	v, err := get(r)
	if err != nil {
		r.t.Fatalf("the evaluator said too little: %v", err)
	}
	return v
}

func (r reader) u64() int64 { lo := r.u32(); return int64(lo) | int64(r.u32())<<32 }

func (r reader) text() string {
	b := make([]byte, r.u32())
	if _, err := io.ReadFull(r, b); err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

func (r reader) hello() (status uint32, text string) {
	if m, v := r.u32(), r.u32(); m != Magic || v != Version {
		r.t.Fatalf("hello begins %#x, version %d", m, v)
	}
	return r.u32(), r.text()
}

type answered struct {
	status, dtype  uint32
	text           string
	shape, strides []int64
	data           []byte
}

func (r reader) reply() (a answered) {
	if a.status, a.text = r.u32(), r.text(); a.status != statusOK && a.status != statusOtherName {
		return a
	}
	a.dtype = r.u32()
	rank := r.u32()
	for range rank {
		a.shape = append(a.shape, r.u64())
	}
	for range rank {
		a.strides = append(a.strides, r.u64())
	}
	a.data = make([]byte, r.u64())
	if _, err := io.ReadFull(r, a.data); err != nil {
		r.t.Fatal(err)
	}
	return a
}

// talk runs the evaluator over the given requests.
func talk(t *testing.T, path, fault string, in []byte) (int, reader, string) {
	t.Helper()
	var out, stderr bytes.Buffer
	code := Run(bytes.NewReader(in), &out, &stderr, path, fault)
	return code, reader{t, bytes.NewReader(out.Bytes())}, stderr.String()
}

// expected computes the program's result by its definition.
func expected() []float64 {
	out := make([]float64, mels*frames)
	for f := range frames {
		var mean, variance float64
		for m := range mels {
			mean += float64(mel()[m*frames+f]) / mels
		}
		for m := range mels {
			d := float64(mel()[m*frames+f]) - mean
			variance += d * d / mels
		}
		for m := range mels {
			out[f*mels+m] = (float64(mel()[m*frames+f]) - mean) / math.Sqrt(variance+1e-5)
		}
	}
	return out
}

func near(t *testing.T, got []byte, want []float64) {
	t.Helper()
	if len(got) != 4*len(want) {
		t.Fatalf("%d bytes for %d values", len(got), len(want))
	}
	for i, w := range want {
		g := math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:]))
		if math.IsNaN(w) && g != g {
			continue
		}
		if !(math.Abs(float64(g)-w) < 1e-6) {
			t.Fatalf("value %d is %g, want %g", i, g, w)
		}
	}
}

func TestPredictsUntilTheInputEnds(t *testing.T) {
	for name, end := range map[string][]byte{"end of input": nil, "bye": le(opBye)} {
		in := append(append(request(mels, frames, mel()), request(mels, frames, mel())...), end...)
		code, r, stderr := talk(t, artifact(t, source), "", in)
		if status, text := r.hello(); status != statusOK || !strings.HasPrefix(text, "kernel ") {
			t.Fatalf("%s: hello is %d %q", name, status, text)
		}
		for range 2 {
			a := r.reply()
			if a.status != statusOK || a.dtype != 65568 || !slices.Equal(a.shape, []int64{1, 4, 3}) || !slices.Equal(a.strides, []int64{12, 3, 1}) {
				t.Fatalf("%s: reply is %+v", name, a)
			}
			near(t, a.data, expected())
		}
		if r.Len() != 0 || code != 0 || stderr != "" {
			t.Errorf("%s: exit %d, %d bytes left over, stderr %q", name, code, r.Len(), stderr)
		}
	}
}

func TestAnotherShapeFailsThatPredictionOnly(t *testing.T) {
	in := append(request(frames, mels, mel()), request(mels, frames, mel())...)
	_, r, _ := talk(t, artifact(t, source), "none", in)
	r.hello()
	if a := r.reply(); a.status != statusFailed || !strings.Contains(a.text, "expected fp32 [1 3 4]") {
		t.Errorf("a mel of the wrong shape got %+v", a)
	}
	if a := r.reply(); a.status != statusOK {
		t.Errorf("the next prediction got %+v", a)
	}
}

func TestAnotherInputNameFailsThePrediction(t *testing.T) {
	_, r, _ := talk(t, artifact(t, strings.ReplaceAll(source, "logmel_data", "melspectrogram_features")), "", request(mels, frames, mel()))
	if status, text := r.hello(); status != statusOK {
		t.Fatalf("load failed: %s", text)
	}
	if a := r.reply(); a.status != statusFailed || !strings.Contains(a.text, "logmel_data") {
		t.Errorf("without logmel_data the reply is %+v", a)
	}
}

// Core ML predicts whatever the output is called; who asks for another name gets nil.
func TestAnotherOutputNameIsSaid(t *testing.T) {
	_, r, _ := talk(t, artifact(t, strings.ReplaceAll(source, "output", "encoder_output_embeds")), "", request(mels, frames, mel()))
	if status, text := r.hello(); status != statusOK {
		t.Fatalf("load failed: %s", text)
	}
	a := r.reply()
	if a.status != statusOtherName || a.text != "encoder_output_embeds" || !slices.Equal(a.shape, []int64{1, 4, 3}) {
		t.Errorf("the reply is %+v", a)
	}
	near(t, a.data, expected())
}

func TestLoadFailuresAreTold(t *testing.T) {
	bad := strings.ReplaceAll(source, "layer_norm", "instance_norm")
	for name, c := range map[string]struct{ path, fault, want string }{
		"no artifact":       {filepath.Join(t.TempDir(), "none.mlmodelc"), "", "none.mlmodelc"},
		"unknown operation": {artifact(t, bad), "", "instance_norm"},
		"unknown fault":     {artifact(t, source), "gain-2pct", "gain-2pct"},
		"fault cannot be applied": {artifact(t, strings.ReplaceAll(source,
			"layer_norm(axes = axes, x = turned)", "add(x = turned, y = turned)")), "no-final-norm", "no layer_norm"},
	} {
		code, r, _ := talk(t, c.path, c.fault, request(mels, frames, mel()))
		if status, text := r.hello(); status != statusFailed || !strings.Contains(text, c.want) || code != 1 || r.Len() != 0 {
			t.Errorf("%s: status %d, exit %d, %d bytes more, text %q", name, status, code, r.Len(), text)
		}
	}
}

func TestBrokenRequestsEndTheProcess(t *testing.T) {
	for name, in := range map[string][]byte{
		"unknown request": le(9), "half a number": {1, 0}, "no shape": le(opPredict, 3),
		"mel too short": request(mels, frames, mel())[:30], "mel too large": le(opPredict, 1<<20, 1<<20),
	} {
		code, _, stderr := talk(t, artifact(t, source), "", in)
		if code != 1 || stderr == "" {
			t.Errorf("%s: exit %d, stderr %q", name, code, stderr)
		}
	}
}

func TestFaults(t *testing.T) {
	plain := expected()
	other := mel()
	other[0] = 9
	frame := func(i int) []float64 { return plain[i*mels : (i+1)*mels] }
	apply := func(f func(i int) float64) []float64 {
		out := make([]float64, len(plain))
		for i := range out {
			out[i] = f(i)
		}
		return out
	}
	inFrame := func(i, f int) bool { return i/mels == f }
	floats := map[string][]float64{
		"none":             plain,
		"output-too-large": slices.Concat(plain, plain),
		"output-too-small": plain[:2*mels],
		"output-transposed": apply(func(i int) float64 {
			return plain[i%frames*mels+i/frames]
		}),
		"zero-frame": apply(func(i int) float64 {
			if inFrame(i, 2) {
				return 0
			}
			return plain[i]
		}),
		"nan-frame": apply(func(i int) float64 {
			if inFrame(i, 2) {
				return math.NaN()
			}
			return plain[i]
		}),
		"gain-1pct":       apply(func(i int) float64 { return plain[i] * 1.01 }),
		"constant-output": apply(func(int) float64 { return plain[0] }),
		"zeros":           apply(func(int) float64 { return 0 }),
		"frames-reversed": slices.Concat(frame(3), frame(2), frame(1), frame(0)),
		"frames-shifted":  slices.Concat(frame(2), frame(3), frame(0), frame(1)),
		"no-final-norm":   apply(func(i int) float64 { return float64(mel()[i%mels*frames+i/mels]) }),
	}
	shapes := map[string][]int64{"output-too-large": {1, 8, 3}, "output-too-small": {1, 2, 3}, "output-transposed": {1, 3, 4}}
	path := artifact(t, source)
	for _, f := range Faults() {
		_, r, _ := talk(t, path, f.Name, slices.Concat(request(mels, frames, mel()), request(mels, frames, other)))
		status, text := r.hello()
		if f.Name == "load-raises" {
			if status != statusRaises || r.Len() != 0 {
				t.Errorf("%s: hello is %d %q, %d bytes more", f.Name, status, text, r.Len())
			}
			continue
		}
		if status != statusOK {
			t.Fatalf("%s: load failed: %s", f.Name, text)
		}
		first, second := r.reply(), r.reply()
		switch f.Name {
		case "prediction-fails":
			if first.status != statusFailed || second.status != statusFailed {
				t.Errorf("%s: replies %+v and %+v", f.Name, first, second)
			}
			continue
		case "first-prediction-fails":
			if first.status != statusFailed || second.status != statusOK {
				t.Errorf("%s: replies %+v and %+v", f.Name, first, second)
			}
			continue
		case "prediction-raises":
			if first.status != statusRaises || second.status != statusRaises {
				t.Errorf("%s: replies %+v and %+v", f.Name, first, second)
			}
			continue
		case "output-renamed":
			if first.status != statusOtherName || first.text != "encoder_output_embeds" {
				t.Errorf("%s: reply %+v", f.Name, first)
			}
			near(t, first.data, plain)
			continue
		case "output-float16":
			if first.dtype != 65552 || len(first.data) != 2*mels*frames || !slices.Equal(first.shape, []int64{1, 4, 3}) {
				t.Errorf("%s: reply %+v", f.Name, first)
			}
			continue
		case "output-padded-strides":
			if !slices.Equal(first.strides, []int64{76, 19, 1}) || !slices.Equal(first.shape, []int64{1, 4, 3}) || len(first.data) != 4*76 {
				t.Errorf("%s: reply %+v", f.Name, first)
			}
			near(t, first.data[4*19:4*22], frame(1))
			continue
		case "stale-output":
			near(t, first.data, plain)
			near(t, second.data, plain)
			continue
		}
		want, ok := floats[f.Name]
		if !ok {
			t.Errorf("fault %s has no test", f.Name)
			continue
		}
		near(t, first.data, want)
		shape := []int64{1, 4, 3}
		if s := shapes[f.Name]; s != nil {
			shape = s
		}
		if !slices.Equal(first.shape, shape) || bytes.Equal(first.data, second.data) && f.Name != "zeros" && f.Name != "constant-output" && f.Name != "output-too-small" {
			t.Errorf("%s: shape %v, want %v; second reply equal: %v", f.Name, first.shape, shape, bytes.Equal(first.data, second.data))
		}
	}
}
