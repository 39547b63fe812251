package verify_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/verify"
)

// under lets the receipt's parity go by another policy, of the receipt's list too.
func under(t *testing.T, p *statement.Predicate, name, kind string) *verdict.Judgement {
	t.Helper()
	known, err := policy.Frozen(name)
	if err != nil {
		t.Fatal(err)
	}
	j, class := p.Judgement("parity"), "float32"
	if known.Kind == "parity" {
		class = known.AppliesTo
	}
	gatefixture.Precise(t, p.Judgement("contract"), j, class, name)
	p.Policies = slices.DeleteFunc(p.Policies, func(ref statement.PolicyRef) bool { return ref.Kind == "parity" })
	if !slices.ContainsFunc(p.Policies, func(ref statement.PolicyRef) bool { return ref.Name == name }) {
		p.Policies = append(p.Policies, statement.PolicyRef{Name: name, Kind: kind, SHA256: known.SHA256, Frozen: true})
	}
	return j
}

// without takes judgements out of a receipt, and out of what it requires.
func without(p *statement.Predicate, names ...string) {
	p.Judgements = slices.DeleteFunc(p.Judgements, func(j *verdict.Judgement) bool { return slices.Contains(names, j.Name) })
	p.Required = slices.DeleteFunc(p.Required, func(name string) bool { return slices.Contains(names, name) })
	p.Policies = slices.DeleteFunc(p.Policies, func(ref statement.PolicyRef) bool {
		return ref.Kind == "parity" && slices.Contains(names, "parity") || ref.Kind == "transcript" && slices.Contains(names, "words")
	})
}

// withWords adds a judgement of words to a receipt.
func withWords(t *testing.T, s *scene, p *statement.Predicate) *verdict.Judgement {
	t.Helper()
	j := s.world.Words(t)
	p.Judgements = append(p.Judgements, j)
	p.Policies = append(p.Policies, statement.PolicyRef{Name: j.Policy.Name, Kind: "transcript", SHA256: j.Policy.SHA256, Frozen: true})
	return j
}

