package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// processName is argv[0] of a supervisor, which has no other argument.
const processName = "rules_coreml_gate: supervisor of a run"

// The descriptors that a supervisor is started with.
const (
	fdOrders = 3 + iota
	fdAnswers
	fdStdout
	fdStderr
)

// order is one line from the caller.
type order struct {
	Do     string   `json:"do"`
	Dir    string   `json:"dir,omitempty"`
	Parent string   `json:"parent,omitempty"`
	Path   string   `json:"path,omitempty"`
	Argv   []string `json:"argv,omitempty"`
	Env    []string `json:"env,omitempty"`
}

// answer is one line to the caller.
type answer struct {
	Error     string            `json:"error,omitempty"`
	Dir       string            `json:"dir,omitempty"`
	Inherited map[string]string `json:"inherited,omitempty"`
	PID       int               `json:"pid,omitempty"`
	Ended     *ending           `json:"ended,omitempty"`
}

// ending is how the program ended, as the kernel told its parent.
type ending struct {
	Status    uint32        `json:"status"`
	Wall      time.Duration `json:"wall"`
	User      time.Duration `json:"user"`
	System    time.Duration `json:"system"`
	PeakBytes int64         `json:"peak_bytes"`
}

// init turns the process into a supervisor if that is what it was started as. It is an init function so
// that every program which imports this package can be its own supervisor, tests included.
func init() {
	if len(os.Args) == 1 && os.Args[0] == processName {
		os.Exit(supervise())
	}
}

// child is the state of a supervisor.
type child struct {
	answers        *json.Encoder
	stdout, stderr *os.File
	dir            string
	cmd            *exec.Cmd
	ended          chan answer
	running        bool
}

// supervise serves orders until the caller releases it or is gone, and returns the exit code.
func supervise() int {
	// The parent-death signal of a process belongs to the thread that started it.
	runtime.LockOSThread()
	c := &child{
		answers: json.NewEncoder(os.NewFile(fdAnswers, "answers")),
		stdout:  os.NewFile(fdStdout, "stdout"), stderr: os.NewFile(fdStderr, "stderr"),
		ended: make(chan answer, 1),
	}
	orders := make(chan order)
	in := json.NewDecoder(os.NewFile(fdOrders, "orders"))
	go func() {
		defer close(orders)
		for {
			var o order
			if in.Decode(&o) != nil {
				return
			}
			orders <- o
		}
	}()
	for {
		select {
		case a := <-c.ended:
			c.running = false
			c.answer(a)
		case o, ok := <-orders:
			switch {
			case !ok:
				_ = c.end()
				if c.dir != "" {
					_ = os.RemoveAll(c.dir)
				}
				return 1
			case o.Do == "release":
				return 0
			}
			c.serve(o)
		}
	}
}

// answer writes one line. A caller that is gone shows at the orders' end.
func (c *child) answer(a answer) { _ = c.answers.Encode(a) }

func (c *child) serve(o order) {
	switch o.Do {
	case "guard":
		inherited, err := isolate()
		if c.dir = o.Dir; err == nil && c.dir == "" {
			c.dir, err = os.MkdirTemp(o.Parent, "gate-run-")
		}
		c.answer(answer{Dir: c.dir, Inherited: inherited, Error: text(err)})
	case "start":
		if err := c.start(o); err != nil {
			c.answer(answer{Error: text(err)})
			return
		}
		c.answer(answer{PID: c.cmd.Process.Pid})
	case "kill":
		c.kill()
	case "finish":
		c.answer(answer{Error: text(c.end())})
	default:
		c.answer(answer{Error: fmt.Sprintf("order %q: expected guard, start, kill, finish or release", o.Do)})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (c *child) start(o order) error {
	c.cmd = &exec.Cmd{Path: o.Path, Args: o.Argv, Dir: o.Dir, Env: o.Env, Stdout: c.stdout, Stderr: c.stderr, SysProcAttr: attributes()}
	if c.cmd.Env == nil {
		c.cmd.Env = []string{}
	}
	start := time.Now()
	err := c.cmd.Start()
	// The streams end when the last process of the run closes them, and this is none.
	c.stdout.Close()
	c.stderr.Close()
	if err != nil {
		return err
	}
	c.running = true
	go func() {
		err := c.cmd.Wait()
		wall := time.Since(start)
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			c.ended <- answer{Error: fmt.Sprintf("wait for the program: %v", err)}
			return
		}
		state := c.cmd.ProcessState
		status, ok := state.Sys().(syscall.WaitStatus)
		if !ok {
			c.ended <- answer{Error: "wait for the program: the system gave no wait status"}
			return
		}
		c.ended <- answer{Ended: &ending{
			Status: uint32(status), Wall: wall, User: state.UserTime(), System: state.SystemTime(), PeakBytes: peakBytes(state),
		}}
	}()
	return nil
}

// pid is the program's, or 0 if none was started.
func (c *child) pid() int {
	if c.cmd == nil || c.cmd.Process == nil {
		return 0
	}
	return c.cmd.Process.Pid
}

// kill sends SIGKILL to every process of the run and says how many were found alive or not yet waited for.
func (c *child) kill() int {
	pid := c.pid()
	if pid == 0 {
		return 0
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	if c.running {
		// The program may have left its own group.
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return killDescendants(pid)
}

// end kills until no process of the run is left.
func (c *child) end() error {
	for deadline := time.Now().Add(endWithin); ; time.Sleep(2 * time.Millisecond) {
		left := c.kill()
		if c.running {
			select {
			case a := <-c.ended:
				c.running = false
				c.answer(a)
			default:
				left++
			}
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d processes that the program started still run after SIGKILL: expected none; look for what holds them in the kernel", left)
		}
	}
}

// endWithin is how long processes may take to die of SIGKILL on a machine however busy.
const endWithin = 30 * time.Second

// isolate undoes what a process inherits beyond its arguments and environment, and returns what it cannot undo.
func isolate() (map[string]string, error) {
	// A handler turns an ignored signal into one that a started program has at its default.
	signal.Notify(make(chan os.Signal, 1))
	syscall.Umask(0o022)
	if err := closeOnExec(); err != nil {
		return nil, err
	}
	if err := platformIsolate(); err != nil {
		return nil, err
	}
	inherited, err := resetLimits()
	if err != nil {
		return nil, err
	}
	if n := niceness(); n != 0 {
		inherited["niceness"] = fmt.Sprint(n)
	}
	return inherited, nil
}
