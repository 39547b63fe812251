package eval

import (
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// perElement makes a slice function of a float64 function that is rounded once.
func perElement(f func(float64) float64) func(dst, src []float32) {
	return func(dst, src []float32) {
		for i, v := range src {
			dst[i] = float32(f(float64(v)))
		}
	}
}

// withEpsilon builds f(x + epsilon) for the operations that have one. The sum
// is not rounded before f.
func withEpsilon(otherwise float64, f func(float64) float64) func(c *call) {
	return func(c *call) {
		x := c.float("x")
		eps := c.scalar("epsilon", otherwise)
		if !c.bad {
			c.unary(x, perElement(func(v float64) float64 { return f(v + eps) }))
		}
	}
}

func makeGelu(c *call) {
	x := c.float("x")
	mode := c.string("mode", "EXACT")
	if c.bad {
		return
	}
	switch mode {
	case "EXACT":
		c.unary(x, kernel.Gelu)
	case "TANH_APPROXIMATION":
		c.unary(x, perElement(func(x float64) float64 {
			return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
		}))
	case "SIGMOID_APPROXIMATION":
		c.unary(x, perElement(func(x float64) float64 { return x * logistic(1.702*x) }))
	default:
		c.fail("mode %q is not known; expected EXACT, TANH_APPROXIMATION or SIGMOID_APPROXIMATION", mode)
	}
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func makeClip(c *call) {
	x := c.float("x")
	low, high := c.scalar("alpha", math.Inf(-1)), c.scalar("beta", math.Inf(1))
	if !c.bad && !(low <= high) {
		c.fail("alpha %g is above beta %g", low, high)
	}
	if c.bad {
		return
	}
	a, b := float32(low), float32(high)
	c.unary(x, func(dst, src []float32) {
		for i, v := range src {
			dst[i] = min(max(v, a), b)
		}
	})
}

func relu(x float64) float64 { return math.Max(x, 0) }
