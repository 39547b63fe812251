package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// process is one start of whisper-cli.
type process struct {
	dir       string
	arguments []string
	env       map[string]string
	deadline  time.Duration
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

// maxStream bounds what is kept of a stream.
const maxStream = 16 << 20

// run starts the program, follows its memory, and waits for its end, the deadline, or a cancelled context.
func (p process) run(ctx context.Context) (*ended, error) {
	out := &ended{}
	room := memory.Available()
	out.limit, out.available = room.LimitBytes, room.Bytes
	out.before = memory.Reading{AvailableBytes: room.Bytes, FootprintBytes: new(int64), ResidentBytes: new(int64)}
	cmd := &exec.Cmd{Path: p.dir + "/" + stagedCLI, Args: p.arguments, Dir: p.dir, Env: []string{}, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	for k, v := range p.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start whisper-cli: %w", err)
	}
	sampler := memory.Watch(cmd.Process.Pid, start)
	var late, stopped atomic.Bool
	timer := time.AfterFunc(p.deadline, func() { late.Store(true); killGroup(cmd.Process.Pid) })
	unhook := context.AfterFunc(ctx, func() { stopped.Store(true); killGroup(cmd.Process.Pid) })
	var wg sync.WaitGroup
	wg.Go(func() { out.stderr = follow(stderr, loaded(func() { r := sampler.Now(); out.atLoad = &r })) })
	wg.Go(func() { out.stdout = follow(stdout, spoken(func() { r := sampler.Now(); out.words = &r })) })
	wg.Wait()
	waitErr := cmd.Wait()
	out.wall = time.Since(start)
	out.followed = sampler.Stop()
	timer.Stop()
	unhook()
	killGroup(cmd.Process.Pid)
	var failed *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &failed) {
		return nil, fmt.Errorf("wait for whisper-cli: %w", waitErr)
	}
	out.exit = exitOf(cmd.ProcessState, late.Load(), stopped.Load())
	out.processor = cmd.ProcessState.UserTime().Seconds() + cmd.ProcessState.SystemTime().Seconds()
	out.peakResident = peakOf(cmd.ProcessState)
	return out, nil
}

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

func exitOf(state *os.ProcessState, late, stopped bool) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Signaled() && stopped:
		return "interrupted"
	case ok && status.Signaled() && late:
		return "timeout"
	case ok && status.Signaled():
		return fmt.Sprintf("signal %d", status.Signal())
	}
	return fmt.Sprintf("code %d", state.ExitCode())
}

// follow reads a stream to its end, keeps its beginning, and shows each piece to look until that has seen enough.
func follow(r io.Reader, look func([]byte) bool) []byte {
	var kept []byte
	buf := make([]byte, 32<<10)
	done := false
	for {
		n, err := r.Read(buf)
		kept = append(kept, buf[:min(n, maxStream-len(kept))]...)
		if !done && n > 0 {
			done = look(kept)
		}
		if err != nil {
			return kept
		}
	}
}

// loaded calls then when the load marker is there as a whole line.
func loaded(then func()) func([]byte) bool {
	seen := 0
	return func(text []byte) bool {
		for {
			end := bytes.IndexByte(text[seen:], '\n')
			if end < 0 {
				return false
			}
			line := strings.TrimSuffix(string(text[seen:seen+end]), "\r")
			seen += end + 1
			if l, ok := whispercpp.ReadLine(line); ok && l.Kind == whispercpp.LineLoaded {
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

// peakOf is the largest resident set by the system's own account. Linux counts in KiB, macOS in bytes.
func peakOf(state *os.ProcessState) *int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok || usage.Maxrss <= 0 {
		return nil
	}
	peak := int64(usage.Maxrss) * maxrssUnit
	return &peak
}
