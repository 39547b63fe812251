package supervisor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// grace is how long helpers of an ended program may still write before they are killed.
	grace = 3 * time.Second
	// patience is how long the streams may stay open after that, on a machine however busy.
	patience = time.Minute
)

// Program is one start.
type Program struct {
	Path string
	Argv []string
	// Dir is the working directory.
	Dir string
	// Env is the whole environment.
	Env map[string]string
	// Deadline is how long the program may run.
	Deadline time.Duration
	// Stop ends the program when it closes; nil for never. Such a run is whole: its caller knows why it was stopped.
	Stop <-chan struct{}
	// Began is called with the program's process when it was started; nil for nobody.
	Began func(pid int)
	// OnStdout and OnStderr are called with what is kept of a stream each time it grew, from a goroutine of their own; nil for nobody.
	OnStdout, OnStderr func(kept []byte)
}

// Outcome is what a start of the program gave.
type Outcome struct {
	PID     int
	Started time.Time
	Status  syscall.WaitStatus
	// Late says that the deadline passed before the program ended.
	Late           bool
	Stdout, Stderr Stream
	Wall           time.Duration
	User, System   time.Duration
	// PeakBytes is the largest resident set of the program; 0 where the system does not say.
	PeakBytes int64
}

// Supervisor is a process that is ready to start one program.
type Supervisor struct {
	// Dir is the staging directory.
	Dir string
	// Inherited is what a run inherits all the same: hard resource limits and niceness.
	Inherited map[string]string

	cmd            *exec.Cmd
	orders         *os.File
	answers        *json.Decoder
	answerFile     *os.File
	stdout, stderr *reader
	mu             sync.Mutex // over orders
}

// Start starts a supervisor and has it make a staging directory, so that no moment is left in which this
// process could be killed and the directory stay. [Supervisor.Close] leaves the directory to the caller.
func Start() (*Supervisor, error) {
	// The supervisor's own working directory is another.
	parent, err := filepath.Abs(os.TempDir())
	if err != nil {
		return nil, err
	}
	return start(order{Do: "guard", Parent: parent})
}

// StartIn starts a supervisor for a directory that is there already.
func StartIn(dir string) (*Supervisor, error) { return start(order{Do: "guard", Dir: dir}) }

func start(guard order) (_ *Supervisor, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start supervisor: %w", err)
	}
	s := &Supervisor{cmd: &exec.Cmd{Path: self, Args: []string{processName}, Dir: "/", Env: []string{}, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}}
	var ends [4]struct{ r, w *os.File }
	for i := range ends {
		if ends[i].r, ends[i].w, err = os.Pipe(); err != nil {
			return nil, fmt.Errorf("start supervisor: make pipe: %w", err)
		}
	}
	s.cmd.ExtraFiles = []*os.File{ends[0].r, ends[1].w, ends[2].w, ends[3].w}
	s.orders, s.answerFile, s.answers = ends[0].w, ends[1].r, json.NewDecoder(ends[1].r)
	s.stdout, s.stderr = &reader{file: ends[2].r}, &reader{file: ends[3].r}
	err = s.cmd.Start()
	for _, f := range s.cmd.ExtraFiles {
		f.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("start supervisor: %w", err)
	}
	a, err := s.ask(guard)
	if err != nil {
		s.quit() // without a release: the directory goes too
		return nil, err
	}
	s.Dir = a.Dir
	if s.Inherited = a.Inherited; s.Inherited == nil {
		s.Inherited = map[string]string{}
	}
	return s, nil
}

// Close ends the supervisor; the directory stays.
func (s *Supervisor) Close() {
	_ = s.send(order{Do: "release"})
	s.quit()
}

func (s *Supervisor) quit() {
	s.orders.Close()
	s.answerFile.Close()
	_ = s.cmd.Wait()
	s.stdout.file.Close()
	s.stderr.file.Close()
}

