// Package reading reads the instruments of placement: it asks Core ML for a compute plan and for its devices, through coremlprobe,
// and lets Instruments record a run, through xctrace. Package placement judges what they said.
package reading

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/coremlprobe"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
)

// DefaultDeadline is how long Core ML may take to answer: a first load compiles the model for the device.
const DefaultDeadline = 15 * time.Minute

// Plan asks Core ML for the plan of a compiled encoder, in a process of its own: its reader can abort the process.
func Plan(ctx context.Context, probe, encoder string, deadline time.Duration) (*placement.Record, error) {
	r := &placement.Record{Schema: 1}
	var err error
	if r.ProbeSHA256, _, err = tree.HashFile(probe); err != nil {
		return nil, err
	}
	if r.EncoderDigest, err = tree.Digest(encoder); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(encoder)
	if err != nil {
		return nil, err
	}
	data, end, err := ask(ctx, probe, deadline, computeplan.ModePlan, path)
	if err != nil {
		return nil, err
	}
	if r.Ended, r.TimedOut = end.Ended, end.TimedOut; r.Ended != "" {
		lines := strings.Split(strings.TrimSpace(end.Stderr), "\n")
		// It names no path: coremlprobe.Start takes them out.
		r.Said = lines[len(lines)-1]
	}
	if data != nil {
		if r.Plan, err = computeplan.ParsePlan(data); err != nil {
			return nil, fmt.Errorf("%w%s", err, end.Said())
		}
		if e := r.Plan.Error; e != nil {
			for _, text := range []*string{e.Description, e.Reason} {
				if text != nil {
					*text = shipped(*text, path)
				}
			}
			for i := range e.Underlying {
				e.Underlying[i] = shipped(e.Underlying[i], path)
			}
		}
	}
	after, err := tree.Digest(encoder)
	if err != nil {
		return nil, err
	}
	if after != r.EncoderDigest {
		return nil, fmt.Errorf("%s: the encoder was %s before its plan was read, and is %s now: leave it alone and read again", encoder, r.EncoderDigest, after)
	}
	return r, r.Check()
}

// shipped is a text that names an encoder as it ships, and not where it was looked at. macOS may put /private before a path.
func shipped(text, path string) string {
	name := filepath.Base(path)
	return strings.NewReplacer("/private"+path, name, path, name).Replace(text)
}

// Devices asks Core ML which devices this machine has.
func Devices(ctx context.Context, probe string, deadline time.Duration) (*computeplan.DeviceList, error) {
	data, end, err := ask(ctx, probe, deadline, computeplan.ModeDevices)
	if err != nil {
		return nil, err
	}
	if end.Ended != "" || data == nil {
		return nil, fmt.Errorf("%s %s: ended by %s%s: expected a list of devices", probe, computeplan.ModeDevices, end.Ended, end.Said())
	}
	return computeplan.ParseDevices(data)
}

// ask starts the probe in a mode and reads the report that it left; nil where it ended before it wrote one.
func ask(ctx context.Context, probe string, deadline time.Duration, args ...string) (_ []byte, _ *coremlprobe.End, err error) {
	dir, err := os.MkdirTemp("", "placement-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	report := filepath.Join(dir, "report.json")
	end, err := coremlprobe.Start(ctx, probe, deadline, append(args, report)...)
	if err != nil {
		return nil, nil, err
	}
	data, err := end.Report(report, computeplan.MaxBytes)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w%s", probe, err, end.Said())
	}
	return data, end, nil
}

// Answer is what Core ML says about one encoder. Plan is nil where the device list alone settles the matter.
type Answer struct {
	Devices *computeplan.DeviceList
	Plan    *placement.Record
}

// Ask asks for the devices first. Where the policy demands the Neural Engine and there is none, nothing else is asked.
func Ask(ctx context.Context, probe, encoder string, p *policy.Policy, deadline time.Duration) (*Answer, error) {
	devices, err := Devices(ctx, probe, deadline)
	if err != nil {
		return nil, err
	}
	if placement.NoNeuralEngine(devices, p) {
		return &Answer{Devices: devices}, nil
	}
	record, err := Plan(ctx, probe, encoder, deadline)
	if err != nil {
		return nil, err
	}
	return &Answer{devices, record}, nil
}
