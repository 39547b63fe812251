package artifact

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/opset"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
)

// systems says which macOS first reads a specification version
// (coremltools' SPECIFICATION_VERSION constants and availability tables).
var systems = map[int32]string{
	1: "10.13", 2: "10.13.2", 3: "10.14", 4: "10.15", 5: "11.0", 6: "12.0", 7: "13.0", 8: "14.0", 9: "15.0", 10: "26.0",
}

// opsets says which specification version an operation set belongs to.
var opsets = map[string]int32{
	"ios15": 6, "ios16": 7, "ios17": 8, "ios18": 9, "ios26": 10,
	"coreml5": 6, "coreml6": 7, "coreml7": 8, "coreml8": 9, "coreml9": 10,
}

// firstProgramVersion is the specification version that brought ML programs.
const firstProgramVersion = 6

// version compares the specification version with the operation set and the
// stated minimum macOS, and returns the macOS that the artifact needs, "" where
// it is not known.
func (e *encoder) version(minimum string) string {
	v := e.art.SpecificationVersion
	if v == 0 && e.art.Metadata != nil {
		v = e.art.Metadata.SpecificationVersion
	}
	system, ok := systems[v]
	switch {
	case v == 0 && len(e.art.Faults) > 0:
		return "" // the model could not be read, and that is reported
	case !ok:
		e.fault(reason.SpecVersion, e.art.ModelFile, "a specification version from 1 to 10", strconv.Itoa(int(v)))
		return ""
	case e.art.Kind == spec.MLProgram && v < firstProgramVersion:
		e.fault(reason.SpecVersion, e.art.ModelFile, fmt.Sprintf("at least %d for an ML program", firstProgramVersion), strconv.Itoa(int(v)))
	}
	if f := mainFunction(e.art.Program); f != nil {
		needs, known := opsets[strings.ToLower(f.Opset)]
		switch {
		case !known:
			e.fault(reason.SpecVersion, f.Name, "a known operation set (ios15 to ios26)", f.Opset)
		case needs > v:
			e.fault(reason.SpecVersion, f.Name, fmt.Sprintf("an operation set that version %d has", v), f.Opset)
		}
		if known {
			e.operationSet(f, needs)
		}
	}
	if minimum != "" && newer(system, minimum) {
		e.fault(reason.SpecVersionTooNew, e.art.ModelFile, "an encoder for macOS "+minimum,
			fmt.Sprintf("specification version %d, which needs macOS %s", v, system))
	}
	return system
}

// Check refuses a minimum macOS that is not a version: one to three numbers with dots between them.
func (o Options) Check() error {
	minimum := o.MinimumMacOS
	if minimum == "" {
		return nil
	}
	parts := strings.Split(minimum, ".")
	for _, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || strconv.Itoa(n) != p || len(parts) > 3 {
			return fmt.Errorf("minimum macOS: expected a version in digits such as 13.0, found %q: write the version and not its name", minimum)
		}
	}
	return nil
}

// operationSet finds operations that the function's operation set does not have.
func (e *encoder) operationSet(f *mil.Function, version int32) {
	unknown, late := map[string]bool{}, map[string]bool{}
	f.Body.EachOp(func(op *mil.Op) {
		since, ok := opset.Since(op.Type)
		where := fmt.Sprintf("%s, line %d", e.art.ModelFile, op.Line)
		switch {
		case !ok && !unknown[op.Type] && len(unknown) < maxObstacles:
			unknown[op.Type] = true
			e.fault(reason.OperationUnknown, where, "an operation of Core ML", op.Type)
		case ok && since > version && !late[op.Type]:
			late[op.Type] = true
			e.fault(reason.OperationTooNew, where, fmt.Sprintf("an operation of %s, which is %s", f.Opset, opset.Name(version)), fmt.Sprintf("%s, which came with %s", op.Type, opset.Name(since)))
		}
	})
}

// newer reports whether version a is above version b, part by part.
func newer(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		m, n := part(x, i), part(y, i)
		if m != n {
			return m > n
		}
	}
	return false
}

func part(v []string, i int) int {
	if i >= len(v) {
		return 0
	}
	n, _ := strconv.Atoi(v[i])
	return n
}
