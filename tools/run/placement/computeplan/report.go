// Package computeplan reads what coremlprobe writes about placement: the compute plan of a model (MLComputePlan) and the list
// of devices (MLAllComputeDevices), and computes from a plan which share of the work each device is given and which operations
// break a chain on the Neural Engine.
//
// A report is one JSON object (schema 1):
//
//	version    of the probe
//	mode       plan or devices
//	host       operating system, its build, hardware, chip
//	framework  com.apple.CoreML, or stand-in where the probe was compiled over this project's stand-in for the framework
//	result     observed, failed, pending (the probe ended inside Core ML), not_observed (the system is too old),
//	           not_asked (the path is no compiled model)
//	error      why it is not observed
//	devices    kind (cpu, gpu, neural_engine, unknown) and cores of each device
//
// and for a plan also
//
//	units       the compute units asked for: all, as the runtime's bridge asks
//	model_kind  program, neural_network or unknown
//	operations  in program order: block, operator, outputs, preferred and supported devices, weight
//
// A weight is the estimated cost of an operation as a share of the whole model, 0 to 1 (MLComputePlanCost). Constants have
// neither a device nor a weight. A plan is what the framework intends, and no recording of a run.
package computeplan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/coremlprobe"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

// Modes of coremlprobe.
const (
	ModePlan    = "plan"
	ModeDevices = "devices"
)

// Frameworks that answered.
const (
	FrameworkApple   = "com.apple.CoreML"
	FrameworkStandIn = "stand-in"
)

// Results.
const (
	Observed    = "observed"
	Failed      = "failed"
	Pending     = "pending"
	NotObserved = "not_observed"
	NotAsked    = "not_asked"
)

// AllUnits is what the runtime's bridge asks for.
const AllUnits = "all"

// MaxBytes bounds a report.
const MaxBytes = 32 << 20

// Bounds of a plan. The encoder of large-v3 in its form for the Neural Engine has some ten thousand operations.
const (
	maxOperations = 100_000
	maxOutputs    = 256
	maxName       = 1024
	maxDevices    = 64
)

// maxTotal bounds the sum of all weights, which are shares of one whole.
const maxTotal = 1.01

// Device is the kind of a compute device.
type Device string

// The kinds. Unknown is a class that the probe does not know.
const (
	CPU          Device = "cpu"
	GPU          Device = "gpu"
	NeuralEngine Device = "neural_engine"
	Unknown      Device = "unknown"
)

// Devices are the kinds in the order in which they are shown.
var Devices = []Device{NeuralEngine, GPU, CPU, Unknown}

// Title is the kind as people call it.
func (d Device) Title() string {
	switch d {
	case CPU:
		return "CPU"
	case GPU:
		return "GPU"
	case NeuralEngine:
		return "Neural Engine"
	}
	return "unknown device"
}

// Listed is one device of the machine.
type Listed struct {
	Kind Device `json:"kind"`
	// Cores of the Neural Engine; nil for other kinds.
	Cores *int `json:"cores"`
}

// Operation is one operation of a program, or one layer of a neural network.
type Operation struct {
	// Block is the function's name, followed by the position of each operation and block that it is nested in.
	Block string `json:"block"`
	// Operator is Core ML's name, such as ios17.conv.
	Operator string `json:"operator"`
	// Outputs are the names that the model gives to what the operation computes.
	Outputs []string `json:"outputs"`
	// Preferred is the device that Core ML intends to use; nil for an operation without one, such as a constant.
	Preferred *Device  `json:"preferred"`
	Supported []Device `json:"supported"`
	// Weight is nil where Core ML gives no estimate.
	Weight *float64 `json:"weight"`
}

// Layer is the operation as the model names it.
func (o *Operation) Layer() string {
	if len(o.Outputs) == 0 {
		return o.Operator
	}
	return o.Outputs[0]
}

