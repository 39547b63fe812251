package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/pressure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/session"
)

// fitModel is the header of tiny.en, which is all of a model that fit reads.
func fitModel(t *testing.T) string {
	t.Helper()
	var b []byte
	for _, v := range []uint32{0x67676d6c, 51864, 1500, 384, 6, 4, 448, 384, 6, 4, 80, 1} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	path := filepath.Join(t.TempDir(), "ggml-tiny.en.bin")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFit holds that fit says how hard the machine is pressed, and takes the runtime's own sizes of the same model alone.
func TestFit(t *testing.T) {
	model := fitModel(t)
	sum, err := session.Digest(model)
	if err != nil {
		t.Fatal(err)
	}
	ran := func(change func(*evidence.Evidence)) string {
		e, counted := evidencetest.Sample(evidence.KindContrast), evidence.CountWords("a word")
		e.Public, e.Stderr.Complete, e.Stdout.Complete, e.Stdout.Lines, e.Words = false, false, false, []string{}, &counted
		e.Digests.Model = sum
		e.Stderr.Lines = append([]string{"whisper_model_load:          CPU total size =    77.11 MB", "whisper_init_state: kv self size  =    3.15 MB",
			"whisper_init_state: kv cross size =    9.44 MB", "whisper_init_state: kv pad  size  =    2.36 MB"}, e.Stderr.Lines...)
		e.Stderr.Count = len(e.Stderr.Lines)
		change(e)
		data, err := evidence.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "evidence.json")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{nil, 3, []string{"pressure ", "thermal state ", "low-power mode ", "threads, at most ", "FIT_UNKNOWN"}},
		{[]string{"--evidence", ran(func(*evidence.Evidence) {})}, 3, []string{"need from the runtime's own sizes", "204.5 MiB", "FIT_UNKNOWN"}},
		{[]string{"--evidence", ran(func(e *evidence.Evidence) { e.Digests.Model = strings.Repeat("9", 64) })}, 2, []string{"found 999999999999"}},
		{[]string{"--evidence", model}, 2, []string{"evidence: "}},
	} {
		code, out := runGate(t, append([]string{"fit", "--model", model}, c.args...)...)
		if code != c.code {
			t.Errorf("coregate fit %v: exit %d, want %d:\n%s", c.args, code, c.code, out)
		}
		for _, want := range c.want {
			if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
				t.Errorf("coregate fit %v: no %q in\n%s", c.args, want, out)
			}
		}
	}
	facts := map[string]any{}
	pressureFacts(facts, pressure.Snapshot{Strain: environment.Strain{Thermal: "critical", LowPower: "off"}}, 9)
	if facts["pressure"] != "critical" || facts["threads, at most"] != 3 {
		t.Errorf("of a machine that is critical: %v", facts)
	}
}
