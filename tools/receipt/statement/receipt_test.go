package statement_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

// TestBuild bends a gate that passes, one thing at a time: the receipt is always written, and says why.
func TestBuild(t *testing.T) {
	zero := strings.Repeat("0", 64)
	for _, c := range []struct {
		name      string
		change    func(t *testing.T, w *gatefixture.World)
		verdict   reason.Verdict
		judgement string
		code      string
	}{
		{"good", func(*testing.T, *gatefixture.World) {}, reason.Pass, "binding", ""},
		{"other program", func(t *testing.T, w *gatefixture.World) { w.File(t, "whisper-cli", "rebuilt") }, reason.Failed, "binding", "DIGEST_MISMATCH"},
		{"other model", func(t *testing.T, w *gatefixture.World) { w.File(t, "ggml-model.bin", "retrained") }, reason.Failed, "binding", "DIGEST_MISMATCH"},
		{"extra file in the encoder", func(t *testing.T, w *gatefixture.World) {
			w.File(t, "ggml-model-encoder.mlmodelc/weights/weight2.bin", "x")
		}, reason.Failed, "binding", "DIGEST_MISMATCH"},
		{"other audio", func(t *testing.T, w *gatefixture.World) { w.File(t, "audio.wav", "RIFFX") }, reason.Failed, "binding", "DIGEST_MISMATCH"},
		{"other contrast program", func(t *testing.T, w *gatefixture.World) { w.File(t, "whisper-cli-ggml", "x") }, reason.Failed, "binding", "DIGEST_MISMATCH"},
		{"other patch", func(t *testing.T, w *gatefixture.World) { w.File(t, "patch", "x") }, reason.Failed, "binding", "DIGEST_MISMATCH"},
		{"other manifest", func(t *testing.T, w *gatefixture.World) { w.File(t, "manifest", "x") }, reason.Failed, "binding", "DIGEST_MISMATCH"},
		{"edited source", func(t *testing.T, w *gatefixture.World) {
			w.Sources.Verdict, w.Sources.Mismatches = "fail", []pin.Mismatch{{Path: "src/whisper.cpp", Expected: zero, Found: "absent"}}
			w.Write(t)
		}, reason.Failed, "sources", "SOURCES_CHANGED"},
		{"sources of another manifest", func(t *testing.T, w *gatefixture.World) {
			w.Sources.ManifestSHA256 = zero
			w.Write(t)
		}, reason.Failed, "sources", "SOURCES_CHANGED"},
		{"experimental flavour", func(t *testing.T, w *gatefixture.World) {
			w.CoreML.Flavour, w.Canary.Flavour = "coreml_unpatched", "coreml_unpatched"
			w.Write(t)
		}, reason.Failed, "binding", "FLAVOUR_EXPERIMENTAL"},
		{"policy of one's own", func(t *testing.T, w *gatefixture.World) {
			w.Spec.Policies = []string{w.Policy(t, "mine")}
		}, reason.Failed, "binding", "POLICY_NOT_FROZEN"},
		{"no policy", func(t *testing.T, w *gatefixture.World) { w.Spec.Policies = nil }, reason.Failed, "binding", "POLICY_MISSING"},
		{"crashed canary", func(t *testing.T, w *gatefixture.World) {
			w.Canary.Exit = evidence.Exit{Kind: evidence.ExitSignal, Signal: 6}
			w.Write(t)
		}, reason.Failed, judge.Canary, "CANARY_SIGNAL"},
		{"silenced run", func(t *testing.T, w *gatefixture.World) {
			evidencetest.SetStreams(w.CoreML, "", evidencetest.Reference)
			w.Write(t)
		}, reason.Unknown, judge.Markers, "LOG_SILENCED"},
		{"fault", func(t *testing.T, w *gatefixture.World) {
			w.CoreML.Fault = "gain-1pct"
			w.Write(t)
		}, reason.Failed, judge.Markers, "FAULT_INJECTED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := gatefixture.New(t)
			c.change(t, w)
			s, err := statement.Decode(w.Receipt(t))
			if err != nil {
				t.Fatal(err)
			}
			if s.Predicate.Verdict != c.verdict {
				t.Errorf("verdict %s, want %s", s.Predicate.Verdict, c.verdict)
			}
			for _, j := range s.Predicate.Judgements {
				if j.Name != c.judgement {
					continue
				}
				got := ""
				if len(j.Reasons) > 0 {
					got = j.Reasons[0].Code
				}
				if got != c.code {
					t.Errorf("%s has %v, want first %q", j.Name, j.Reasons, c.code)
				}
			}
		})
	}
}