func (s *Supervisor) send(o order) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.orders.Write(append(data, '\n'))
	return err
}

// receive reads one answer.
func (s *Supervisor) receive(after string) (*answer, error) {
	a := &answer{}
	if err := s.answers.Decode(a); err != nil {
		return nil, fmt.Errorf("supervisor of the run: no answer to %s (%w): it was killed, and the program with it", after, err)
	}
	if a.Error != "" {
		return nil, fmt.Errorf("supervisor of the run: %s: %s", after, a.Error)
	}
	return a, nil
}

// ask sends an order and reads its answer.
func (s *Supervisor) ask(o order) (*answer, error) {
	if err := s.send(o); err != nil {
		return nil, fmt.Errorf("supervisor of the run: %s: %w", o.Do, err)
	}
	return s.receive(o.Do)
}

// Run starts the program, waits for its end or the deadline, and ends what it started. A context that is
// done ends the program too, and is an error: such a run says nothing.
func (s *Supervisor) Run(ctx context.Context, p Program) (*Outcome, error) {
	env := []string{}
	for k, v := range p.Env {
		env = append(env, k+"="+v)
	}
	started := time.Now()
	begun, err := s.ask(order{Do: "start", Path: p.Path, Argv: p.Argv, Dir: p.Dir, Env: env})
	if err != nil {
		return nil, err
	}
	var late atomic.Bool
	timer := time.AfterFunc(p.Deadline, func() {
		late.Store(true)
		_ = s.send(order{Do: "kill"})
	})
	unhook := context.AfterFunc(ctx, func() { _ = s.send(order{Do: "kill"}) })
	ended := make(chan struct{})
	go func() {
		select {
		case <-p.Stop:
			_ = s.send(order{Do: "kill"})
		case <-ended:
		}
	}()
	if p.Began != nil {
		p.Began(begun.PID)
	}
	s.stdout.grew, s.stderr.grew = p.OnStdout, p.OnStderr
	read := s.drain()
	last, err := s.receive("the program's end")
	close(ended)
	timer.Stop()
	unhook()
	if err == nil {
		err = s.finish(read)
	}
	if err != nil {
		// Without a supervisor the group can still be ended from here.
		_ = syscall.Kill(-begun.PID, syscall.SIGKILL)
		s.abandon(read)
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the run was interrupted (%w) before it was whole: nothing is known about it", context.Cause(ctx))
	}
	if last.Ended == nil {
		return nil, fmt.Errorf("supervisor of the run: expected the program's end, found another answer")
	}
	e := last.Ended
	return &Outcome{
		PID: begun.PID, Started: started, Status: syscall.WaitStatus(e.Status), Late: late.Load(), Stdout: s.stdout.Stream, Stderr: s.stderr.Stream,
		Wall: e.Wall, User: e.User, System: e.System, PeakBytes: e.PeakBytes,
	}, nil
}

// drain reads both streams; the channel closes at the end of both.
func (s *Supervisor) drain() <-chan struct{} {
	read := make(chan struct{})
	go func() {
		var wg sync.WaitGroup
		wg.Go(s.stdout.drain)
		wg.Go(s.stderr.drain)
		wg.Wait()
		close(read)
	}()
	return read
}

// finish ends what an ended program left behind: first by itself, then by force.
func (s *Supervisor) finish(read <-chan struct{}) error {
	select {
	case <-read:
	case <-time.After(grace):
	}
	if _, err := s.ask(order{Do: "finish"}); err != nil {
		return err
	}
	select {
	case <-read:
	case <-time.After(patience):
		// Something left the group and holds a stream open; what it may still say is not waited for.
		s.abandon(read)
	}
	return nil
}

// abandon ends a drain that would wait for ever; the streams then count as truncated.
func (s *Supervisor) abandon(read <-chan struct{}) {
	_ = s.stdout.file.SetReadDeadline(time.Now())
	_ = s.stderr.file.SetReadDeadline(time.Now())
	<-read
}
