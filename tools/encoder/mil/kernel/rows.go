package kernel

import "math"

// Softmax writes exp(x-max)/sum over one row. A row with a NaN or +Inf becomes
// all NaN, as the definition gives. dst may be src.
func Softmax(dst, src []float32) {
	if len(src) == 0 {
		return
	}
	_ = dst[len(src)-1]
	if useAsm {
		sum := exp(&dst[0], &src[0], len(src), largest(src), 1, 0)
		scale(dst[:len(src)], float32(1/sum))
		return
	}
	high := float32(math.Inf(-1))
	for _, v := range src {
		high = max(high, v)
	}
	var sum float64
	for i, v := range src {
		e := float32(math.Exp(float64(v - high)))
		dst[i] = e
		sum += float64(e)
	}
	scale(dst[:len(src)], float32(1/sum))
}

// softmaxScaled is Softmax of a row times a factor, in place, with the bytes of one after the other. The row that is
// wanted next begins ahead elements after this one.
func softmaxScaled(r []float32, by float32, ahead int) {
	// The largest product is that of the largest value: rounding keeps the order, for a factor above zero.
	if !useWide || len(r) == 0 || !(by > 0 && by <= math.MaxFloat32) {
		if by != 1 {
			scale(r, by)
		}
		Softmax(r, r)
		return
	}
	sum := exp(&r[0], &r[0], len(r), largest(r)*by, by, 4*ahead)
	scale(r, float32(1/sum))
}

// softmaxHalf is Softmax of a row rounded to float16, in place, itself rounded to float16. ahead is as for softmaxScaled.
func softmaxHalf(r []float32, ahead int) {
	if !useAsm || len(r) == 0 {
		roundToHalf(r)
		Softmax(r, r)
		roundToHalf(r)
		return
	}
	// Rounding keeps the order, so that the largest is rounded from the largest.
	var sum float64
	if useWide {
		sum = expHalfRowWide(&r[0], &r[0], len(r), largest(r), 4*ahead)
	} else {
		sum = expHalfRow(&r[0], &r[0], len(r), largest(r))
	}
	scaleToHalf(r, float32(1/sum))
}

// largest returns the largest value of a row, in the widest registers that there are.
func largest(r []float32) float32 {
	if useWide {
		return maxRowWide(&r[0], len(r))
	}
	return maxRow(&r[0], len(r))
}

// scale multiplies each value by one factor.
func scale(v []float32, by float32) {
	if useAsm && len(v) > 0 {
		scaleRow(&v[0], &v[0], len(v), by)
		return
	}
	for i := range v {
		v[i] *= by
	}
}

// Exp writes e to the power of each value.
func Exp(dst, src []float32) {
	if len(src) == 0 {
		return
	}
	_ = dst[len(src)-1]
	if useAsm {
		exp(&dst[0], &src[0], len(src), 0, 1, 0)
		return
	}
	for i, v := range src {
		dst[i] = float32(math.Exp(float64(v)))
	}
}

// exp writes e to the power of src*by-sub and returns the sum, in the widest registers that there are. by is 1 but
// where useWide is set. What is ahead bytes after src is wanted next.
func exp(dst, src *float32, n int, sub, by float32, ahead int) float64 {
	if useWide {
		return expRowWide(dst, src, n, sub, by, ahead)
	}
	return expRow(dst, src, n, sub)
}

// Gelu writes x/2 * (1 + erf(x/sqrt 2)) for each value; dst may be src.
// At -Inf the formula gives NaN, and so does Gelu.
func Gelu(dst, src []float32) {
	if len(src) == 0 {
		return
	}
	_ = dst[len(src)-1]
	if useWide {
		geluRowWide(&dst[0], &src[0], len(src))
		return
	}
	if useAsm {
		geluRow(&dst[0], &src[0], len(src))
		return
	}
	for i, v := range src {
		t := float32(1 + math.Erf(float64(v)*(math.Sqrt2/2)))
		dst[i] = float32(v*0.5) * t
	}
}

// LayerNorm writes (x-mean)*(1/sqrt(variance+eps))*gamma + beta over one row, with
// the population variance, in float64 throughout and rounded once.
func LayerNorm(dst, src, gamma, beta []float32, eps float64) {
	n := len(src)
	if n == 0 {
		return
	}
	_, _, _ = dst[n-1], gamma[n-1], beta[n-1]
	if useWide {
		layerNormRowWide(&dst[0], &src[0], &gamma[0], &beta[0], n, eps)
		return
	}
	if useAsm {
		layerNormRow(&dst[0], &src[0], &gamma[0], &beta[0], n, eps)
		return
	}
	var mean, variance float64
	for _, v := range src {
		mean += float64(v)
	}
	mean /= float64(n)
	for _, v := range src {
		d := float64(v) - mean
		variance += float64(d * d)
	}
	scale := 1 / math.Sqrt(variance/float64(n)+eps)
	for i, v := range src {
		norm := (float64(v) - mean) * scale
		dst[i] = float32(float64(norm*float64(gamma[i])) + float64(beta[i]))
	}
}

// Add writes x+y for len(dst) elements.
func Add(dst, x, y []float32) {
	if n := len(dst); n > 0 {
		_, _ = x[n-1], y[n-1]
		if useAsm {
			addRows(&dst[0], &x[0], &y[0], n)
			return
		}
		for i := range dst {
			dst[i] = x[i] + y[i]
		}
	}
}

// Sub writes x-y for len(dst) elements.
func Sub(dst, x, y []float32) {
	if n := len(dst); n > 0 {
		_, _ = x[n-1], y[n-1]
		if useAsm {
			subRows(&dst[0], &x[0], &y[0], n)
			return
		}
		for i := range dst {
			dst[i] = x[i] - y[i]
		}
	}
}

// Mul writes x*y for len(dst) elements.
func Mul(dst, x, y []float32) {
	if n := len(dst); n > 0 {
		_, _ = x[n-1], y[n-1]
		if useAsm {
			mulRows(&dst[0], &x[0], &y[0], n)
			return
		}
		for i := range dst {
			dst[i] = x[i] * y[i]
		}
	}
}

// Div writes x/y for len(dst) elements.
func Div(dst, x, y []float32) {
	if n := len(dst); n > 0 {
		_, _ = x[n-1], y[n-1]
		if useAsm {
			divRows(&dst[0], &x[0], &y[0], n)
			return
		}
		for i := range dst {
			dst[i] = x[i] / y[i]
		}
	}
}