// TestOtherJudgements compares judgements of other actions with what the receipt binds.
func TestOtherJudgements(t *testing.T) {
	zero := strings.Repeat("0", 64)
	for _, c := range []struct {
		name    string
		change  func(j *verdict.Judgement)
		verdict reason.Verdict
		code    string
	}{
		{"good", func(*verdict.Judgement) {}, reason.Pass, ""},
		{"of another encoder", func(j *verdict.Judgement) { j.Facts["encoder_digest"] = zero }, reason.Failed, "DIGEST_MISMATCH"},
		{"of another model", func(j *verdict.Judgement) { j.Facts["model_sha256"] = zero }, reason.Failed, "DIGEST_MISMATCH"},
		{"of another program", func(j *verdict.Judgement) { j.Facts["cli_sha256"] = zero }, reason.Failed, "DIGEST_MISMATCH"},
		{"of another ggml build", func(j *verdict.Judgement) { j.Facts["ggml_cli_sha256"] = zero }, reason.Failed, "DIGEST_MISMATCH"},
		{"of another lane", func(j *verdict.Judgement) { j.Facts["lane"] = "physical" }, reason.Failed, "DIGEST_MISMATCH"},
		{"of Core ML", func(j *verdict.Judgement) { j.Facts["core_ml_host"] = gatefixture.MacHost }, reason.Failed, "JUDGEMENT_LANE"},
		{"of a device", func(j *verdict.Judgement) { j.Facts["compute_units_loaded"] = "all" }, reason.Failed, "JUDGEMENT_LANE"},
		{"of nobody knows what", func(j *verdict.Judgement) { delete(j.Facts, "kernel_path") }, reason.Failed, "JUDGEMENT_LANE"},
		{"by no policy", func(j *verdict.Judgement) { j.Policy = nil }, reason.Failed, "POLICY_NOT_FROZEN"},
		{"by an edited policy", func(j *verdict.Judgement) { j.Policy.SHA256 = zero }, reason.Failed, "POLICY_NOT_FROZEN"},
		{"by a policy of one's own", func(j *verdict.Judgement) { j.Policy.Name = "lenient" }, reason.Failed, "POLICY_NOT_FROZEN"},
		{"failed", func(j *verdict.Judgement) { j.Add(reason.ParitySNR, "output", "more", "less") }, reason.Failed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := gatefixture.New(t)
			c.change(w.Parity)
			w.Write(t)
			s := decoded(t, w)
			got := ""
			if binding := s.Predicate.Judgements[0]; len(binding.Reasons) > 0 {
				got = binding.Reasons[0].Code
			}
			if s.Predicate.Verdict != c.verdict || got != c.code {
				t.Errorf("verdict %s, binding %q, want %s, %q", s.Predicate.Verdict, got, c.verdict, c.code)
			}
			if got := s.Predicate.Policies; c.verdict == reason.Pass && (len(got) != 2 || got[1].Name != "fp32_v2" || !got[1].Frozen) {
				t.Errorf("the judgement's policy is not among the receipt's: %+v", got)
			}
		})
	}
}

// TestLaxPolicy holds that a receipt says so when its numbers were judged by a policy that does not satisfy the release gate.
func TestLaxPolicy(t *testing.T) {
	w := gatefixture.New(t)
	gatefixture.Precise(t, w.Contract, w.Parity, "float16", "fp16_v1")
	w.Write(t)
	p := decoded(t, w).Predicate
	if last := p.Provisional[len(p.Provisional)-1]; p.Verdict != reason.Pass || !strings.Contains(last, "does not satisfy the release gate") {
		t.Errorf("verdict %s, provisional ends with %q", p.Verdict, last)
	}
}

