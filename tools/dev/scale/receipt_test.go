package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// gateRoot makes a folder with the specs of a gate.
func gateRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, gatePart)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]map[string]any{
		"receipt":    {"name": "//gate:receipt", "reference": "jfk.txt", "policies": []string{"gate.json"}, "cli": "the-cli", "judgements": []string{"old"}, "required": []string{"words"}},
		"coreml_run": {"kind": "coreml", "cli": "the-cli", "encoder": "old", "model": "old"}, "canary_run": {"kind": "canary", "model": "old"}, "contrast_run": {"kind": "contrast", "model": "old"},
	} {
		if err := write(filepath.Join(dir, name+".spec.json"), spec); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// actions puts scripts in the place of the gate's actions: each writes its output.
func actions(t *testing.T, m *measurer, contract, parity, ended string) {
	t.Helper()
	last := `for a; do case $a in --out=*) out="${a#--out=}";; --evidence=*) out="${a#--evidence=}";; --spec=*) spec="${a#--spec=}";; esac; done; `
	for name, script := range map[string]string{
		"gate_inspect": last + `echo '{"verdict": "` + contract + `"}' > "$out"`,
		"gate_parity":  last + `echo '{"verdict": "` + parity + `"}' > "$out"`,
		"gate_run":     last + `sed '1s/{/{` + ended + `,/' "$spec" > "$out"`,
		"gate_judge":   last + `echo '{"verdict": "fail"}' > "$out"`,
		"gate_receipt": last + `cp "$spec" "$out"`,
	} {
		if err := os.WriteFile(filepath.Join(m.bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// What evidence says of a program that ended well, of one that loaded no model, and of one that was killed.
const (
	endedWell = `"exit": {"kind": "code", "code": 0}, "stderr": {"lines": ["whisper_model_load: loading model"]}`
	notLoaded = `"exit": {"kind": "code", "code": 1}, "stderr": {"lines": ["version GLIBC_2.43 not found"]}`
	killed    = `"exit": {"kind": "signal", "signal": 9}, "stderr": {"lines": ["whisper_model_load: loading model"]}`
)

// The gate's specs are taken as they are, but for the model, the encoder and what was judged of them.
func TestReceipt(t *testing.T) {
	m, out, dir := stand(t, "exit 0")
	m.gate = gateRoot(t)
	actions(t, m, "pass", "fail", endedWell)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := m.receipt(dir, "model.bin", "encoder", "tiny", "fp16_v1", 1<<40); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"contract judged", "parity judged", "run: coreml", "run: canary", "run: contrast", "judged: markers", "judged: canary", "judged: contrast", "judged: transcript", "receipt written"} {
		if !strings.Contains(out.String(), "| "+step+" |") {
			t.Errorf("no %q in\n%s", step, out)
		}
	}
	read := func(name string) map[string]any {
		spec := map[string]any{}
		data, err := os.ReadFile(filepath.Join(dir, name+".json"))
		if err == nil {
			err = json.Unmarshal(data, &spec)
		}
		if err != nil {
			t.Fatal(err)
		}
		return spec
	}
	r := read("receipt")
	if r["model"] != "model.bin" || r["encoder"] != "encoder" || r["cli"] != "the-cli" || len(r["judgements"].([]any)) != 6 || len(r["required"].([]any)) != 2 {
		t.Errorf("the receipt's spec is %v", r)
	}
	if c := read("coreml_evidence"); c["encoder"] != "encoder" || c["model"] != "model.bin" || c["cli"] != "the-cli" {
		t.Errorf("the run's spec is %v", c)
	}
	if c := read("canary_evidence"); c["encoder"] != nil || c["model"] != "model.bin" {
		t.Errorf("the canary's spec is %v", c)
	}
}

// A contract that does not pass, a parity that was not measured, a root without a gate and a run that was none end the measurement.
func TestReceiptFails(t *testing.T) {
	for name, c := range map[string]struct {
		contract, parity string
		ended            string
		gate             bool
		want             string
	}{
		"contract":   {"fail", "pass", endedWell, true, "contract: expected a pass"},
		"parity":     {"pass", "inconclusive", endedWell, true, "parity: expected a measurement"},
		"no gate":    {"pass", "pass", endedWell, false, "was //gate:receipt built there"},
		"no program": {"pass", "pass", notLoaded, true, "run coreml: whisper-cli did not load the model (exit code 1)"},
		"killed":     {"pass", "pass", killed, true, "expected exit code 0"},
	} {
		m, _, dir := stand(t, "exit 0")
		m.gate = gateRoot(t)
		if !c.gate {
			m.gate = t.TempDir()
		}
		actions(t, m, c.contract, c.parity, c.ended)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := m.receipt(dir, "model.bin", "encoder", "tiny", "fp16_v1", 1<<40); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
