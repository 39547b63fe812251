package reference

import (
	"sync"
	"sync/atomic"
)

// sumLanes is how many sums a row of weights is added up in, side by side.
const sumLanes = 8

// softmax replaces scores by softmax(scores · scale). The largest score may be wrong where one is no
// number: then the sum is none either, nor is any result.
func softmax(scores []float64, scale float64) {
	high, i := highRow(scores)
	for _, v := range scores[i:] {
		if v > high {
			high = v
		}
	}
	var lanes [sumLanes]float64
	for i = expRow(scores, high, scale, &lanes); len(scores)-i >= sumLanes; i += sumLanes {
		for j := range lanes {
			v := exp((scores[i+j] - high) * scale)
			scores[i+j] = v
			lanes[j] += v
		}
	}
	sum := (lanes[0] + lanes[4]) + (lanes[1] + lanes[5]) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]))
	for ; i < len(scores); i++ {
		scores[i] = exp((scores[i] - high) * scale)
		sum += scores[i]
	}
	share := 1 / sum
	for i := scaleRow(scores, share); i < len(scores); i++ {
		scores[i] *= share
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