// TestResigned changes a receipt that passes and signs it again with the right key, as an insider or a broken builder
// can. Each row bears the id of the attack that it closes, or of the kind that it varies.
func TestResigned(t *testing.T) {
	zero := strings.Repeat("0", 64)
	parityFacts := func(p *statement.Predicate, facts map[string]any) {
		for key, value := range facts {
			p.Judgement("parity").Facts[key] = value
		}
	}
	for _, c := range []struct {
		id     string
		change func(t *testing.T, s *scene, p *statement.Predicate)
		says   string
	}{
		{"as built", func(*testing.T, *scene, *statement.Predicate) {}, ""},
		{"R01 gate policy without a digest", func(_ *testing.T, _ *scene, p *statement.Predicate) { p.Policies[0].SHA256 = "" }, "RECEIPT_MALFORMED"},
		{"R01 gate policy with a digest of another form", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Policies[0].SHA256 = strings.ToUpper(p.Policies[0].SHA256)
		}, "RECEIPT_MALFORMED"},
		{"R02 gate policy of no known name without a digest", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Policies[0].Name, p.Policies[0].SHA256 = "gate_v9", ""
		}, "RECEIPT_MALFORMED"},
		{"R02 gate policy of no known name", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Policies[0].Name, p.Policies[0].SHA256 = "gate_v9", zero
		}, "POLICY_DEMANDED"},
		{"R03 parity by an invented policy without a digest", func(t *testing.T, _ *scene, p *statement.Predicate) {
			j := under(t, p, "int4_v1", "parity")
			j.Policy.Name, j.Policy.SHA256 = "mine_v1", ""
			p.Policies[1].Name, p.Policies[1].SHA256 = "mine_v1", ""
			parityFacts(p, map[string]any{"snr_db": -40, "cosine": 0.1})
		}, "RECEIPT_MALFORMED"},
		{"R06 parity by the gate's policy", func(t *testing.T, _ *scene, p *statement.Predicate) {
			under(t, p, "gate_v2", "gate")
			parityFacts(p, map[string]any{"snr_db": -40, "cosine": 0.1})
		}, "JUDGEMENT_DIFFERS"},
		{"R06 parity by the gate's policy as one of parity", func(t *testing.T, _ *scene, p *statement.Predicate) {
			j := p.Judgement("parity")
			j.Policy = &verdict.PolicyRef{Name: p.Policies[0].Name, SHA256: p.Policies[0].SHA256}
			p.Policies[1] = p.Policies[0]
			p.Policies[1].Kind = "parity"
		}, "JUDGEMENT_DIFFERS"},
		{"R07 parity by a policy of words", func(t *testing.T, s *scene, p *statement.Predicate) {
			under(t, p, "words_v1", "parity")
			parityFacts(p, map[string]any{"snr_db": -40, "cosine": 0.1})
		}, "JUDGEMENT_DIFFERS"},
		{"R08 parity by a policy that the release gate does not know", func(t *testing.T, _ *scene, p *statement.Predicate) {
			under(t, p, "int4_v1", "parity")
			parityFacts(p, map[string]any{"snr_db": 6, "cosine": 0.9})
			p.Provisional = append(p.Provisional, "parity: judged by int4_v1, which does not satisfy the release gate")
		}, "JUDGEMENT_DEMANDED"},
		{"R09 a policy that nothing goes by answers a demand", func(t *testing.T, s *scene, p *statement.Predicate) {
			fp32 := p.Policies[1]
			under(t, p, "int4_v1", "parity")
			parityFacts(p, map[string]any{"snr_db": 6, "cosine": 0.9})
			p.Provisional = append(p.Provisional, "parity: judged by int4_v1, which does not satisfy the release gate")
			p.Policies = append(p.Policies, fp32)
			s.demands.Policies, s.demands.Judgements = map[string]string{"fp32_v2": fp32.SHA256}, []string{"parity"}
			s.demands.Profile = statement.ProfileNumbers
		}, "RECEIPT_MALFORMED"},
		{"R12 a cosine of 7", func(_ *testing.T, _ *scene, p *statement.Predicate) { parityFacts(p, map[string]any{"cosine": 7}) }, "JUDGEMENT_DIFFERS"},
		{"R12 an SNR without end", func(_ *testing.T, _ *scene, p *statement.Predicate) { parityFacts(p, map[string]any{"snr_db": 1e15}) }, "JUDGEMENT_DIFFERS"},
		{"R12 an SNR that its cosine does not allow", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			parityFacts(p, map[string]any{"cosine": 0.99991})
		}, "JUDGEMENT_DIFFERS"},
		{"R12 a mean above the greatest", func(_ *testing.T, _ *scene, p *statement.Predicate) { parityFacts(p, map[string]any{"mean_error": 1}) }, "JUDGEMENT_DIFFERS"},
		{"R12 an error below nothing", func(_ *testing.T, _ *scene, p *statement.Predicate) { parityFacts(p, map[string]any{"max_error": -1}) }, "JUDGEMENT_DIFFERS"},
		{"R13 all words wrong", func(t *testing.T, s *scene, p *statement.Predicate) {
			j := withWords(t, s, p)
			j.Facts["units"], j.Facts["coreml_ggml_edits"], j.Facts["coreml_ggml_rate"] = 393, 393, 1
			j.Facts["coreml_source_edits"], j.Facts["coreml_source_rate"] = 393, 1
		}, "JUDGEMENT_DIFFERS"},
		{"R13 a rate that its edits do not give", func(t *testing.T, s *scene, p *statement.Predicate) {
			withWords(t, s, p).Facts["coreml_ggml_edits"] = 300
		}, "JUDGEMENT_DIFFERS"},
		{"R13 thin words that are called whole", func(t *testing.T, s *scene, p *statement.Predicate) {
			withWords(t, s, p).Facts["recordings"] = 1
		}, "JUDGEMENT_DIFFERS"},
		{"R14 words without policy and facts", func(t *testing.T, s *scene, p *statement.Predicate) {
			p.Judgements = append(p.Judgements, verdict.NewJudgement("words"))
		}, "JUDGEMENT_DIFFERS"},
		{"R15 a contract that may not ship", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Judgement("contract").Facts["shippable"] = false
		}, "JUDGEMENT_DIFFERS"},
		{"R15 a contract that matched nothing", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Judgement("contract").Facts["tensors_matched"] = 0
		}, "JUDGEMENT_DIFFERS"},
		{"R15 a contract of no tensors", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			f := p.Judgement("contract").Facts
			f["tensors"], f["tensors_matched"] = 0, 0
		}, "JUDGEMENT_DIFFERS"},
		{"R08 numbers of float32, a contract of float16", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Judgement("contract").Facts["precision"] = "float16"
		}, "JUDGEMENT_DIFFERS"},
		{"R08 numbers of a package, a contract of a compiled encoder", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			parityFacts(p, map[string]any{"encoder_form": "mlpackage"})
		}, "JUDGEMENT_DIFFERS"},
		{"R16 a contract over nothing", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Judgement("contract").Facts = map[string]any{}
		}, "JUDGEMENT_DIFFERS"},
		{"R16 a contract that names no model", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			delete(p.Judgement("contract").Facts, "model_sha256")
		}, "JUDGEMENT_DIFFERS"},
		{"facts: a contract whose tensors no model has", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			f := p.Judgement("contract").Facts
			f["tensors"], f["tensors_matched"] = 68, 68
		}, "JUDGEMENT_DIFFERS"},
		{"facts: equality by a rule of its own", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Judgement("contract").Facts["pairing_rule"] = "by eye"
		}, "JUDGEMENT_DIFFERS"},
		{"facts: a model type that the runtime refuses", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Judgement("contract").Facts["model_type"] = "f32"
		}, "JUDGEMENT_DIFFERS"},
		{"facts: numbers compared with themselves", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			parityFacts(p, map[string]any{"reference": "itself"})
		}, "JUDGEMENT_DIFFERS"},
		{"facts: an evaluator without a name", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			parityFacts(p, map[string]any{"kernel_path": ""})
		}, "JUDGEMENT_DIFFERS"},
		{"facts: one that no list has", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Judgement("canary").Facts["reviewed"] = "by Apple"
		}, "JUDGEMENT_DIFFERS"},
		{"facts: a toolchain in words of its own", func(_ *testing.T, _ *scene, p *statement.Predicate) { p.Toolchain["signed_by"] = "Apple" }, "RECEIPT_MALFORMED"},
		{"facts: a lane in words of its own", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.LaneIdentity["evaluator"] = "Core ML on the Neural Engine"
		}, "RECEIPT_MALFORMED"},
		{"R17 no contract and no parity", func(_ *testing.T, _ *scene, p *statement.Predicate) { without(p, "contract", "parity") }, "JUDGEMENT_DEMANDED"},
		{"R17 no contract", func(_ *testing.T, _ *scene, p *statement.Predicate) { without(p, "contract") }, "JUDGEMENT_DEMANDED"},
		{"R17 no words, though the gate requires them", func(_ *testing.T, _ *scene, p *statement.Predicate) { p.Required = append(p.Required, "words") }, "RECEIPT_MALFORMED"},
		{"R20 markers of another run", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			f := p.Judgement("markers").Facts
			f["coreml_value"], f["load_markers"], f["ggml_encode_buffers"] = "0", 0, 1
		}, "JUDGEMENT_DIFFERS"},
		{"R20 markers without a load marker", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			delete(p.Judgement("markers").Facts, "load_markers")
		}, "JUDGEMENT_DIFFERS"},
		{"R21 a canary that ran", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Judgement("canary").Facts["exit"] = "exit 0"
		}, "JUDGEMENT_DIFFERS"},
		{"R22 a transcript without words", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			f := p.Judgement("transcript").Facts
			f["reference_words"], f["coreml_words"], f["contrast_words"] = 0, 0, 0
		}, "JUDGEMENT_DIFFERS"},
		{"R22 a transcript that lacks half of the words", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Judgement("transcript").Facts["coreml_edits"] = 11
		}, "JUDGEMENT_DIFFERS"},
		{"R22 a transcript whose encoders disagree", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Judgement("transcript").Facts["encoders_edits"] = 11
		}, "JUDGEMENT_DIFFERS"},
		{"R23 a note that fails", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			j := p.Judgement("canary")
			j.Notes = append(j.Notes, reason.Reason{Code: "CANARY_EXIT", Where: "exit", Expected: "exit 3", Found: "exit 0"})
		}, "RECEIPT_MALFORMED"},
		{"R23 a note of no known code", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			j := p.Judgement("canary")
			j.Notes = append(j.Notes, reason.Reason{Code: "CANARY_FINE"})
		}, "RECEIPT_MALFORMED"},
		{"R37 pin of another name", func(_ *testing.T, _ *scene, p *statement.Predicate) { p.Pin.Name = "mine" }, "PIN_DEMANDED"},
		{"R38 patched file of another path", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			for i := range p.Materials {
				if p.Materials[i].Name == p.Pin.PatchedFile.Path {
					p.Materials[i].Name = "src/other.cpp"
				}
			}
			p.Pin.PatchedFile.Path = "src/other.cpp"
		}, "PIN_DEMANDED"},
		{"R39 patch of another label", func(_ *testing.T, _ *scene, p *statement.Predicate) { p.Pin.Patch.Label = "//patches:other.patch" }, "PIN_DEMANDED"},
		{"R43 placement by an empty judgement", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Placement, p.Provisional = "Neural Engine", p.Provisional[:1]
			p.Judgements = append(p.Judgements, verdict.NewJudgement("placement"))
		}, "RECEIPT_MALFORMED"},
		{"R43 placement of the emulated lane, with an instrument", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Placement, p.Provisional = "Neural Engine", p.Provisional[:1]
			j := verdict.NewJudgement("placement")
			j.Facts["instrument"], j.Facts["placement"] = "MLComputePlan", "Neural Engine"
			p.Judgements = append(p.Judgements, j)
		}, "RECEIPT_MALFORMED"},
		{"R43 placement in another judgement's facts", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			f := p.Judgement("contract").Facts
			f["instrument"], f["placement"] = "MLComputePlan", "Neural Engine 100.0 %"
		}, "JUDGEMENT_DIFFERS"},
		{"R43 a share of the Neural Engine among the numbers", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			parityFacts(p, map[string]any{"share_neural_engine": 1})
		}, "JUDGEMENT_DIFFERS"},
		{"L01 an emulated run whose lane names a Mac", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.LaneIdentity["os_build"], p.LaneIdentity["chip"] = "24G720", "Apple M4"
		}, "RECEIPT_MALFORMED"},
		{"R21 a canary whose encoder ran", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Judgement("canary").Facts["encoder_runs"] = 4
		}, "JUDGEMENT_DIFFERS"},
		{"R20 a contrast that the double served", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Judgement("contrast").Facts["double_predictions"] = 1
		}, "JUDGEMENT_DIFFERS"},
		{"R22 fewer edits than words are missing", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Judgement("transcript").Facts["coreml_words"] = 1
		}, "JUDGEMENT_DIFFERS"},
		{"R44 files without bytes", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			for i := range p.EncoderFiles {
				p.EncoderFiles[i].Size = 0
			}
		}, "RECEIPT_MALFORMED"},
		{"R46 sources of no file", func(_ *testing.T, _ *scene, p *statement.Predicate) { p.Judgement("sources").Facts["files"] = 0 }, "JUDGEMENT_DIFFERS"},
		{"R46 sources of one file", func(_ *testing.T, _ *scene, p *statement.Predicate) { p.Judgement("sources").Facts["files"] = 1 }, "JUDGEMENT_DIFFERS"},
		{"R48 a material of any name", func(_ *testing.T, _ *scene, p *statement.Predicate) {
			p.Materials = append(p.Materials, statement.Resource{Name: "helper", Digest: map[string]string{"sha256": zero}})
		}, "RECEIPT_MALFORMED"},
		{"R49 a space without width in a name", func(_ *testing.T, _ *scene, p *statement.Predicate) { p.Name = "//gate:rece\u200bipt" }, "RECEIPT_MALFORMED"},
		{"R50 a Cyrillic letter in a name", func(_ *testing.T, _ *scene, p *statement.Predicate) { p.Name = "//gate:rec\u0435ipt" }, "RECEIPT_MALFORMED"},
		{"R50 a Cyrillic letter in a path", func(_ *testing.T, _ *scene, p *statement.Predicate) { p.EncoderFiles[0].Path = "m\u043edel.mil" }, "RECEIPT_MALFORMED"},
		{"R50 a Cyrillic letter in a policy", func(_ *testing.T, _ *scene, p *statement.Predicate) { p.Policies[0].Name = "g\u0430te_v1" }, "RECEIPT_MALFORMED"},
		{"R49 a line end in a toolchain", func(_ *testing.T, _ *scene, p *statement.Predicate) { p.Toolchain["compiler"] = "clang\nverify: pass" }, "RECEIPT_MALFORMED"},
		{"B23 a failed parity that was dropped", func(_ *testing.T, _ *scene, p *statement.Predicate) { without(p, "parity") }, "JUDGEMENT_DEMANDED"},
		{"B27 a judgement of numbers under another name", func(t *testing.T, s *scene, p *statement.Predicate) {
			fp32 := p.Policies[1]
			extra := *p.Judgement("parity")
			extra.Name = "numbers-extra"
			under(t, p, "int8_v1", "parity")
			parityFacts(p, map[string]any{"snr_db": 20, "cosine": 0.996})
			p.Judgements, p.Policies = append(p.Judgements, &extra), append(p.Policies, fp32)
			p.Provisional = append(p.Provisional, "parity: judged by int8_v1, which does not satisfy the release gate")
			s.demands.Policies, s.demands.Judgements = map[string]string{"fp32_v2": fp32.SHA256}, []string{"parity"}
			s.demands.Profile = statement.ProfileNumbers
		}, "RECEIPT_MALFORMED"},
	} {
		for _, files := range []bool{false, true} {
			s := newScene(t)
			if !files {
				s.files = verify.Files{}
			}
			s.bend(t, func(p *statement.Predicate) { c.change(t, s, p) })
			r := s.verify(t, s.signed(t))
			if c.says == "" && r.Verdict != reason.Pass || c.says != "" && (r.Verdict != reason.Failed || !r.Has(c.says)) {
				t.Errorf("%s (files at hand: %v): %s %v, want %q", c.id, files, r.Verdict, r.Reasons, c.says)
			}
		}
	}
}

