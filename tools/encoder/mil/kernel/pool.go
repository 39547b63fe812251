package kernel

import (
	"runtime"
	"sync"
)

// Pool runs independent blocks of work on a number of threads and owns their
// scratch memory. It serves one call at a time.
type Pool struct {
	threads int
	scratch [][]float32
	packed  []float32
	crew    *crew // while started
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
	p.RunAfter(0, nil, n, do)
}

// RunAfter is Run of prepare for each i below first, and then of do for each i below n, which may use what was
// prepared. A worker that finds nothing more to prepare waits for the others only when it has something to do: to start
// the workers once costs less than twice. Neighbours among the i are mostly the same worker's, in every call: what it wrote in
// one it finds in its own cache in the next.
func (p *Pool) RunAfter(first int, prepare func(worker, i int), n int, do func(worker, i int)) {
	workers := min(p.threads, max(first, n))
	if workers <= 1 {
		for i := range first {
			prepare(0, i)
		}
		for i := range n {
			do(0, i)
		}
		return
	}
	j := newJob(workers, first, prepare, n, do)
	if p.crew != nil {
		p.crew.carryOut(j)
		return
	}
	var wait sync.WaitGroup
	for w := 1; w < workers; w++ {
		wait.Go(func() { j.work(w) })
	}
	j.work(0)
	wait.Wait()
}

// Start keeps the workers from one call to the next until stop is called: to start them is dear where calls are short.
// Between calls they look for the next one for about a tenth of a millisecond before they sleep.
func (p *Pool) Start() (stop func()) {
	if p.threads <= 1 || p.crew != nil {
		return func() {}
	}
	p.crew = newCrew(p.threads)
	return func() {
		p.crew.dismiss()
		p.crew = nil
	}
}

// Scratch returns n float32 of the worker's own memory, content undefined.
func (p *Pool) Scratch(worker, n int) []float32 {
	if cap(p.scratch[worker]) < n {
		p.scratch[worker] = make([]float32, n)
	}
	return p.scratch[worker][:n]
}

// room returns n float32 for the packed right sides of one call, content undefined.
func (p *Pool) room(n int) []float32 {
	if cap(p.packed) < n {
		p.packed = make([]float32, n)
	}
	return p.packed[:n]
}

// Release lets go of all scratch memory.
func (p *Pool) Release() {
	clear(p.scratch)
	p.packed = nil
}
