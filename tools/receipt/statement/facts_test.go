package statement_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
)

// sources are receipts that pass: those of real gates, and one of each kind that no machine of this project can make.
func sources(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	real, err := filepath.Glob("testdata/real/*.json")
	if err != nil || len(real) < 2 {
		t.Fatalf("real receipts: %v, %v", real, err)
	}
	for _, path := range real {
		if out[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(w *gatefixture.World){
		"words": func(w *gatefixture.World) {
			w.Spec.Judgements = append(w.Spec.Judgements, w.JSON(t, "words.json", w.Words(t)))
		},
		"float16":    func(w *gatefixture.World) { gatefixture.Precise(t, w.Contract, w.Parity, "float16", "fp16_v1") },
		"compressed": func(w *gatefixture.World) { gatefixture.Precise(t, w.Contract, w.Parity, "compressed8", "int8_v1") },
		"a reference that was given": func(w *gatefixture.World) {
			f := w.Parity.Facts
			f["reference"], f[judgements.FactSourceTensor], f[judgements.FactSourceSidecar] = "tensor source.npy", strings.Repeat("4", 64), strings.Repeat("3", 64)
			f["mel"], w.Contract.Facts["weights_finer"] = "tensor mel.npy", true
		},
	} {
		w := gatefixture.New(t)
		change(w)
		w.Write(t)
		out[name] = w.Receipt(t)
	}
	s := decoded(t, gatefixture.New(t))
	gatefixture.Physical(s)
	gatefixture.Placed(t, s)
	data, err := statement.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	out["physical, placed"] = data
	return out
}

// wrong are values that a fact cannot have in a pass: of another type, or outside its values.
func wrong(f *judgements.Fact) []any {
	out := []any{nil, []any{}, map[string]any{}}
	switch f.Type {
	case judgements.Text:
		out = append(out, 7.0, true, strings.Repeat("x", judgements.MaxText+1))
		if empty := f.Key == "compression"; (f.Form != nil || len(f.Values) > 0) && !empty {
			out = append(out, "", "\u00ff/none of these"+strings.Repeat(" at all", 50))
		}
	case judgements.Truth:
		out = append(out, "true", 1.0)
	case judgements.Count:
		out = append(out, "7", true, f.Least-1, f.Most+1, f.Least+0.5)
	case judgements.Number:
		out = append(out, "7", true, f.Least-1, min(f.Most*2+1, 1<<53-1))
	}
	return out
}

// TestClosedFacts takes each fact out of each passing judgement, gives it values that it cannot have, and adds one that no list
// has. Only a fact that its list calls optional may be missing, and only where nothing else rests on it.
func TestClosedFacts(t *testing.T) {
	missing, altered, added, free := 0, 0, 0, map[string]bool{}
	for name, good := range sources(t) {
		s, err := statement.Decode(good)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Predicate.Verdict != reason.Pass {
			t.Errorf("%s: verdict %s", name, s.Predicate.Verdict)
		}
		// refused says whether the receipt with a fact of that judgement bent is refused for it.
		refused := func(j *verdict.Judgement, key string, bend func()) bool {
			t.Helper()
			v, given := j.Facts[key]
			bend()
			defer func() {
				if delete(j.Facts, key); given {
					j.Facts[key] = v
				}
			}()
			err := s.Check()
			var known *reason.Error
			if err != nil && (!errors.As(err, &known) || known.Code != reason.JudgementDiffers || !strings.Contains(known.Where, ".") || known.Expected == "" || known.Found == "") && !strings.Contains(err.Error(), j.Name) {
				t.Errorf("%s: %s.%s: %v does not name judgement, fact, expected and found", name, j.Name, key, err)
			}
			return err != nil
		}
		for _, j := range s.Predicate.Judgements {
			kind, _ := judgements.Lookup(j.Name)
			for _, f := range kind.Facts {
				if v, given := j.Facts[f.Key]; given {
					missing++
					if !refused(j, f.Key, func() { delete(j.Facts, f.Key) }) {
						free[j.Name+"."+f.Key] = true
					}
					for _, value := range wrong(&f) {
						altered++
						if !refused(j, f.Key, func() { j.Facts[f.Key] = value }) {
							t.Errorf("%s: %s.%s may be %v instead of %v", name, j.Name, f.Key, value, v)
						}
					}
				}
			}
			for _, key := range []string{"note", "exit.", "exit ", "", "sha256"} {
				added++
				if !refused(j, key, func() { j.Facts[key] = "x" }) {
					t.Errorf("%s: %s may have a fact %q", name, j.Name, key)
				}
			}
		}
	}
	if want := map[string]bool{"contract.held_to_macos": true}; fmt.Sprint(free) != fmt.Sprint(want) {
		t.Errorf("facts that may be missing: %v, want %v", free, want)
	}
	t.Logf("%d facts taken out, %d values that they cannot have, %d facts that no list has", missing, altered, added)
}

// TestRelations holds that facts which must agree with each other, with the policy or with the receipt do, where each of them
// alone is one that a pass may have.
func TestRelations(t *testing.T) {
	all := sources(t)
	const gate, ready = "testdata/real/gate.json", "testdata/real/ready_encoder.json"
	for _, c := range []struct {
		of, where string
		facts     map[string]any
	}{
		{gate, "contract.tensors", map[string]any{"tensors": 68, "tensors_matched": 68}},
		{gate, "contract.tensors_matched", map[string]any{"tensors_matched": 52}},
		{gate, "contract.pairing_rule", map[string]any{"pairing_rule": "bounded"}},
		{gate, "contract.minimum_macos", map[string]any{"minimum_macos": "11.0"}},
		{gate, "contract.minimum_macos", map[string]any{"specification_version": 8}},
		{ready, "contract.held_to_macos", map[string]any{"held_to_macos": "11.0"}},
		{gate, "contract.precision", map[string]any{"precision": "float16"}},
		{gate, "contract.precision", map[string]any{"compute": "float16"}},
		{gate, "contract.compression", map[string]any{"compression": "int4 linear, per block of 32"}},
		{"compressed", "contract.compression", map[string]any{"compression": ""}},
		{gate, "parity.reference", map[string]any{"weights_finer": true}},
		{gate, "parity.encoder_form", map[string]any{"encoder_form": "mlpackage"}},
		{gate, "parity.source_tensor_sha256", map[string]any{"reference": "tensor mine.npy"}},
		{gate, "parity.source_tensor_sha256", map[string]any{"source_tensor_sha256": strings.Repeat("1", 64)}},
		{"a reference that was given", "parity.source_sidecar_sha256", map[string]any{"source_sidecar_sha256": nil}},
		{gate, "parity.kernel_path", map[string]any{"kernel_path": "portable"}},
		{gate, "parity.max_error", map[string]any{"snr_db": 400}},
		{gate, "parity.max_error", map[string]any{"max_error": 0, "mean_error": 0}},
		{gate, "parity.mean_error", map[string]any{"mean_error": 0}},
		{gate, "parity.satisfies_gate", map[string]any{"satisfies_gate": false}},
		{"float16", "parity.satisfies_gate", map[string]any{"satisfies_gate": true}},
		{gate, "parity.notes", map[string]any{"note": reason.Reason{Code: reason.AneFallback, Found: "x"}}},
		{gate, "parity.notes", map[string]any{"note": reason.Reason{Code: reason.ProducerUnknown, Found: strings.Repeat("x", judgements.MaxText+1)}}},
		{gate, "parity.kernel_path", map[string]any{"note": reason.Reason{Code: reason.EmulatedUnits, Found: "approved by Apple"}}},
		{gate, "markers.notes", map[string]any{"note": reason.Reason{Code: reason.ProducerUnknown, Found: "x"}}},
		{gate, "binding.notes", map[string]any{"note": reason.Reason{Code: reason.PolicyNotGate, Found: "x"}}},
		{gate, "markers.double_predictions", map[string]any{"double_predictions": 2}},
		{gate, "words.coreml_ggml_rate", map[string]any{"coreml_ggml_edits": 1}},
		{"words", "words.ggml_source_rate", map[string]any{"ggml_source_edits": 3}},
		{"words", "words.coreml_source_strict_rate", map[string]any{"coreml_source_strict_rate": 0}},
		{"words", "words.coreml_source_rate", map[string]any{"coreml_source_rate": 0.0051}},
		{"words", "words.provisional", map[string]any{"provisional": true}},
		{"physical, placed", "parity.core_ml_host", map[string]any{"core_ml_host": "Mac16,10, Apple M4, macOS 15.6 (24G84)"}},
		{"physical, placed", "placement.placement", map[string]any{"placement": "Neural Engine 99.0 %, CPU 1.0 % of the estimated cost, planned (MLComputePlan)"}},
		{"physical, placed", "placement.operations", map[string]any{"operations": 15}},
	} {
		s, err := statement.Decode(all[c.of])
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(c.where, ".")
		for key, value := range c.facts {
			j := s.Predicate.Judgement(name)
			if note, ok := value.(reason.Reason); ok {
				j.Notes = append(j.Notes, note)
				continue
			}
			if key == "weights_finer" {
				j = s.Predicate.Judgement("contract")
			}
			if j.Facts[key] = value; value == nil {
				delete(j.Facts, key)
			}
		}
		data, err := strictjson.Canonical(s)
		if err != nil {
			t.Fatal(err)
		}
		_, err = statement.Decode(data)
		if err == nil || !strings.Contains(err.Error(), c.where) && !(c.where == "parity.core_ml_host" && strings.Contains(err.Error(), "24G84")) {
			t.Errorf("%s with %v: %v, want a refusal at %s", c.of, c.facts, err, c.where)
		}
	}
}

// TestFactsOfFailures holds that a judgement which does not pass says nothing beyond its list either, unless building said so,
// and that a fact of no list or another type makes a judgement fail.
func TestFactsOfFailures(t *testing.T) {
	for name, facts := range map[string]map[string]any{
		"a fact of no list": {"approved": "by hand"}, "another type": {"tensors": "67"}, "a list": {"producer": []any{"x"}},
	} {
		for _, verdictOf := range []reason.Verdict{reason.Pass, reason.Unknown, reason.Failed} {
			w := gatefixture.New(t)
			switch verdictOf {
			case reason.Unknown:
				w.Contract.Add(reason.PairingUnreadable, "contract", "x", "y")
			case reason.Failed:
				w.Contract.Add(reason.PairingDiffers, "contract", "x", "y")
			}
			for key, value := range facts {
				w.Contract.Facts[key] = value
			}
			w.Write(t)
			s := decoded(t, w)
			j := s.Predicate.Judgement("contract")
			if j.Verdict != reason.Failed || !j.Has(reason.JudgementDiffers) || s.Predicate.Verdict != reason.Failed {
				t.Errorf("%s in a judgement that says %s: %s %v", name, verdictOf, j.Verdict, j.Reasons)
			}
			// The reason that tells of it cannot be taken away.
			kept := j.Reasons[:0]
			for _, r := range j.Reasons {
				if r.Code != reason.JudgementDiffers {
					kept = append(kept, r)
				}
			}
			if j.Reasons, j.Verdict = kept, reason.VerdictOf(kept); len(kept) == 0 {
				continue
			}
			if _, err := statement.Encode(s); err == nil {
				t.Errorf("%s in a judgement that says %s can be written", name, verdictOf)
			}
		}
	}
}

// TestMembers holds that lane and toolchain of a pass are described by known members alone.
func TestMembers(t *testing.T) {
	good := gatefixture.New(t).Receipt(t)
	for _, c := range []struct {
		where, key, value string
		physical          bool
	}{
		{"toolchain", "compiler", "clang; verified by hand \u2713", false},
		{"toolchain", "libc", "free text, approved by Apple", false},
		{"lane_identity", "baseline", "free text, approved by Apple", false},
		{"toolchain", "compiler", strings.Repeat("c", 129), false},
		{"toolchain", "compiler_sha256", "unknown", false},
		{"toolchain", "audited", "yes", false},
		{"toolchain", "cpu", "", true}, // taken out, see below
		{"lane_identity", "evaluator", "Core ML", false},
		{"lane_identity", "bridge", "upstream", false},
		{"lane_identity", "hosted_by", "Apple", false},
		{"lane_identity", "instruction_set", "Neural Engine", false},
		{"lane_identity", "version", "two", false},
		{"lane_identity", "chip", "the fastest, says <b>me</b>", true},
		{"lane_identity", "os_version", "fifteen", true},
		{"lane_identity", "xcode_build", "", true},
		{"lane_identity", "serial", "C02", true},
	} {
		s, err := statement.Decode(good)
		if err != nil {
			t.Fatal(err)
		}
		if c.physical {
			gatefixture.Physical(s)
		}
		members := s.Predicate.Toolchain
		if c.where == "lane_identity" {
			members = s.Predicate.LaneIdentity
		}
		if members[c.key] = c.value; c.value == "" {
			delete(members, c.key)
		}
		want := c.key
		if c.key == "bridge" {
			want = "core_ml" // which is the other bridge's
		}
		if _, err := statement.Encode(s); err == nil || !strings.Contains(err.Error(), c.where) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%s.%s %q: %v", c.where, c.key, c.value, err)
		}
	}
	s, err := statement.Decode(good)
	if err != nil {
		t.Fatal(err)
	}
	s.Predicate.Toolchain = map[string]string{}
	s.Predicate.Provisional = append(s.Predicate.Provisional, "toolchain: not recorded")
	if _, err := statement.Encode(s); err != nil {
		t.Errorf("no toolchain, which the receipt says: %v", err)
	}
}

// TestNames holds that the lists name the types of models and the code paths as the packages that write them do.
func TestNames(t *testing.T) {
	contract, _ := judgements.Lookup(judgements.Contract)
	types := []string{}
	for i := range ggml.FType(1000) {
		if typ, ok := i.Type(); ok && typ != ggml.F32 && !slices.Contains(types, i.String()) {
			types = append(types, i.String())
		}
	}
	numbers, _ := judgements.Lookup(judgements.Parity)
	for _, c := range []struct {
		list, want []string
	}{{contract.Fact("model_type").Values, types}, {numbers.Fact(verdict.FactEvaluator).Values, []string{kernel.PathPortable, kernel.PathAVX2, kernel.PathNEON}}} {
		list := slices.Sorted(slices.Values(c.list))
		if slices.Sort(c.want); !slices.Equal(list, c.want) {
			t.Errorf("listed are %q, written %q", list, c.want)
		}
	}
}

// TestOnAMac holds what a receipt of a Mac may say: that the Neural Engine failed in a run, and a chip with parentheses in its name.
func TestOnAMac(t *testing.T) {
	s := decoded(t, gatefixture.New(t))
	gatefixture.Physical(s)
	m := s.Predicate.Judgement("markers")
	m.Notes = append(m.Notes, reason.Reason{Code: reason.AneFallback, Where: "stderr line 4", Expected: "no failure of the Neural Engine", Found: "ANECCompile() FAILED"})
	s.Predicate.Judgement("parity").Facts["core_ml_host"] = "VirtualMac2,1, Apple M1 (Virtual), macOS 15.6 (24G720)"
	if _, err := statement.Encode(s); err != nil {
		t.Error(err)
	}
	m.Facts["placement"] = "the GPU"
	if _, err := statement.Encode(s); err == nil || !strings.Contains(err.Error(), "markers.placement") {
		t.Errorf("a placement among the markers: %v", err)
	}
}
