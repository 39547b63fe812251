package verdict

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// Keys of facts that more than one package reads. The first group says what a judgement is about; a receipt holds it
// to what it binds.
const (
	FactCLI         = "cli_sha256"
	FactContrastCLI = "ggml_cli_sha256"
	FactModel       = "model_sha256"
	FactEncoder     = "encoder_digest"
	FactLane        = "lane"
	// The bytes that a judgement of runs was made from.
	FactCoreMLEvidence   = "coreml_evidence_sha256"
	FactCanaryEvidence   = "canary_evidence_sha256"
	FactContrastEvidence = "contrast_evidence_sha256"
	FactReference        = "reference_sha256"

	FactEncoderForm   = "encoder_form"
	FactEvaluator     = "kernel_path"
	FactCoreMLHost    = "core_ml_host"
	FactUnitsLoaded   = "compute_units_loaded"
	FactUnitsAsked    = "compute_units_asked"
	FactLoadAttempts  = "load_attempts"
	FactPrecision     = "precision"
	FactSatisfiesGate = "satisfies_gate"
	FactProvisional   = "provisional"
	FactInstrument    = "instrument"
	FactPlacement     = "placement"
	FactOSBuild       = "os_build"
	FactSourceFiles   = "files"
)

// FactReader reads the facts of a judgement that passes, and collects what does not allow the pass: a missing fact, one
// of another type, one outside its range. A number just computed is an int or a float64; one read back is a float64.
type FactReader struct {
	of *Judgement
	// Wrong is what does not hold.
	Wrong []reason.Reason
}

// ReadFacts begins to read the facts of j.
func ReadFacts(j *Judgement) *FactReader { return &FactReader{of: j} }

// Fail adds a fact that does not hold.
func (r *FactReader) Fail(key, expected, found string) {
	r.Wrong = append(r.Wrong, reason.Reason{Code: reason.JudgementDiffers, Where: r.of.Name + "." + key, Expected: expected, Found: found})
}

func (r *FactReader) found(key string) string {
	v, ok := r.of.Facts[key]
	if !ok {
		return "no such fact"
	}
	return fmt.Sprint(v)
}

// Text demands one of the texts.
func (r *FactReader) Text(key string, want ...string) {
	text, ok := r.of.Facts[key].(string)
	for _, w := range want {
		if ok && text == w {
			return
		}
	}
	r.Fail(key, strings.Join(want, " or "), r.found(key))
}

// Match demands a text of the form of a regular expression, and returns it.
func (r *FactReader) Match(key string, form *regexp.Regexp) string {
	text, ok := r.of.Facts[key].(string)
	if !ok || !form.MatchString(text) {
		r.Fail(key, "a text of the form "+form.String(), r.found(key))
		return ""
	}
	return text
}

var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Digest demands a SHA-256, and returns it.
func (r *FactReader) Digest(key string) string { return r.Match(key, digestForm) }

// Is demands a truth value.
func (r *FactReader) Is(key string, want bool) {
	if v, ok := r.of.Facts[key].(bool); !ok || v != want {
		r.Fail(key, fmt.Sprint(want), r.found(key))
	}
}

// Number demands a number within bounds, and returns it, or NaN, which meets no comparison.
func (r *FactReader) Number(key string, low, high float64) float64 {
	v, ok := Number(r.of.Facts[key])
	if !ok || !(v >= low && v <= high) {
		r.Fail(key, fmt.Sprintf("a number from %g to %g", low, high), r.found(key))
		return math.NaN()
	}
	return v
}

// Count demands a whole number within bounds, and returns it, or -1.
func (r *FactReader) Count(key string, low, high int) int {
	v, ok := Number(r.of.Facts[key])
	if !ok || v != math.Trunc(v) || v < float64(low) || v > float64(high) {
		expected := fmt.Sprintf("a whole number from %d to %d", low, high)
		if low == high {
			expected = fmt.Sprint(low)
		}
		r.Fail(key, expected, r.found(key))
		return -1
	}
	return int(v)
}

// Number is the value of a fact that is a number.
func Number(fact any) (float64, bool) {
	switch v := fact.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	}
	return 0, false
}
