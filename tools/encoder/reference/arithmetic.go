package reference

import (
	"math"
	"sync"
	"sync/atomic"
)

func gelu(x float64) float64 { return x / 2 * (1 + math.Erf(x/math.Sqrt2)) }

// softmax replaces scores by softmax(scores / divisor).
func softmax(scores []float64, divisor float64) {
	high := math.Inf(-1)
	for _, v := range scores {
		high = math.Max(high, v)
	}
	var sum float64
	for i, v := range scores {
		scores[i] = math.Exp((v - high) / divisor)
		sum += scores[i]
	}
	for i := range scores {
		scores[i] /= sum
	}
}

func plus(x, y []float64) {
	for i, v := range y {
		x[i] += v
	}
}

// turn transposes rows by columns.
func turn(x []float64, rows, columns int) []float64 {
	out := make([]float64, len(x))
	for i := range rows {
		for j := range columns {
			out[j*rows+i] = x[i*columns+j]
		}
	}
	return out
}

// cut copies size columns from column at on.
func cut(x []float64, rows, columns, at, size int) []float64 {
	out := make([]float64, rows*size)
	for i := range rows {
		copy(out[i*size:(i+1)*size], x[i*columns+at:])
	}
	return out
}

// parallel calls do for each i below n, spread over the run's threads, or for fewer once the run's
// context is done, which then is the run's failure.
func (r *run) parallel(n int, do func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(r.threads, n) {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := int(next.Add(1)) - 1; i < n && r.ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				do(i)
			}
		}()
	}
	wait.Wait()
	if err := r.ctx.Err(); err != nil && r.err == nil {
		r.err = err
	}
}

// multiply returns a·bᵀ: a has m rows and b has n rows, of k values each.
func (r *run) multiply(a, b []float64, m, n, k int) []float64 {
	if r.err != nil {
		return nil
	}
	out := make([]float64, m*n)
	const rows = 4
	r.parallel((m+rows-1)/rows, func(band int) {
		i := band * rows
		if i+rows > m {
			for ; i < m; i++ {
				for j := range n {
					out[i*n+j] = dot(a[i*k:(i+1)*k], b[j*k:(j+1)*k])
				}
			}
			return
		}
		j := 0
		for ; j+2 <= n; j += 2 {
			eightDots(out[i*n+j:], n, a[i*k:(i+rows)*k], b[j*k:(j+2)*k], k)
		}
		for ; j < n; j++ {
			for x := range rows {
				out[(i+x)*n+j] = dot(a[(i+x)*k:(i+x+1)*k], b[j*k:(j+1)*k])
			}
		}
	})
	return out
}

func dot(a, b []float64) float64 {
	var sum float64
	for i, v := range a {
		sum += float64(v * b[i])
	}
	return sum
}

// eightDots computes four rows of a against two rows of b, which loads each
// value once for several products.
func eightDots(out []float64, stride int, a, b []float64, k int) {
	a0, a1, a2, a3 := a[:k], a[k:][:k], a[2*k:][:k], a[3*k:][:k]
	b0, b1 := b[:k], b[k:][:k]
	var s00, s01, s10, s11, s20, s21, s30, s31 float64
	for i, x := range b0 {
		y := b1[i]
		p, q, s, t := a0[i], a1[i], a2[i], a3[i]
		s00 += float64(p * x)
		s01 += float64(p * y)
		s10 += float64(q * x)
		s11 += float64(q * y)
		s20 += float64(s * x)
		s21 += float64(s * y)
		s30 += float64(t * x)
		s31 += float64(t * y)
	}
	out[0], out[1] = s00, s01
	out[stride], out[stride+1] = s10, s11
	out[2*stride], out[2*stride+1] = s20, s21
	out[3*stride], out[3*stride+1] = s30, s31
}
