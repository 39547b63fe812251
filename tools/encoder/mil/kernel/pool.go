package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Pool runs independent blocks of work on a number of threads and owns their
// scratch memory. It serves one call at a time.
type Pool struct {
	threads int
	scratch [][]float32
	packed  []float32
}

// NewPool makes a pool. Zero or fewer threads means one for each processor that
// the Go runtime uses. The number never changes a result.
func NewPool(threads int) *Pool {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return &Pool{threads: threads, scratch: make([][]float32, threads)}
}

// Threads is the number of workers.
func (p *Pool) Threads() int { return p.threads }

// Run calls do(worker, i) for each i below n, each once. A worker runs one call
// at a time; workers are numbered from zero.
func (p *Pool) Run(n int, do func(worker, i int)) {
	workers := min(p.threads, n)
	if workers <= 1 {
		for i := range n {
			do(0, i)
		}
		return
	}
	var next atomic.Int64
	loop := func(worker int) {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			do(worker, i)
		}
	}
	var wait sync.WaitGroup
	wait.Add(workers - 1)
	for w := 1; w < workers; w++ {
		go func() {
			defer wait.Done()
			loop(w)
		}()
	}
	loop(0)
	wait.Wait()
}

// Scratch returns n float32 of the worker's own memory, content undefined.
func (p *Pool) Scratch(worker, n int) []float32 {
	if cap(p.scratch[worker]) < n {
		p.scratch[worker] = make([]float32, n)
	}
	return p.scratch[worker][:n]
}

// Release lets go of all scratch memory.
func (p *Pool) Release() {
	clear(p.scratch)
	p.packed = nil
}