// Plan is the report of a plan.
type Plan struct {
	Schema     int                `json:"schema"`
	Version    string             `json:"version"`
	Mode       string             `json:"mode"`
	Host       coremlprobe.Host   `json:"host"`
	Framework  string             `json:"framework"`
	Result     string             `json:"result"`
	Error      *coremlprobe.Error `json:"error"`
	Devices    []Listed           `json:"devices"`
	Units      string             `json:"units"`
	ModelKind  string             `json:"model_kind"`
	Operations []Operation        `json:"operations"`
}

// DeviceList is the report of the machine's devices.
type DeviceList struct {
	Schema    int                `json:"schema"`
	Version   string             `json:"version"`
	Mode      string             `json:"mode"`
	Host      coremlprobe.Host   `json:"host"`
	Framework string             `json:"framework"`
	Result    string             `json:"result"`
	Error     *coremlprobe.Error `json:"error"`
	Devices   []Listed           `json:"devices"`
}

// ParsePlan reads the report of a plan and checks it.
func ParsePlan(data []byte) (*Plan, error) {
	p := &Plan{}
	if err := decode(data, p); err != nil {
		return nil, err
	}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("compute plan of coremlprobe: %w", err)
	}
	return p, nil
}

// ParseDevices reads the report of a device list and checks it.
func ParseDevices(data []byte) (*DeviceList, error) {
	l := &DeviceList{}
	if err := decode(data, l); err != nil {
		return nil, err
	}
	if err := l.Check(); err != nil {
		return nil, fmt.Errorf("device list of coremlprobe: %w", err)
	}
	return l, nil
}

func decode(data []byte, into any) error {
	if len(data) > MaxBytes {
		return fmt.Errorf("placement report of coremlprobe: %d bytes, expected at most %d", len(data), MaxBytes)
	}
	if err := strictjson.Decode(data, into); err != nil {
		return fmt.Errorf("placement report of coremlprobe: %w", err)
	}
	return nil
}

// Check compares a device list with itself.
func (l *DeviceList) Check() error {
	if err := l.header().check(ModeDevices, Observed, Pending, NotObserved); err != nil {
		return err
	}
	if l.Result == Observed && len(l.Devices) == 0 {
		return errors.New("devices: observed, and yet none, not even a processor")
	}
	return nil
}

// Has says whether the machine reports a device of the kind.
func (l *DeviceList) Has(kind Device) bool { return has(l.Devices, kind) }

// Has says whether the machine reports a device of the kind.
func (p *Plan) Has(kind Device) bool { return has(p.Devices, kind) }

func has(list []Listed, kind Device) bool {
	return slices.ContainsFunc(list, func(l Listed) bool { return l.Kind == kind })
}

// header is what both reports have.
type header struct {
	schema                           int
	version, mode, framework, result string
	err                              *coremlprobe.Error
	devices                          []Listed
}

func (p *Plan) header() header {
	return header{p.Schema, p.Version, p.Mode, p.Framework, p.Result, p.Error, p.Devices}
}

func (l *DeviceList) header() header {
	return header{l.Schema, l.Version, l.Mode, l.Framework, l.Result, l.Error, l.Devices}
}

func (h header) check(mode string, results ...string) error {
	switch {
	case h.schema != 1 || h.version == "":
		return fmt.Errorf("expected schema 1 and a version, found schema %d, version %q", h.schema, h.version)
	case h.mode != mode:
		return fmt.Errorf("mode %q, expected %s", h.mode, mode)
	case h.framework != FrameworkApple && h.framework != FrameworkStandIn:
		return fmt.Errorf("framework %q, expected %s or %s", h.framework, FrameworkApple, FrameworkStandIn)
	case !slices.Contains(results, h.result):
		return fmt.Errorf("result %q, expected one of %q", h.result, results)
	case h.result == Observed && h.err != nil:
		return fmt.Errorf("result %s with an error: %s", h.result, h.err)
	case (h.result == NotObserved || h.result == NotAsked) && h.err == nil:
		return fmt.Errorf("result %s without an error that says why", h.result)
	case len(h.devices) > maxDevices:
		return fmt.Errorf("%d devices, expected at most %d", len(h.devices), maxDevices)
	}
	for i, d := range h.devices {
		if !slices.Contains(Devices, d.Kind) || (d.Kind == NeuralEngine) != (d.Cores != nil) || d.Cores != nil && *d.Cores < 0 {
			return fmt.Errorf("device %d: kind %q, expected one of %q, with a number of cores for the Neural Engine alone", i, d.Kind, Devices)
		}
	}
	return nil
}

