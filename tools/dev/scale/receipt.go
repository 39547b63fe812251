package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// gatePart is where a gate's specs lie below an execution root in which //gate:receipt was built.
const gatePart = "bazel-out/k8-fastbuild/bin/gate"

// hearingDeadline is how long whisper-cli may take with a model of a large size, in seconds.
const hearingDeadline = 3600

// spec reads a spec of the gate, of which a model of another size is to take the place.
func (m *measurer) spec(name string) (map[string]any, error) {
	data, err := os.ReadFile(filepath.Join(m.gate, gatePart, name+".spec.json"))
	if err != nil {
		return nil, fmt.Errorf("read a spec of the gate (was //gate:receipt built there?): %w", err)
	}
	spec := map[string]any{}
	return spec, json.Unmarshal(data, &spec)
}

func write(path string, spec map[string]any) error {
	data, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// receipt takes a pair through what a gate does with it, by the gate's own actions, whisper-cli, specs and policies: the contract
// and parity judged, the three runs, their judgements, and the receipt. What the words are is no matter: the weights are made.
func (m *measurer) receipt(dir, bin, compiled, label, policy string, parityBound int64) error {
	out := func(name string) string { return filepath.Join(dir, name+".json") }
	if _, _, err := m.step(label, "contract judged", inspectBound, "gate_inspect", "--model="+bin, "--encoder="+compiled, "--out="+out("contract")); err != nil {
		return err
	}
	if v, err := judged(out("contract")); err != nil || v != "pass" {
		return fmt.Errorf("%s: the contract: expected a pass, found %q (%v)", label, v, err)
	}
	if _, _, err := m.step(label, "parity judged", parityBound, "gate_parity", "--model="+bin, "--encoder="+compiled, "--policy="+policy, "--out="+out("parity")); err != nil {
		return err
	}
	// How near a made model is to itself is no matter either, but that it was measured is.
	if v, err := judged(out("parity")); err != nil || v != "pass" && v != "fail" {
		return fmt.Errorf("%s: parity: expected a measurement, found %q (%v)", label, v, err)
	}
	r, err := m.spec("receipt")
	if err != nil {
		return err
	}
	reference := fmt.Sprint(r["reference"])
	policies, ok := r["policies"].([]any)
	if !ok || len(policies) == 0 {
		return fmt.Errorf("%s: the gate's receipt has no policies", label)
	}
	for _, kind := range []string{"coreml", "canary", "contrast"} {
		s, err := m.spec(kind + "_run")
		if err != nil {
			return err
		}
		s["model"], s["evaluator"], s["deadline_seconds"] = bin, filepath.Join(m.bin, "gate_evaluator"), hearingDeadline
		if kind == "coreml" {
			s["encoder"] = compiled
		}
		if err := write(out(kind+"_spec"), s); err != nil {
			return err
		}
		r[kind] = out(kind + "_evidence")
		if _, _, err := m.step(label, "run: "+kind, 0, "gate_run", "--spec="+out(kind+"_spec"), "--reference="+reference, "--evidence="+out(kind+"_evidence"), "--observations="+out(kind+"_observations")); err != nil {
			return err
		}
		if err := ran(out(kind+"_evidence"), kind); err != nil {
			return fmt.Errorf("%s: run %s: %w", label, kind, err)
		}
	}
	list := []string{out("contract"), out("parity")}
	for _, j := range []struct {
		name  string
		kinds []string
	}{{"markers", []string{"coreml"}}, {"canary", []string{"canary"}}, {"contrast", []string{"coreml", "contrast"}}, {"transcript", []string{"coreml", "contrast"}}} {
		args := []string{"--judgement=" + j.name, "--reference=" + reference, "--policy=" + fmt.Sprint(policies[0]), "--out=" + out(j.name)}
		for _, kind := range j.kinds {
			args = append(args, "--"+kind+"="+out(kind+"_evidence"))
		}
		if _, _, err := m.step(label, "judged: "+j.name, 0, "gate_judge", args...); err != nil {
			return err
		}
		list = append(list, out(j.name))
	}
	r["model"], r["encoder"], r["judgements"], r["required"] = bin, compiled, list, []string{"contract", "parity"}
	if err := write(out("receipt_spec"), r); err != nil {
		return err
	}
	if _, _, err := m.step(label, "receipt written", inspectBound, "gate_receipt", "--spec="+out("receipt_spec"), "--out="+out("receipt")); err != nil {
		return err
	}
	if _, err := os.Stat(out("receipt")); err != nil {
		return fmt.Errorf("%s: no receipt was written: %w", label, err)
	}
	return nil
}

// ran is an error unless whisper-cli read the model and, where it has an encoder, ended well: a program that does not start
// takes no time.
func ran(path, kind string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var e evidence.Evidence
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	if !slices.ContainsFunc(e.Stderr.Lines, func(l string) bool { return strings.HasPrefix(l, "whisper_model_load:") }) {
		return fmt.Errorf("whisper-cli did not load the model (exit code %d); its last lines: %q", e.Exit.Code, e.Stderr.Lines[max(0, len(e.Stderr.Lines)-3):])
	}
	if kind != "canary" && e.Exit != (evidence.Exit{Kind: evidence.ExitCode}) {
		return fmt.Errorf("expected exit code 0, found %+v", e.Exit)
	}
	return nil
}

// judged is the verdict in a judgement file.
func judged(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	j := verdict.Judgement{}
	if err := json.Unmarshal(data, &j); err != nil {
		return "", err
	}
	return string(j.Verdict), nil
}
