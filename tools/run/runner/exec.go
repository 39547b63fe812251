package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

const (
	// maxStream bounds what is kept of each output stream, in bytes.
	maxStream = 16 << 20
	// grace is how long helpers of an ended program may still write before they are killed.
	grace = 3 * time.Second
	// patience is how long the streams may stay open after that, on a machine however busy.
	patience = time.Minute
)

// program is one start of whisper-cli.
type program struct {
	path     string
	argv     []string
	dir      string
	env      map[string]string
	deadline time.Duration
}

// captured is one stream: its first maxStream bytes, and how many there were.
type captured struct {
	data      []byte
	total     int64
	truncated bool
}

// outcome is what a start of the program gave.
type outcome struct {
	exit           evidence.Exit
	stdout, stderr captured
	wall           time.Duration
	user, system   time.Duration
	peakBytes      int64
}

// run starts the program, waits for its end or the deadline, and ends its process group.
func (p program) run(ctx context.Context) (*outcome, error) {
	cmd := &exec.Cmd{Path: p.path, Args: p.argv, Dir: p.dir, Env: []string{}, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	for k, v := range p.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	stdout, err := pipe(&cmd.Stdout)
	if err != nil {
		return nil, err
	}
	stderr, err := pipe(&cmd.Stderr)
	if err != nil {
		return nil, err
	}
	memory := watchMemory()
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start whisper-cli: %w", err)
	}
	stdout.writer.Close()
	stderr.writer.Close()

	var late atomic.Bool
	stop := func() {
		late.Store(true)
		killGroup(cmd.Process.Pid)
	}
	timer := time.AfterFunc(p.deadline, stop)
	unhook := context.AfterFunc(ctx, stop)
	read := make(chan struct{})
	go func() {
		var wg sync.WaitGroup
		wg.Go(stdout.drain)
		wg.Go(stderr.drain)
		wg.Wait()
		close(read)
	}()
	waitErr := cmd.Wait()
	wall := time.Since(start)
	timer.Stop()
	unhook()

	// What the program started ends with it: first by itself, then by force.
	select {
	case <-read:
	case <-time.After(grace):
	}
	killGroup(cmd.Process.Pid)
	select {
	case <-read:
	case <-time.After(patience):
		// Something left the group and holds a stream open; what it may still say is not waited for.
		stdout.abandon()
		stderr.abandon()
		<-read
	}
	var failed *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &failed) {
		return nil, fmt.Errorf("wait for whisper-cli: %w", waitErr)
	}
	out := &outcome{
		exit: exitOf(cmd.ProcessState, late.Load(), func() bool { return memory.killed(cmd.Process.Pid, start) }), stdout: stdout.captured, stderr: stderr.captured,
		wall: wall, user: cmd.ProcessState.UserTime(), system: cmd.ProcessState.SystemTime(), peakBytes: peakBytes(cmd.ProcessState),
	}
	return out, nil
}

// exitOf turns a wait status into evidence. A program that ended by itself before the deadline's kill
// reached it is not a timeout.
func exitOf(state *os.ProcessState, late bool, oom func() bool) evidence.Exit {
	status, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Signaled() && status.Signal() == syscall.SIGKILL && late:
		return evidence.Exit{Kind: evidence.ExitTimeout}
	case ok && status.Signaled():
		return evidence.Exit{Kind: evidence.ExitSignal, Signal: int(status.Signal()), OOMKilled: status.Signal() == syscall.SIGKILL && oom()}
	}
	return evidence.Exit{Kind: evidence.ExitCode, Code: state.ExitCode()}
}

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// reader is the reading side of one stream.
type reader struct {
	captured
	reader, writer *os.File
}

// pipe gives the program the writing side of a pipe as one of its streams. It is a plain file to
// os/exec, so that waiting for the program does not wait for those who inherited the stream.
func pipe(stream *io.Writer) (*reader, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	*stream = w
	return &reader{reader: r, writer: w}, nil
}

// drain reads to the end of the stream and keeps the first maxStream bytes.
func (r *reader) drain() {
	defer r.reader.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := r.reader.Read(buf)
		keep := min(n, maxStream-len(r.data))
		r.data = append(r.data, buf[:keep]...)
		r.total += int64(n)
		r.truncated = r.truncated || keep < n
		if err != nil {
			r.truncated = r.truncated || !errors.Is(err, io.EOF)
			return
		}
	}
}

// abandon ends a drain that would wait for ever; the stream then counts as truncated.
func (r *reader) abandon() { _ = r.reader.SetReadDeadline(time.Now()) }
