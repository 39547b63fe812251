package runner

import (
	"syscall"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/supervisor"
)

// exitOf turns a wait status into evidence. A program that ended by itself before the deadline's kill
// reached it is not a timeout.
func exitOf(out *supervisor.Outcome, memory memoryWatch, stopped bool) evidence.Exit {
	status := out.Status
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL && out.Late:
		return evidence.Exit{Kind: evidence.ExitTimeout}
	case status.Signaled() && status.Signal() == syscall.SIGKILL && stopped:
		return evidence.Exit{Kind: evidence.ExitMemory}
	case status.Signaled():
		killed := status.Signal() == syscall.SIGKILL && memory.killed(out.PID, out.Started)
		return evidence.Exit{Kind: evidence.ExitSignal, Signal: int(status.Signal()), OOMKilled: killed}
	}
	return evidence.Exit{Kind: evidence.ExitCode, Code: status.ExitStatus()}
}
