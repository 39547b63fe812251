package parity

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
)

// JudgeOutcome says what a run of coremlprobe means for an encoder whose output has the given name. encoder is the path
// that reasons name. Without reasons the output is what the runtime's bridge would have copied, from a model that loaded
// at all compute units at the first attempt.
func JudgeOutcome(o *probe.Outcome, encoder, output string) []reason.Reason {
	at := func(code, expected, found string) reason.Reason {
		return reason.Reason{Code: code, Where: encoder, Expected: expected, Found: found}
	}
	if o.Report == nil {
		if o.TimedOut {
			return []reason.Reason{at(reason.ProbeTimeout, "an answer of Core ML", "none until the "+o.Ended)}
		}
		return []reason.Reason{at(reason.ProbeCrashed, "a report", o.Ended+" before anything was asked")}
	}
	reasons := JudgeReport(o.Report, encoder, output)
	if o.Ended == "" {
		return reasons
	}
	while := "after the prediction"
	if last := o.Report.Attempts[len(o.Report.Attempts)-1]; last.Result == probe.Pending {
		while = "while it loaded at " + *last.Asked
	} else if o.Report.Prediction.Result == probe.Pending {
		while = "while it predicted"
	}
	// That it is unfinished is a consequence.
	reasons = slices.DeleteFunc(reasons, func(r reason.Reason) bool { return r.Code == reason.ProbeCrashed })
	if o.TimedOut {
		return append(reasons, at(reason.ProbeTimeout, "an answer of Core ML", "none until the "+o.Ended+", "+while))
	}
	return append(reasons, at(reason.ProbeCrashed, "a prediction", o.Ended+" "+while+lastLine(o.Stderr)))
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return ", saying: " + last
	}
	return ""
}

// JudgeReport is [JudgeOutcome] for a report alone, such as one that a sidecar carries.
func JudgeReport(r *probe.Report, encoder, output string) []reason.Reason {
	var reasons []reason.Reason
	add := func(code, expected, found string) {
		reasons = append(reasons, reason.Reason{Code: code, Where: encoder, Expected: expected, Found: found})
	}
	for _, f := range r.Configuration {
		want := f.Default
		if f.Field == "computeUnits" {
			want = probe.AllUnits
		}
		if f.Value != want {
			add(reason.ProbeConfiguration, fmt.Sprintf("%s %s, as the runtime's bridge leaves it", f.Field, want), f.Value)
		}
	}
	first, last := r.Attempts[0], r.Attempts[len(r.Attempts)-1]
	switch {
	case first.Route == probe.RoutePath:
		add(reason.LoadNotAsked, "a compiled model that Core ML can be asked to load", first.Error.String())
		return reasons
	case last.Result == probe.Failed:
		add(reason.LoadFailed, "a model that loads at all compute units", Attempts(r))
		return reasons
	case last.Result == probe.Pending:
		add(reason.ProbeCrashed, "an answer of Core ML", "none, when it was to load at "+*last.Asked)
		return reasons
	case len(r.Attempts) > 1:
		add(reason.LoadFallback, "a model that loads at all compute units, as the runtime's bridge asks", Attempts(r))
	}
	switch p := r.Prediction; p.Result {
	case probe.Failed:
		add(reason.PredictionFailed, "an output", p.Error.String())
		return reasons
	case probe.Predicted:
	default:
		add(reason.ProbeCrashed, "a prediction", "none: it is "+p.Result)
		return reasons
	}
	o, ok := r.Output(output)
	if !ok {
		add(reason.PredictionFailed, "an output named "+output, fmt.Sprintf("outputs %q", r.Features))
		return reasons
	}
	if o.DType != "float32" {
		add(reason.ParityType, "float32", fmt.Sprintf("%s (code %d)", o.DType, o.DTypeCode))
	}
	if !o.Contiguous {
		add(reason.ParityStrides, "elements next to each other, which is how the runtime's bridge copies them", fmt.Sprintf("shape %v with strides %v", o.Shape, o.Strides))
	}
	if o.SharesInput {
		add(reason.ParityAlias, "an output in memory of its own", "one that lies in the input's")
	}
	if !r.InputsUnchanged {
		add(reason.ParityInputChanged, "the mel as it was", "a mel that the prediction changed")
	}
	return reasons
}

// Attempts tells all attempts to load in order, on one line: what was asked, and the answer.
func Attempts(r *probe.Report) string {
	var s []string
	for _, a := range r.Attempts {
		asked, answer := "not asked", a.Result
		if a.Asked != nil {
			asked = *a.Asked
		}
		switch {
		case a.Result == probe.Failed:
			answer = a.Error.String()
		case a.Error != nil:
			answer += ", with " + a.Error.String()
		}
		s = append(s, asked+": "+answer)
	}
	return strings.Join(s, "; ")
}

// ProbedTensor is the float32 output of an outcome, false where there is none.
func ProbedTensor(o *probe.Outcome, output string) (Tensor, bool) {
	if o.Report == nil {
		return Tensor{}, false
	}
	out, ok := o.Report.Output(output)
	if !ok || !out.Written || out.DType != "float32" {
		return Tensor{}, false
	}
	data := o.Tensors[output]
	t := Tensor{Name: "candidate", Shape: out.Shape, Values: make([]float64, len(data)/4)}
	for i := range t.Values {
		t.Values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	}
	return t, true
}