// TestR47 makes the program of the contrast run the subject, with and without that program at hand.
func TestR47(t *testing.T) {
	for _, id := range []string{"R47", "R47b"} {
		s := newScene(t)
		decoded, err := statement.Decode(s.payload)
		if err != nil {
			t.Fatal(err)
		}
		contrast := decoded.Digest(statement.MaterialContrastCLI)
		s.edit(t, `"digest":{"sha256":"`+decoded.Digest(statement.SubjectCLI)+`"},"name":"whisper-cli"}`, `"digest":{"sha256":"`+contrast+`"},"name":"whisper-cli"}`)
		s.files = verify.Files{}
		if id == "R47b" {
			s.files.CLI = s.world.Spec.ContrastCLI
		}
		if r := s.verify(t, s.signed(t)); r.Verdict != reason.Failed || !r.Has("RECEIPT_MALFORMED") {
			t.Errorf("%s: %s %v", id, r.Verdict, r.Reasons)
		}
	}
}

// TestZeroDigest holds that a policy which is demanded by no digest is not the one whose digest is missing.
func TestZeroDigest(t *testing.T) {
	s := newScene(t)
	s.world.Spec.Policies = []string{s.world.Policy(t, "mine")}
	s.rebuild(t)
	s.demands.Policies = map[string]string{"other": ""}
	if r := s.verify(t, s.signed(t)); r.Verdict != reason.Failed || !r.Has("POLICY_DEMANDED") {
		t.Errorf("%s %v", r.Verdict, r.Reasons)
	}
}