// TestUnknownJudgement holds that a judgement which no gate makes is not an input, and that neither is one given twice.
func TestUnknownJudgement(t *testing.T) {
	for _, name := range []string{"odd", "binding", "sources", "contract", ""} {
		w := gatefixture.New(t)
		w.Spec.Judgements = append(w.Spec.Judgements, w.JSON(t, "more.json", verdict.NewJudgement(name)))
		if _, err := w.Build(t); err == nil || !strings.Contains(err.Error(), "judgement") {
			t.Errorf("judgement %q: %v, want it refused", name, err)
		}
	}
}

// TestJudgedByActions holds that the judgements of the runs come from their action and are of this gate's bytes: one that
// is missing, altered, or made from other evidence leaves no pass.
func TestJudgedByActions(t *testing.T) {
	zero := strings.Repeat("0", 64)
	for _, k := range judgements.All {
		if k.Source != judgements.Runs {
			continue
		}
		w := gatefixture.New(t)
		i := slices.Index(judgements.Of(judgements.Runs), k.Name)
		build := func(change func(j *verdict.Judgement)) *statement.Statement {
			t.Helper()
			spec := w.Spec
			files := w.JudgeRuns(t)
			data, err := os.ReadFile(files[i])
			if err != nil {
				t.Fatal(err)
			}
			j := &verdict.Judgement{}
			if err := json.Unmarshal(data, j); err != nil {
				t.Fatal(err)
			}
			if change == nil {
				files = slices.Delete(files, i, i+1)
			} else {
				change(j)
				w.JSON(t, filepath.Base(files[i]), j)
			}
			spec.Judgements = append(files, spec.Judgements...)
			s, err := statement.Build(&spec)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		if s := build(func(*verdict.Judgement) {}); s.Predicate.Verdict != reason.Pass {
			t.Fatalf("%s as it is: %s", k.Name, s.Predicate.Verdict)
		}
		if s := build(nil); s.Predicate.Verdict != reason.Failed {
			t.Errorf("without %s: %s, want fail", k.Name, s.Predicate.Verdict)
		}
		for _, fact := range k.About {
			if s := build(func(j *verdict.Judgement) { delete(j.Facts, fact) }); s.Predicate.Verdict != reason.Failed {
				t.Errorf("%s without %s: %s, want fail", k.Name, fact, s.Predicate.Verdict)
			}
			if s := build(func(j *verdict.Judgement) { j.Facts[fact] = zero }); s.Predicate.Verdict != reason.Failed {
				t.Errorf("%s of another %s: %s, want fail", k.Name, fact, s.Predicate.Verdict)
			}
		}
	}
}

// TestWords holds that a receipt names the words judgement, is not a pass without one that its gate declares, and says that
// one is provisional.
func TestWords(t *testing.T) {
	w := gatefixture.New(t)
	w.Spec.Required = append(w.Spec.Required, "words")
	if s := decoded(t, w); s.Predicate.Verdict != reason.Failed {
		t.Errorf("without the words that it declares the verdict is %s, want fail", s.Predicate.Verdict)
	}
	j := w.Words(t)
	j.Facts["provisional"], j.Facts["recordings"] = true, 2
	w.Spec.Judgements = append(w.Spec.Judgements, w.JSON(t, "words.json", j))
	s := decoded(t, w)
	p := s.Predicate
	if p.Verdict != reason.Pass || p.Judgements[len(p.Judgements)-1].Name != "words" || !slices.Contains(p.Required, "words") {
		t.Errorf("verdict %s with judgements %v, required %v", p.Verdict, p.Judgements, p.Required)
	}
	if !slices.ContainsFunc(p.Provisional, func(m string) bool { return strings.HasPrefix(m, "words: provisional") }) {
		t.Errorf("provisional is %q, want the words in it", p.Provisional)
	}
	s.Predicate.Judgements = p.Judgements[:len(p.Judgements)-1]
	if _, err := statement.Encode(s); err == nil {
		t.Error("a pass without the words that its gate declares can be written")
	}
}

// TestToolchain holds that compilers and linkers stand in a receipt by digest, or as not found.
func TestToolchain(t *testing.T) {
	w := gatefixture.New(t)
	w.Spec.ToolchainPrograms = map[string]string{"compiler": w.Spec.CLI, "linker": w.Dir + "/nowhere"}
	w.Spec.Toolchain["libc"] = "glibc (2.31), \u00e9"
	got := decoded(t, w).Predicate.Toolchain
	want := map[string]string{"compiler": "clang", "cpu": "k8", "libc": "glibc__2.31____", "target": "x86_64-linux-gnu", "compiler_sha256": gatefixture.Sum(t, w.Spec.CLI), "linker_sha256": "not found"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("toolchain differs (-want +got):\n%s", diff)
	}
}

// TestRequired holds that a judgement which must be there and is not makes the verdict fail.
func TestRequired(t *testing.T) {
	w := gatefixture.New(t)
	contract := w.Contract
	w.Contract, w.Spec.Judgements = nil, nil
	w.Write(t)
	s, err := w.Build(t)
	if err != nil {
		t.Fatal(err)
	}
	if s.Predicate.Verdict != reason.Failed {
		t.Errorf("without a required judgement the verdict is %s, want fail", s.Predicate.Verdict)
	}
	w.Contract = contract
	w.Write(t)
	if s, err = w.Build(t); err != nil || s.Predicate.Verdict != reason.Pass {
		t.Errorf("with it: %v, verdict %s, want pass", err, s.Predicate.Verdict)
	}
	for i := range s.Predicate.Judgements {
		bent := *s
		bent.Predicate.Judgements = append(append([]*verdict.Judgement{}, s.Predicate.Judgements[:i]...), s.Predicate.Judgements[i+1:]...)
		if _, err := statement.Encode(&bent); err == nil {
			t.Errorf("a pass without the judgement %s can be written", s.Predicate.Judgements[i].Name)
		}
	}
}

// TestDeterministic holds that the same inputs in another directory give the same bytes, and that
// nothing of the machine is in them.
func TestDeterministic(t *testing.T) {
	a, b := gatefixture.New(t), gatefixture.New(t)
	first, second := a.Receipt(t), b.Receipt(t)
	if string(first) != string(second) {
		t.Errorf("receipts differ:\n%s\n%s", first, second)
	}
	host, _ := os.Hostname()
	for _, word := range []string{a.Dir, host} {
		if word != "" && strings.Contains(string(first), word) {
			t.Errorf("the receipt holds %q", word)
		}
	}
}

// TestRefused holds each way in which a receipt can disagree with its own form.
func TestRefused(t *testing.T) {
	good := string(gatefixture.New(t).Receipt(t))
	for _, c := range []struct{ name, from, to, why string }{
		{"other predicate", statement.PredicateType, "https://example.invalid/other/v1", "predicateType"},
		{"other statement", statement.StatementType, "https://in-toto.io/Statement/v0.1", "_type"},
		{"verdict changed", `"target":"x86_64-linux-gnu"},"verdict":"pass"`, `"target":"x86_64-linux-gnu"},"verdict":"fail"`, "verdict is"},
		{"judgement changed", `"verdict":"pass"`, `"verdict":"fail"`, "a pass has none"},
		{"lane relabelled to nonsense", `"lane":"emulated","lane_id`, `"lane":"real","lane_id`, "lane is"},
		{"lane relabelled to the other one", `"lane":"emulated","lane_id`, `"lane":"physical","lane_id`, "but its"},
		{"provisional mark left out", `"provisional":["lane: emulated; nothing is said about Apple's Core ML",`, `"provisional":[`, "provisional is"},
		{"pin promoted", `"status":"supported"`, `"status":"blessed"`, "pin status"},
		{"subject renamed", `"name":"whisper-cli"}`, `"name":"whisper"}`, "subject"},
		{"unknown member", `"schema":1,`, `"schema":1,"skip":true,`, "unknown field"},
		{"white space", `"schema":1,`, `"schema":1, `, "canonical"},
		{"other schema", `"required"`, `"Required"`, ""},
	} {
		bad := strings.Replace(good, c.from, c.to, 1)
		if bad == good {
			t.Errorf("%s: %q does not stand in the receipt", c.name, c.from)
			continue
		}
		if _, err := statement.Decode([]byte(bad)); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: error %v, want one that says %q", c.name, err, c.why)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(gatefixture.New(f).Receipt(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := statement.Decode(data)
		if err != nil {
			return
		}
		again, err := statement.Encode(s)
		if err != nil || string(again) != string(data) {
			t.Fatalf("accepted bytes do not encode to themselves: %v", err)
		}
	})
}
