package verify_test

import (
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/verify"
)

// TestProfiles holds what each profile demands, and that what it does not is listed.
func TestProfiles(t *testing.T) {
	lax := func(t *testing.T, w *gatefixture.World) {
		gatefixture.Precise(t, w.Contract, w.Parity, "float16", "fp16_v1")
	}
	bare := func(_ *testing.T, w *gatefixture.World) {
		w.Contract, w.Parity, w.Spec.Judgements, w.Spec.Required = nil, nil, nil, nil
	}
	for _, c := range []struct {
		name    string
		change  func(*testing.T, *gatefixture.World)
		profile statement.Profile
		code    string
		beyond  int
	}{
		{"all, by default", func(*testing.T, *gatefixture.World) {}, "", "", 0},
		{"float16, by default", lax, "", "JUDGEMENT_DEMANDED", 0},
		{"float16, as release", lax, statement.ProfileRelease, "JUDGEMENT_DEMANDED", 0},
		{"float16, as numbers", lax, statement.ProfileNumbers, "", 1},
		{"runs only, by default", bare, "", "JUDGEMENT_DEMANDED", 0},
		{"runs only, as numbers", bare, statement.ProfileNumbers, "JUDGEMENT_DEMANDED", 0},
		{"runs only, as runs", bare, statement.ProfileRuns, "", 2},
	} {
		s := newScene(t)
		c.change(t, s.world)
		s.rebuild(t)
		s.demands.Profile = c.profile
		r := s.verify(t, s.signed(t))
		beyond := 0
		for _, u := range r.Unchecked {
			if strings.Contains(u, "which the release gate demands") {
				beyond++
			}
		}
		if got := strings.Join(codesOf(r), " "); !strings.HasPrefix(got, c.code) || c.code == "" && got != "" || beyond != c.beyond {
			t.Errorf("%s: %q, %d beyond the profile (%q), want %q, %d", c.name, got, beyond, r.Unchecked, c.code, c.beyond)
		}
	}
	s := newScene(t)
	s.demands.Profile = "lenient"
	if _, err := verify.Verify(t.Context(), s.signed(t), s.demands, s.files); err == nil {
		t.Error("an unknown profile is taken")
	}
}

func codesOf(r *verify.Result) []string {
	var out []string
	for _, x := range r.Reasons {
		out = append(out, x.Code)
	}
	return out
}
