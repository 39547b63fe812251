package dataflow

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/eval"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

// products is a function whose operations multiply with one constant each, in every form that is read by bands and in some that
// are not.
const products = `program(1.0) { func main<ios15>(tensor<fp32, [1, 128, 2]> x) {
	tensor<fp32, [256]> bias = const()[val = tensor<fp32, [256]>(%s)];
	tensor<TYPE, [256, 128, 1]> kernel = const()[val = tensor<TYPE, [256, 128, 1]>(BLOBFILE(path = string("weight.bin"), offset = uint64(64)))];
	tensor<TYPE, [256, 128]> rows = const()[val = tensor<TYPE, [256, 128]>(BLOBFILE(path = string("weight.bin"), offset = uint64(64)))];
	tensor<TYPE, [128, 256]> columns = const()[val = tensor<TYPE, [128, 256]>(BLOBFILE(path = string("weight.bin"), offset = uint64(64)))];
	tensor<fp32, [1, 256, 2]> convolved = conv(x = x, weight = kernel, bias = bias, groups = int32(1), pad_type = string("valid"), strides = tensor<int32, [1]>([1]), dilations = tensor<int32, [1]>([1]), pad = tensor<int32, [2]>([0, 0]));
	tensor<fp32, [1, 2, 128]> t = transpose(x = x, perm = tensor<int32, [3]>([0, 2, 1]));
	tensor<fp32, [1, 2, 256]> projected = linear(x = t, weight = rows, bias = bias);
	tensor<fp32, [1, 2, 256]> unbiased = linear(x = t, weight = rows);
	tensor<fp32, [1, 2, 256]> crossed = matmul(x = t, y = rows, transpose_x = bool(false), transpose_y = bool(true));
	tensor<fp32, [1, 2, 256]> straight = matmul(x = t, y = columns, transpose_x = bool(false), transpose_y = bool(false));
	tensor<fp32, [1, 2, 256]> plain = matmul(x = t, y = columns);
	tensor<fp32, [128, 256]> same = identity(x = columns);
	tensor<fp32, [1, 2, 256]> whole = matmul(x = t, y = same);
} -> (convolved, projected, unbiased, crossed, straight, plain, whole); }`

func traced(t *testing.T, r *reducer, f *mil.Function) map[string][]byte {
	t.Helper()
	p, err := r.function(f)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := eval.Compile(p, f.Name, r, eval.Options{KeepAll: true, Late: r})
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]byte{}
	in := mil.Tensor{DType: mil.Float32, Shape: []int64{1, 128, 2}, Data: encoded(mil.Float32, halfValues(256))}
	if _, err := plan.Trace(t.Context(), map[string]mil.Tensor{"x": in}, func(s eval.Traced) { values[s.Name] = bytes.Clone(s.Data) }); err != nil {
		t.Fatal(err)
	}
	return values
}

// Products by bands give the bytes of products with the whole matrix, for constants from every kind of file.
func TestBands(t *testing.T) {
	var bias []string
	for i := range 256 {
		bias = append(bias, fmt.Sprint(i%7))
	}
	for _, typ := range []mil.DType{mil.Float16, mil.Float32} {
		program := strings.ReplaceAll(fmt.Sprintf(products, "["+strings.Join(bias, ", ")+"]"), "TYPE", typ.String())
		p, err := text.Parse(program)
		if err != nil {
			t.Fatal(err)
		}
		data := encoded(typ, halfValues(1<<15))
		for name, w := range map[string]mil.Weights{"sections": sectioned{file{typ: typ, data: data}}, "mapped": file{typ: typ, data: data}} {
			whole, parts := lateReader(w), lateReader(w)
			parts.atATime = 16 * 128
			want, got := traced(t, whole, p.Functions[0]), traced(t, parts, p.Functions[0])
			if len(whole.joined) != 0 || len(parts.joined) != 6 || parts.joined["convolved"] != "conv" || parts.joined["plain"] != "matmul" || parts.joined["whole"] != "" {
				t.Errorf("%s, %s: in bands are %v, and %v", name, typ, whole.joined, parts.joined)
			}
			for out, v := range want {
				if !bytes.Equal(v, got[out]) {
					t.Errorf("%s, %s: %s differs by bands", name, typ, out)
				}
			}
			if len(got) != len(want)+len(parts.bands) {
				t.Errorf("%s, %s: %d values, %d whole and %d of bands", name, typ, len(got), len(want), len(parts.bands))
			}
		}
		// A file that ends early is an error in a band too.
		short := lateReader(sectioned{file{typ: typ, data: data, ends: len(data) - 1}})
		short.atATime = 16 * 128
		q, err := short.function(p.Functions[0])
		if err != nil {
			t.Fatal(err)
		}
		plan, err := eval.Compile(q, "main", short, eval.Options{KeepAll: true, Late: short})
		if err != nil {
			t.Fatal(err)
		}
		in := mil.Tensor{DType: mil.Float32, Shape: []int64{1, 128, 2}, Data: encoded(mil.Float32, halfValues(256))}
		if _, err := plan.Run(t.Context(), map[string]mil.Tensor{"x": in}); err == nil || !strings.Contains(err.Error(), "EOF") {
			t.Errorf("%s: %v, want the end of the file", typ, err)
		}
	}
}

// Inner steps of the large sizes are compared at some positions, and by every channel there, as the values lie and transposed.
func TestSparse(t *testing.T) {
	for size, want := range map[[2]int]int{{4, 384}: 1, {6, 512}: 1, {12, 768}: 1, {24, 1024}: 3, {32, 1280}: 5} {
		if got := sparse(ggml.Hyperparameters{AudioCtx: 10, AudioLayer: size[0], AudioState: size[1]}); got != want {
			t.Errorf("%d layers of %d: every %d, want %d", size[0], size[1], got, want)
		}
	}
	const rows, columns = 10, 8
	v := halfValues(rows * columns)
	s := Step{Name: "blocks.0.mlp_ln", Inner: true, SNR: math.Inf(-1), rows: rows, columns: columns, every: 5}
	s.want = append(append(s.want, v[:columns]...), v[5*columns:6*columns]...)
	crossed := make([]float32, len(v))
	for i := range v {
		crossed[i%columns*rows+i/columns] = v[i]
	}
	for name, c := range map[string]struct {
		values []float32
		turn   bool
	}{"as it lies": {v, false}, "transposed": {crossed, true}} {
		if snr := s.compare(c.values, c.turn, false, 1); snr != exact {
			t.Errorf("%s: %v dB", name, snr)
		}
		for column := range columns {
			other := append([]float32{}, c.values...)
			at := 5*columns + column
			if c.turn {
				at = column*rows + 5
			}
			other[at] += 5
			if snr := s.compare(other, c.turn, false, 1); snr > 40 {
				t.Errorf("%s, channel %d is another: %v dB", name, column, snr)
			}
		}
	}
}
