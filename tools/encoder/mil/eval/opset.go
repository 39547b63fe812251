package eval

import (
	"strconv"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/opset"
)

// releases are the systems that brought the operation sets CoreML5, CoreML6 and so on, as protobufs name them.
var releases = map[string]int{"CoreML5": 15, "CoreML6": 16, "CoreML7": 17, "CoreML8": 18, "CoreML9": 26}

// since says whether an operation set is that of iOS n or a later one. One that is not known is taken for the newest.
func since(set string, n int) bool {
	if r, ok := releases[set]; ok {
		return r >= n
	}
	r, err := strconv.Atoi(strings.TrimPrefix(set, "ios"))
	return err != nil || r >= n
}

func (c *call) since(n int) bool { return since(c.opset, n) }

// unknown says why an operation is not evaluated: it is Core ML's own, or nobody's.
func unknown(op string) string {
	if v, ok := opset.Since(op); ok {
		return "this operation is not evaluated; Core ML has it since " + opset.Name(v)
	}
	return "this operation is not known; no operation set of Core ML has it"
}