// Check compares a plan with itself.
func (p *Plan) Check() error {
	if err := p.header().check(ModePlan, Observed, Pending, NotObserved, Failed, NotAsked); err != nil {
		return err
	}
	return p.checkOperations()
}

func (p *Plan) checkOperations() error {
	switch {
	case !slices.Contains([]string{"program", "neural_network", "unknown"}, p.ModelKind):
		return fmt.Errorf("model_kind %q, expected program, neural_network or unknown", p.ModelKind)
	case len(p.Operations) > maxOperations:
		return fmt.Errorf("%d operations, expected at most %d", len(p.Operations), maxOperations)
	case p.Result != Observed && len(p.Operations) > 0:
		return fmt.Errorf("result %s, and yet %d operations", p.Result, len(p.Operations))
	case p.Result == Observed && (p.ModelKind == "unknown" || len(p.Operations) == 0 || len(p.Devices) == 0):
		return fmt.Errorf("observed, with model_kind %q, %d operations and %d devices: expected some of each", p.ModelKind, len(p.Operations), len(p.Devices))
	}
	seen := map[[2]string]bool{}
	total := 0.0
	for i := range p.Operations {
		o := &p.Operations[i]
		if err := p.checkOperation(o); err != nil {
			return fmt.Errorf("operation %d (%.80q): %w", i, o.Layer(), err)
		}
		for _, name := range o.Outputs {
			// Every value of a block is assigned once.
			key := [2]string{o.Block, name}
			if seen[key] {
				return fmt.Errorf("operation %d: the output %.80q of block %.80q is there twice", i, name, o.Block)
			}
			seen[key] = true
		}
		if o.Weight != nil {
			total += *o.Weight
		}
	}
	if total > maxTotal {
		return fmt.Errorf("weights add up to %g, but they are shares of one whole", total)
	}
	return nil
}

func (p *Plan) checkOperation(o *Operation) error {
	if o.Block == "" || o.Operator == "" || len(o.Outputs) > maxOutputs {
		return fmt.Errorf("block %.80q, operator %.80q, %d outputs: expected both names and at most %d outputs", o.Block, o.Operator, len(o.Outputs), maxOutputs)
	}
	for _, name := range append([]string{o.Block, o.Operator}, o.Outputs...) {
		if name == "" || len(name) > maxName {
			return fmt.Errorf("a name of %d bytes, expected 1 to %d", len(name), maxName)
		}
	}
	for i, d := range o.Supported {
		if !slices.Contains(Devices, d) || slices.Contains(o.Supported[:i], d) {
			return fmt.Errorf("supported %q: expected different kinds among %q", o.Supported, Devices)
		}
	}
	switch {
	case o.Preferred == nil && len(o.Supported) > 0:
		return fmt.Errorf("supported by %q, but no device is preferred", o.Supported)
	case o.Preferred != nil && !slices.Contains(o.Supported, *o.Preferred):
		return fmt.Errorf("prefers %q, which is not among the supported %q", *o.Preferred, o.Supported)
	case o.Preferred != nil && !p.Has(*o.Preferred):
		return fmt.Errorf("prefers %q, which the device list does not have", *o.Preferred)
	case o.Weight != nil && !(*o.Weight >= 0 && *o.Weight <= 1):
		return fmt.Errorf("weight %g, expected 0 to 1", *o.Weight)
	case o.Preferred == nil && o.Weight != nil && *o.Weight > 0:
		return fmt.Errorf("weight %g, but no device is preferred", *o.Weight)
	}
	return nil
}
