package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	frozen "github.com/coreml-gate/rules_coreml_gate/gate/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements/factstest"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
)

// files writes the evidence of a good gate, its reference and its policy, and returns the flags that name them.
func files(t *testing.T) (dir string, flags []string) {
	t.Helper()
	dir = t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, kind := range []evidence.Kind{evidence.KindCoreML, evidence.KindCanary, evidence.KindContrast} {
		data, err := evidence.Encode(evidencetest.Sample(kind))
		if err != nil {
			t.Fatal(err)
		}
		flags = append(flags, "--"+string(kind)+"="+write(string(kind)+".json", data))
	}
	for _, name := range []string{"gate_v2.json", "fp32_v2.json"} {
		data, err := frozen.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(name, data)
	}
	return dir, append(flags, "--reference="+write("reference.txt", []byte(evidencetest.Reference)), "--policy="+filepath.Join(dir, "gate_v2.json"))
}

// TestEveryJudgement holds that each judgement of runs is written, passing or not, and that evidence which is left out fails.
func TestEveryJudgement(t *testing.T) {
	dir, flags := files(t)
	out := filepath.Join(dir, "judgement.json")
	for _, name := range judgements.Of(judgements.Runs) {
		for _, c := range []struct {
			flags []string
			want  reason.Verdict
		}{{flags, reason.Pass}, {flags[3:], reason.Failed}} {
			var stderr strings.Builder
			if code := run(append([]string{"--judgement=" + name, "--out=" + out}, c.flags...), &stderr); code != 0 {
				t.Fatalf("%s: exit %d: %s", name, code, &stderr)
			}
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			j := &verdict.Judgement{}
			if err := strictjson.Decode(data, j); err != nil || j.Name != name || j.Verdict != c.want || j.Check() != nil {
				t.Errorf("%s: %v, %s %s, want %s", name, err, j.Name, j.Verdict, c.want)
			}
			factstest.Check(t, j, "emulated")
		}
	}
}

// TestRefused holds what ends the action.
func TestRefused(t *testing.T) {
	dir, flags := files(t)
	out := "--out=" + filepath.Join(dir, "judgement.json")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{append([]string{out}, flags...), 2, "--judgement"},
		{append([]string{"--judgement=markers", out, "more"}, flags...), 2, "no other arguments"},
		{append([]string{"--judgement=binding", out}, flags...), 1, "expected one of markers"},
		{append([]string{"--judgement=markers", out}, append(flags, "--policy="+filepath.Join(dir, "fp32_v2.json"))...), 1, "expected gate"},
		{append([]string{"--judgement=markers", out}, append(flags, "--coreml="+filepath.Join(dir, "reference.txt"))...), 1, "reference.txt"},
		{append([]string{"--judgement=markers", out}, append(flags, "--canary="+filepath.Join(dir, "absent"))...), 1, "absent"},
	} {
		var stderr strings.Builder
		if code := run(c.args, &stderr); code != c.code || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%q: exit %d, %q, want %d with %q", c.args, code, &stderr, c.code, c.says)
		}
	}
}
