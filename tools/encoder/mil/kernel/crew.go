package kernel

import (
	"runtime"
	"sync/atomic"
)

// job is what one call of a pool has to be done.
type job struct {
	prepare, do func(worker, i int)
	first, rest shares
	unprepared  atomic.Int64
	prepared    chan struct{} // closed when nothing is left to prepare
	working     atomic.Int64  // workers of the crew that are not done
}

func newJob(workers, first int, prepare func(worker, i int), n int, do func(worker, i int)) *job {
	j := &job{prepare: prepare, do: do, first: divide(first, workers), rest: divide(n, workers), prepared: make(chan struct{})}
	j.unprepared.Store(int64(first))
	if first == 0 {
		close(j.prepared)
	}
	return j
}

// work does what is left to do.
func (j *job) work(worker int) {
	for i := range j.first.each(worker) {
		j.prepare(worker, i)
		if j.unprepared.Add(-1) == 0 {
			close(j.prepared)
		}
	}
	ready := false
	for i := range j.rest.each(worker) {
		if !ready {
			if !soon(func() bool { return j.unprepared.Load() == 0 }) {
				<-j.prepared
			}
			ready = true
		}
		j.do(worker, i)
	}
}

// shares are equal parts of what is to be done, one for each worker.
type shares []share

type share struct {
	next, end atomic.Int64
	_         [48]byte // a cache line for each, since each is another worker's
}

func divide(n, workers int) shares {
	s := make(shares, workers)
	for w := range s {
		s[w].next.Store(int64(n * w / workers))
		s[w].end.Store(int64(n * (w + 1) / workers))
	}
	return s
}

// each gives the worker's own part, one at a time, and then what is left of the others'.
func (s shares) each(worker int) func(yield func(i int) bool) {
	return func(yield func(i int) bool) {
		for k := range s {
			of := &s[(worker+k)%len(s)]
			end := of.end.Load()
			for of.next.Load() < end {
				if i := of.next.Add(1) - 1; i < end && !yield(int(i)) {
					return
				}
			}
		}
	}
}

// crew is workers that wait for one job after the other; the caller is worker zero.
type crew struct {
	workers []worker
	done    waiter
}

type worker struct {
	job atomic.Pointer[job]
	new waiter
}

// dismissed is the job after which a worker leaves.
var dismissed = &job{}

func newCrew(threads int) *crew {
	c := &crew{workers: make([]worker, threads), done: newWaiter()}
	for w := 1; w < threads; w++ {
		c.workers[w].new = newWaiter()
		go c.serve(w)
	}
	return c
}

func (c *crew) serve(w int) {
	own := &c.workers[w]
	for {
		own.new.until(func() bool { return own.job.Load() != nil })
		j := own.job.Swap(nil)
		if j == dismissed {
			return
		}
		j.work(w)
		if j.working.Add(-1) == 0 {
			c.done.tell()
		}
	}
}

// carryOut shares a job and returns when it is done.
func (c *crew) carryOut(j *job) {
	workers := len(j.rest)
	j.working.Store(int64(workers - 1))
	for w := 1; w < workers; w++ {
		c.give(w, j)
	}
	j.work(0)
	c.done.until(func() bool { return j.working.Load() == 0 })
}

func (c *crew) dismiss() {
	for w := 1; w < len(c.workers); w++ {
		c.give(w, dismissed)
	}
}

func (c *crew) give(w int, j *job) {
	c.workers[w].job.Store(j)
	c.workers[w].new.tell()
}

// waiter lets one goroutine wait until something is so. Whoever makes it so tells it.
type waiter struct {
	asleep atomic.Bool
	wake   chan struct{}
}

func newWaiter() waiter { return waiter{wake: make(chan struct{}, 1)} }

func (w *waiter) until(so func() bool) {
	for !soon(so) {
		w.asleep.Store(true)
		if so() && w.asleep.CompareAndSwap(true, false) {
			return
		}
		<-w.wake // perhaps for what was so before, and was seen without sleep
	}
}

func (w *waiter) tell() {
	if w.asleep.Swap(false) {
		w.wake <- struct{}{}
	}
}

// soon looks for about a tenth of a millisecond whether something is so: to be woken takes a thread longer than most waits last.
func soon(so func() bool) bool {
	const looks = 500
	for range looks {
		if so() {
			return true
		}
		runtime.Gosched()
	}
	return so()
}
