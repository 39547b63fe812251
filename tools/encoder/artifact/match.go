package artifact

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
)

// samples is the number of values at which candidates are compared.
const samples = 512

// place is the index of sample k of n values.
func place(k int, n int64) int64 {
	if n <= samples {
		return int64(k)
	}
	// Spread over the tensor, with odd steps so that rows and columns are both
	// visited.
	return (int64(k)*n/samples + int64(k)*7) % n
}

func sampleCount(n int64) int { return int(min(n, samples)) }

// same is equality after rounding to the coarser of two types: a float16 that
// came from a float32, either way round.
func same(a, b float32) bool {
	return a == b ||
		ggml.Float16ToFloat32(ggml.Float32ToFloat16(a)) == b ||
		a == ggml.Float16ToFloat32(ggml.Float32ToFloat16(b))
}

// variant says how a converter may have stored a tensor.
type variant struct {
	crossed bool
	// scale is a factor that was multiplied into the weight.
	scale float32
	// gain is set where a bias was divided by the gain of its norm, as the
	// norms for the Neural Engine want it.
	gain []float32
}

// nearest finds the weight whose sampled values are closest.
func (p *pairing) nearest(t ggml.Tensor, ref []float32) (best *candidate, by variant, distance float64) {
	distance = math.Inf(1)
	shape := squeeze(t.Shape())
	for _, v := range p.variants(t) {
		want := ref
		if v.gain != nil || v.scale != 1 {
			want = slices.Clone(ref)
			for i := range want {
				want[i] *= v.scale
				if v.gain != nil {
					want[i] /= v.gain[place(i, t.Elements())]
				}
			}
		}
		for _, c := range p.candidates {
			if slices.Equal(c.squeezed, shape) {
				if d := apart(want, c.straight); d < distance || d == distance && best.used && !c.used {
					best, by, distance = c, v, d
				}
			}
			if len(shape) == 2 && c.squeezed != nil && len(c.squeezed) == 2 && c.squeezed[0] == shape[1] && c.squeezed[1] == shape[0] {
				if d := apart(want, c.crossed); d < distance || d == distance && best.used && !c.used {
					best, by, distance = c, variant{crossed: true, scale: v.scale, gain: v.gain}, d
				}
			}
		}
		if distance == 0 && best != nil && !best.used {
			return best, by, distance
		}
	}
	return best, by, distance
}

// variants lists the forms to look for, the plain one first.
func (p *pairing) variants(t ggml.Tensor) []variant {
	list := []variant{{scale: 1}}
	h := p.model.Hyperparameters
	width := float64(h.AudioState / h.AudioHead)
	attention := strings.Contains(t.Name, ".attn.query.") || strings.Contains(t.Name, ".attn.key.")
	if attention && width > 0 {
		// Converters fold the scale of the products into the projections.
		list = append(list, variant{scale: float32(math.Pow(width, -0.5))}, variant{scale: float32(math.Pow(width, -0.25))})
	}
	if norm, ok := strings.CutSuffix(t.Name, "ln.bias"); ok || strings.HasSuffix(t.Name, "ln_post.bias") {
		name := norm + "ln.weight"
		if !ok {
			name = strings.TrimSuffix(t.Name, "bias") + "weight"
		}
		if g, found := p.model.Tensor(name); found && g.Elements() == t.Elements() {
			if gain, err := p.model.Float32s(g); err == nil {
				list = append(list, variant{scale: 1, gain: gain})
			}
		}
	}
	return list
}

// apart is the distance of b from a, see distance.
func apart(a, b []float32) float64 {
	var d, s, sum float64
	for i := range a {
		if !same(a[i], b[i]) {
			x := float64(a[i]) - float64(b[i])
			d += x * x
		}
		s += float64(a[i]) * float64(a[i])
		sum += float64(a[i])
	}
	return distance(d, s, sum, int64(len(a)))
}

// reference samples a tensor of the model.
func (p *pairing) reference(t ggml.Tensor) ([]float32, error) {
	n := t.Elements()
	out := make([]float32, sampleCount(n))
	info, _ := t.Type.Info()
	raw := make([]byte, info.BlockBytes)
	values := make([]float32, info.Block)
	data := p.model.Data(t)
	for i := range out {
		at := place(i, n)
		if k, err := data.ReadAt(raw, at/info.Block*info.BlockBytes); k < len(raw) {
			return nil, fmt.Errorf("read tensor %s: %w", t.Name, err)
		}
		if err := ggml.Decode(t.Type, values, raw); err != nil {
			return nil, err
		}
		out[i] = values[at%info.Block]
	}
	return out, nil
}
