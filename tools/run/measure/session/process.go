package session

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/fit"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/governor"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/supervisor"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// process is one start of whisper-cli.
type process struct {
	dir       string
	arguments []string
	env       map[string]string
	deadline  time.Duration
	// ready is called when the program has loaded its model: it then says what it runs on.
	ready func()
}

// ended is what a start gave.
type ended struct {
	exit           string
	stdout, stderr []byte
	wall           time.Duration
	// processor is the seconds of processor time of the program and of what it waited for.
	processor     float64
	peakResident  *int64
	before        memory.Reading
	atLoad, words *memory.Reading
	followed      memory.Followed
	limit         *int64
	available     *int64
}

// run starts the program below a supervisor, which ends it when this process is gone, follows its memory, and waits for its end, the
// deadline, or a cancelled context.
func (p process) run(ctx context.Context) (*ended, error) {
	out := &ended{}
	sup, err := supervisor.StartIn(p.dir)
	if err != nil {
		return nil, err
	}
	defer sup.Close()
	room := memory.Available()
	out.limit, out.available = room.LimitBytes, room.Bytes
	out.before = memory.Reading{AvailableBytes: room.Bytes, FootprintBytes: new(int64), ResidentBytes: new(int64)}
	guard := governor.Watch(fit.Now().Bytes, available)
	defer guard.End()
	over := make(chan struct{})
	defer close(over)
	var sampler *memory.Sampler
	// The context ends the program as a stop and not as an error: what an interrupted run was is kept.
	ran, err := sup.Run(context.WithoutCancel(ctx), supervisor.Program{
		Path: p.dir + "/" + stagedCLI, Argv: p.arguments, Dir: p.dir, Env: p.env, Deadline: p.deadline, Stop: either(ctx.Done(), guard.Stop, over),
		Began:    func(pid int) { sampler = memory.Watch(pid, time.Now()) },
		OnStderr: both(once(printed(whispercpp.LineLoaded, func() { r := sampler.Now(); out.atLoad = &r })), once(printed(whispercpp.LineSystemInfo, p.ready))),
		OnStdout: once(spoken(func() { r := sampler.Now(); out.words = &r })),
	})
	if sampler != nil {
		out.followed = sampler.Stop()
	}
	if err != nil {
		return nil, fmt.Errorf("whisper-cli: %w", err)
	}
	out.stdout, out.stderr, out.wall = ran.Stdout.Data, ran.Stderr.Data, ran.Wall
	out.exit = exitOf(ran.Status, ran.Late, ctx.Err() != nil, guard.Stopped())
	out.processor = ran.User.Seconds() + ran.System.Seconds()
	if ran.PeakBytes > 0 {
		out.peakResident = &ran.PeakBytes
	}
	return out, nil
}

func exitOf(status syscall.WaitStatus, late, stopped, short bool) string {
	switch {
	case status.Signaled() && stopped:
		return "interrupted"
	case status.Signaled() && short:
		return "memory"
	case status.Signaled() && late:
		return "timeout"
	case status.Signaled():
		return fmt.Sprintf("signal %d", status.Signal())
	}
	return fmt.Sprintf("code %d", status.ExitStatus())
}

// available is what the machine says is left; tests answer in its place.
var available = func() *int64 { return memory.Available().Bytes }

// either closes with the first of two channels, or never when the run has ended.
func either(a, b, over <-chan struct{}) <-chan struct{} {
	out := make(chan struct{})
	go func() {
		select {
		case <-a:
			close(out)
		case <-b:
			close(out)
		case <-over:
		}
	}()
	return out
}

// once shows what is kept of a stream to look until that has seen enough.
func once(look func([]byte) bool) func([]byte) {
	done := false
	return func(kept []byte) {
		if !done {
			done = look(kept)
		}
	}
}

// both shows a stream to two who look.
func both(a, b func([]byte)) func([]byte) { return func(kept []byte) { a(kept); b(kept) } }

// printed calls then when a line of the kind is there as a whole line.
func printed(kind whispercpp.LineKind, then func()) func([]byte) bool {
	seen := 0
	return func(text []byte) bool {
		for {
			end := bytes.IndexByte(text[seen:], '\n')
			if end < 0 {
				return false
			}
			line := strings.TrimSuffix(string(text[seen:seen+end]), "\r")
			seen += end + 1
			if l, ok := whispercpp.ReadLine(line); ok && l.Kind == kind {
				then()
				return true
			}
		}
	}
}

// spoken calls then when the first thing that is not a blank was written.
func spoken(then func()) func([]byte) bool {
	return func(text []byte) bool {
		if len(bytes.TrimSpace(text)) == 0 {
			return false
		}
		then()
		return true
	}
}
