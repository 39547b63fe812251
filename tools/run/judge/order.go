package judge

import (
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// checkOneRun adds STALE_LOG for lines that one run of one model cannot print.
func (m markers) checkOneRun(f *verdict.Judgement, r *Run) {
	if m.twoInputs(f, r) {
		return
	}
	for _, kind := range whispercpp.Once() {
		if lines := m.exact[kind]; len(lines) > 1 {
			f.Add(reason.StaleLog, lines[1].where(), "at most one line of kind "+string(kind), plural(len(lines), "line"))
			return
		}
	}
	last, lastKind := -1, whispercpp.LineKind("")
	for _, kind := range whispercpp.Printed() {
		if !m.has(kind) {
			continue
		}
		i := m.exact[kind][0].index
		if i < last {
			f.Add(reason.StaleLog, m.where(kind), fmt.Sprintf("%s after %s, as the program prints them", kind, lastKind), "the other order")
			return
		}
		last, lastKind = i, kind
	}
	for _, kind := range []whispercpp.LineKind{whispercpp.LineLoaded, whispercpp.LineLoadFailed, whispercpp.LineFirstRun} {
		if m.has(kind) && !m.has(whispercpp.LineLoading) {
			f.Add(reason.StaleLog, m.where(kind), "a line that says which encoder is being loaded, before "+string(kind), "none")
			return
		}
	}
	for _, kind := range ofContext {
		if m.has(whispercpp.LineContextError) && m.has(kind) {
			f.Add(reason.StaleLog, m.where(kind), "no line of kind "+string(kind)+" in a run that got no context", "both")
			return
		}
	}
	m.checkPaths(f, r)
}

// ofContext are lines that only a run with a context prints.
var ofContext = []whispercpp.LineKind{whispercpp.LineSystemInfo, whispercpp.LineProcessing, whispercpp.LineTiming, whispercpp.LineTotal, whispercpp.LineDoubleCount}

// twoInputs adds TWO_INPUTS for a run that heard more than one recording, which is one run all the same.
func (m markers) twoInputs(f *verdict.Judgement, r *Run) bool {
	if files := whispercpp.Values(r.Argv, "--file"); len(files) > 1 {
		f.Addf(reason.TwoInputs, "argv", "one -f", "%d: %s", len(files), quote(strings.Join(files, ", ")))
		return true
	}
	heard := m.exact[whispercpp.LineProcessing]
	if len(heard) > 1 && len(m.exact[whispercpp.LineModelFile]) <= 1 && len(m.exact[whispercpp.LineLoading]) <= 1 {
		f.Addf(reason.TwoInputs, heard[1].where(), "one line \"main: processing\"", "%d: %q, then %q", len(heard), heard[0].Path(), heard[1].Path())
		return true
	}
	return false
}

// checkPaths compares the encoder's path in load lines with the path that the runtime derives from each name of the
// model that is known: the evidence's, the command line's, the log's own.
func (m markers) checkPaths(f *verdict.Judgement, r *Run) {
	type name struct{ from, path string }
	var wanted []name
	if r.EncoderPath != nil {
		wanted = append(wanted, name{"encoder_path", r.EncoderPath.Derived})
	}
	if model, ok := whispercpp.LastValue(r.Argv, "--model"); ok && strings.HasSuffix(model, ".bin") {
		wanted = append(wanted, name{"-m", whispercpp.EncoderPath(model)})
	}
	if m.has(whispercpp.LineModelFile) {
		wanted = append(wanted, name{"the log's model line", whispercpp.EncoderPath(m.exact[whispercpp.LineModelFile][0].Path())})
	}
	if m.has(whispercpp.LineLoading) {
		wanted = append(wanted, name{"the log's loading line", m.exact[whispercpp.LineLoading][0].Path()})
	}
	if m.has(whispercpp.LineLoadFailed) {
		wanted = append(wanted, name{"the log's failure line", m.exact[whispercpp.LineLoadFailed][0].Path()})
	}
	for _, w := range wanted {
		if w.path != wanted[0].path {
			f.Add(reason.StaleLog, w.from, fmt.Sprintf("the encoder path %q, as by %s", wanted[0].path, wanted[0].from), fmt.Sprintf("%q", w.path))
			return
		}
	}
}