// TestShips holds what may lie in a folder that ships.
func TestShips(t *testing.T) {
	for _, c := range []struct {
		id    string
		files map[string]string
		code  string
	}{
		{"the whole", map[string]string{"whisper-cli": "program", "ggml-model.bin": "model", "ggml-model-encoder.mlmodelc/model.mil": "program(1.0)", "ggml-model-encoder.mlmodelc/weights/weight.bin": "weights"}, ""},
		{"a part, under names of its own", map[string]string{"transcribe": "program", "ggml-tiny.en.bin": "model"}, ""},
		{"K52 nothing", nil, "NOTHING_SHIPS"},
		{"F04 a material under the name of the program", map[string]string{"whisper-cli": "RIFF"}, "FILE_UNLISTED"},
		{"F05 audio under the name of the model", map[string]string{"ggml-model.bin": "RIFF"}, "FILE_UNLISTED"},
		{"F05 the program under the name of the model", map[string]string{"ggml-model.bin": "program"}, "FILE_UNLISTED"},
		{"F04 the model under the name of the program", map[string]string{"whisper-cli": "model"}, "FILE_UNLISTED"},
		{"F04 a material under its own name", map[string]string{"whisper-cli": "program", "audio.wav": "RIFF"}, "FILE_UNLISTED"},
		{"an encoder that the runtime does not look for", map[string]string{"ggml-base.bin": "model", "ggml-tiny-encoder.mlmodelc/model.mil": "program(1.0)", "ggml-tiny-encoder.mlmodelc/weights/weight.bin": "weights"}, "FILE_UNLISTED"},
	} {
		s := newScene(t)
		dir := t.TempDir()
		for name, content := range c.files {
			path := s.world.File(t, "ships/"+name, content)
			if i := strings.Index(name, "/"); i < 0 {
				dir = filepath.Dir(path)
			}
		}
		s.files.Release = dir
		r := s.verify(t, s.signed(t))
		if got := strings.Join(codesOf(r), " "); !strings.HasPrefix(got, c.code) || c.code == "" && got != "" {
			t.Errorf("%s: %v, want %q", c.id, r.Reasons, c.code)
		}
	}
}

// TestNumbersOfNothing holds that a number which is none meets no limit.
func TestNumbersOfNothing(t *testing.T) {
	f := verdict.ReadFacts(&verdict.Judgement{Facts: map[string]any{"n": math.NaN(), "text": "7"}})
	if v := f.Number("n", -1, 1); !math.IsNaN(v) || len(f.Wrong) != 1 {
		t.Errorf("NaN is %v, %v", v, f.Wrong)
	}
	if v := f.Number("text", 0, 9); !math.IsNaN(v) || f.Count("text", 0, 9) != -1 || len(f.Wrong) != 3 {
		t.Errorf("a text is %v, %v", v, f.Wrong)
	}
}
