package reference

import (
	"math"
	"sync"
	"sync/atomic"
)

// softmax replaces scores by softmax(scores / divisor). The largest score may be wrong where one is no
// number: then the sum is none either, nor is any result.
func softmax(scores []float64, divisor float64) {
	high := math.Inf(-1)
	for _, v := range scores {
		if v > high {
			high = v
		}
	}
	for i := expRow(scores, high, divisor); i < len(scores); i++ {
		scores[i] = exp((scores[i] - high) / divisor)
	}
	var sum float64
	for _, v := range scores {
		sum += v
	}
	for i := divideRow(scores, sum); i < len(scores); i++ {
		scores[i] /= sum
	}
}

func plus(x, y []float64) {
	for i, v := range y {
		x[i] += v
	}
}

func widen(v []float32) []float64 {
	if v == nil {
		return nil
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
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
