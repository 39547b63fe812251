package runner

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// CheckWorker compares the identity in a file, which an action's key names, with this machine: for actions
// of the physical lane that run Core ML and no whisper-cli. Another machine is a [*reason.Error].
func CheckWorker(identityFile string) error {
	s := &Spec{LaneIdentityFile: identityFile}
	identity, err := s.identity()
	if err != nil {
		return err
	}
	if err := checkHost(evidence.LanePhysical, runtime.GOOS, runtime.GOARCH); err != nil {
		return err
	}
	return checkIdentity(evidence.LanePhysical, identity, machineIdentity())
}

// checkIdentity compares what the toolchain says about the machine with the machine. A physical run's
// key names OS build, hardware and chip; a worker that is another one must not serve it, and an
// identity with holes could be anyone's.
func checkIdentity(lane evidence.Lane, identity, machine map[string]string) error {
	if named, ok := identity["lane"]; ok && named != string(lane) {
		return reason.Errorf(reason.LaneMismatch, "lane_identity.lane", string(lane), "%q", named)
	}
	if lane != evidence.LanePhysical {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(machine)) {
		if machine[key] == "" {
			return reason.Errorf(reason.WorkerIdentity, "lane_identity."+key, "an answer from this machine, to compare with "+identity[key], "%s", "none")
		}
		if identity[key] != machine[key] {
			return reason.Errorf(reason.WorkerIdentity, "lane_identity."+key, "this machine's own, "+machine[key], "%q", identity[key])
		}
	}
	return nil
}

// checkProcessor refuses a machine that lacks instructions which whisper-cli was built for, as the toolchain names them.
// An identity that names none is not checked: a program that was built elsewhere may need anything.
func checkProcessor(identity map[string]string, missing func(set string) ([]string, error)) error {
	set, ok := identity["instruction_set"]
	if !ok {
		return nil
	}
	lacks, err := missing(set)
	if err != nil {
		return fmt.Errorf("lane identity: %w", err)
	}
	if len(lacks) > 0 {
		return reason.Errorf(reason.CPUFeaturesMissing, "this machine's processor", "the instructions of "+set, "none of %s", strings.Join(lacks, ", "))
	}
	return nil
}
