package memory

import (
	"math"
	"sync"
	"time"
)

// Sampler follows a program's memory: at least once a second, for the record, and in between for the peaks.
type Sampler struct {
	start time.Time
	group func() (Process, bool)
	room  func() *int64

	mu            sync.Mutex
	series        []Reading
	last          Reading
	peakResident  *int64
	peakFootprint *int64
	stop          chan struct{}
	done          chan struct{}
}

// Watch begins to follow the program whose process is pid.
func Watch(pid int, start time.Time) *Sampler {
	return watch(start, Interval, func() (Process, bool) { return Group(pid) }, func() *int64 { return Available().Bytes })
}

func watch(start time.Time, every time.Duration, group func() (Process, bool), room func() *int64) *Sampler {
	s := &Sampler{start: start, group: group, room: room, stop: make(chan struct{}), done: make(chan struct{})}
	go s.follow(every)
	return s
}

func (s *Sampler) follow(every time.Duration) {
	defer close(s.done)
	tick := time.NewTicker(every)
	defer tick.Stop()
	due := 0.0
	for {
		if r := s.Now(); r.Seconds >= due && r.ResidentBytes != nil {
			s.mu.Lock()
			s.series = append(s.series, r)
			s.mu.Unlock()
			due = r.Seconds + 0.99
		}
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
	}
}

// Now reads once, which counts for the peaks too.
func (s *Sampler) Now() Reading {
	p, ok := s.group()
	r := Reading{Seconds: math.Round(time.Since(s.start).Seconds()*1e3) / 1e3, AvailableBytes: s.room()}
	if !ok {
		return r
	}
	footprint, resident := p.Footprint, p.Resident
	r.FootprintBytes, r.ResidentBytes = &footprint, &resident
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = r
	s.peakFootprint, s.peakResident = greater(s.peakFootprint, footprint), greater(s.peakResident, resident)
	return r
}

func greater(old *int64, v int64) *int64 {
	if old != nil && *old >= v {
		return old
	}
	return &v
}

// Followed is what a [Sampler] saw.
type Followed struct {
	// Series is at 1 Hz.
	Series []Reading
	// Last is the last reading while the program ran.
	Last                        Reading
	PeakResident, PeakFootprint *int64
}

// Stop ends following.
func (s *Sampler) Stop() Followed {
	close(s.stop)
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	return Followed{Series: s.series, Last: s.last, PeakResident: s.peakResident, PeakFootprint: s.peakFootprint}
}
