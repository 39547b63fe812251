// Package ceiling measures what the machine's processors can do at most, with two short kernels: a matrix product that stays
// in the caches, and reading a buffer as large as the weights. A claim that implies more than that is wrong. The kernels are timed
// by the processor time that they got, so that a busy machine has the same peak as an idle one.
package ceiling

import (
	"bytes"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/processor"
)

// Ceiling is a machine's peak.
type Ceiling struct {
	// Units the peak is of: cpu. Other compute units are bounded by nothing here.
	Units string `json:"units"`
	// FLOPPerSecond is in float32, by the kernel that is named, on so many threads.
	FLOPPerSecond float64 `json:"flop_per_second"`
	Kernel        string  `json:"kernel"`
	Threads       int     `json:"threads"`
	// BytesPerSecond is of reading a buffer of BufferBytes.
	BytesPerSecond float64 `json:"bytes_per_second"`
	BufferBytes    int64   `json:"buffer_bytes"`
	// Margin is what a claim may exceed the peak by: no kernel reaches what the processor could.
	Margin float64 `json:"margin"`
}

// Product runs one matrix product on all threads and returns how many operations it had.
type Product func() float64

const (
	// margin covers what the kernel leaves unused, and clocks that rise after it ran. The kernel uses the widest vectors that
	// there are.
	margin = 2
	// window is how long each kernel runs, several times; the best counts, since a busy machine only lowers a peak.
	window = 100 * time.Millisecond
	tries  = 5
)

// Measure runs both kernels. bufferBytes is the size of the weights that a claim reads.
func Measure(kernel string, threads int, product Product, bufferBytes int64) Ceiling {
	c := Ceiling{Units: "cpu", Kernel: kernel, Threads: threads, Margin: margin, BufferBytes: max(1<<20, min(bufferBytes, 1<<30))}
	buffer := make([]byte, c.BufferBytes)
	for range tries {
		c.FLOPPerSecond = math.Max(c.FLOPPerSecond, rate(threads, product))
		c.BytesPerSecond = math.Max(c.BytesPerSecond, rate(threads, func() float64 { return read(buffer, threads) }))
	}
	return c
}

// rate repeats work for the window and returns how much would be done a second with all threads' processors.
func rate(threads int, work func() float64) float64 {
	work()
	start, before, done := time.Now(), processor.Time(), 0.0
	for time.Since(start) < window {
		done += work()
	}
	used := processor.Time() - before
	if used <= 0 {
		return 0
	}
	return done / used.Seconds() * float64(threads)
}

// read looks at every byte of the buffer, shared out among threads.
func read(buffer []byte, threads int) float64 {
	var wg sync.WaitGroup
	part := (len(buffer) + threads - 1) / threads
	for i := 0; i < len(buffer); i += part {
		wg.Go(func() {
			// The buffer is all zeros, so the search goes to its end, with the widest loads that the library has.
			runtime.KeepAlive(bytes.IndexByte(buffer[i:min(i+part, len(buffer))], 1))
		})
	}
	wg.Wait()
	return float64(len(buffer))
}

// Exceeds says whether so much work in so many seconds is more than the peak allows. Nothing exceeds a peak that was not
// measured, and a time of zero exceeds every one.
func Exceeds(work, seconds, peak, margin float64) bool {
	if peak <= 0 || work <= 0 {
		return false
	}
	return seconds <= 0 || work/seconds > peak*margin
}
