package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Bazel that answers as the test wants: every command is logged, `test` fails, `info` names folders that hold a gate's outputs.
const fakeBazel = `#!/bin/sh
echo "$*" >>"$FAKE/calls"
for a; do
  case $a in --build_event_json_file=*) cp "$FAKE/$1.events" "${a#*=}" ;; esac
done
case $1 in
--version) echo "bazel 7.7.1" ;;
info)
  for last; do :; done
  case $last in
  execution_root) echo "$FAKE" ;;
  *) echo "$FAKE/$last" ;;
  esac
  ;;
query) case $* in *//gate:bench) echo //gate:bench ;; *) exit 7 ;; esac ;;
cquery)
  for last; do :; done
  case $last in
  *tiny.en) echo external/models/model.bin ;;
  *encoder) echo gate/e-encoder.mlmodelc ;;
  *coremlprobe_over_stand_in) echo coremlprobe_over_stand_in ;;
  *) echo gate_evaluator ;;
  esac
  ;;
test) exit 3 ;;
run)
  case $* in
  *//gate:bench*) exit 3 ;;
  *--time*) echo '{"verdict":"inconclusive"}'; exit 3 ;;
  *--model*) case $* in *"--model $FAKE/output_base/external/models/model.bin "*) ;; *) exit 9 ;; esac ;;
  esac
  echo '{"verdict":"pass"}'
  ;;
esac
`

// What Bazel says that it made: of the tests one log, and a target of another package; of the build what is kept and what is not.
const (
	testEvents = `{"id":{"started":{}}}
{"id":{"testResult":{"label":"//gate:markers_test","run":1}},"testResult":{"testActionOutput":[{"name":"test.log","uri":"file://%[1]s/fake/bazel-testlogs/gate/markers_test/test.log"},{"name":"test.xml","uri":"file:///none"}]}}
{"id":{"testResult":{"label":"//other:markers_test"}},"testResult":{"testActionOutput":[{"name":"test.log","uri":"file:///none"}]}}
`
	buildEvents = `{"id":{"namedSet":{"id":"0"}},"namedSetOfFiles":{"files":[{"name":"gate/receipt.json","uri":"file://%[1]s/fake/bazel-bin/gate/receipt.json","pathPrefix":["bazel-out"]},{"name":"gate/coreml_run.spec.json","uri":"file:///none"},{"name":"other/x.json","uri":"file:///none"}]}}
{"id":{"namedSet":{"id":"1"}},"namedSetOfFiles":{"files":[{"name":"gate/coreml_run.evidence.json","uri":"file://%[1]s/fake/bazel-bin/gate/coreml_run.evidence.json"},{"name":"gate/words.evidence/001-coreml.evidence.json","uri":"file://%[1]s/fake/bazel-bin/gate/coreml_run.evidence.json"}]}}
`
)

// here makes a workspace, a Bazel and the outputs of a gate, and changes into it.
func here(t *testing.T, receipt string) (folder string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"fake/test.events":                 fmt.Sprintf(testEvents, dir),
		"fake/build.events":                fmt.Sprintf(buildEvents, dir),
		"fake/bazel-bin/gate/markers.json": "an earlier run's", // which no event names
		"MODULE.bazel":                     "", "bin/bazel": fakeBazel, "fake/bazel-bin/gate/receipt.json": receipt, "fake/bazel-bin/gate/coreml_run.evidence.json": "{}",
		"fake/bazel-bin/gate/coreml_run.spec.json": "{}", "testdata/speech/jfk.txt": "words", "fake/bazel-testlogs/gate/markers_test/test.log": "no",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("BUILD_WORKSPACE_DIRECTORY", "")
	t.Setenv("BAZEL", filepath.Join(dir, "bin/bazel"))
	t.Setenv("FAKE", filepath.Join(dir, "fake"))
	return filepath.Join(dir, "out")
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const badReceipt = `{"predicate":{"lane":"emulated","lane_identity":{"core_ml":"coreml_double"},"verdict":"fail",
"judgements":[{"name":"markers","verdict":"fail","reasons":[{"code":"LOAD_MARKER_ABSENT","expected":"one","found":"none"}]}]}}`

// TestNeverStops: with every test failing and a receipt that fails, each step has its log, and the folder says what is wrong.
func TestNeverStops(t *testing.T) {
	folder := here(t, badReceipt)
	var out, errs bytes.Buffer
	if code := run([]string{"-folder", folder}, &out, &errs); code != 1 || errs.Len() > 0 {
		t.Fatalf("exit %d, %s", code, errs.String())
	}
	var s summary
	if err := json.Unmarshal([]byte(read(t, filepath.Join(folder, "summary.json"))), &s); err != nil {
		t.Fatal(err)
	}
	statuses := map[string]string{}
	for _, r := range s.Steps {
		statuses[r.Step] = r.Status
		read(t, filepath.Join(folder, r.Log))
	}
	for step, want := range map[string]string{
		"go": failed, "probe": failed, "encoder": passed, "hard": passed, "parity": passed, "repeat": passed, "gate": failed, "placement": notHere, "timings": passed,
		"sign": passed, "report": passed, "differences": failed,
	} {
		if statuses[step] != want {
			t.Errorf("step %s: %q, want %q", step, statuses[step], want)
		}
	}
	for _, file := range []string{"gate/receipt.json", "gate/coreml_run.evidence.json", "gate/tests/markers_test/test.log", "public.pem", "receipt.signed.json", "hard.json", "repeat.json", "latency.json", "gate/reference.txt", "gate/words.evidence/001-coreml.evidence.json"} {
		read(t, filepath.Join(folder, file))
	}
	for _, file := range []string{"private.pem", "gate/coreml_run.spec.json", "gate/markers.json", "events.json"} {
		if _, err := os.Stat(filepath.Join(folder, file)); err == nil {
			t.Errorf("%s is in the folder", file)
		}
	}
	text := read(t, filepath.Join(folder, "differences.md"))
	for _, want := range []string{
		"lane_identity.core_ml: expected coreml_stand_in, found coreml_double", "verdict: expected pass, found fail",
		"markers: LOAD_MARKER_ABSENT: expected one, found none", "judgement canary: expected pass, found no such judgement", "step gate: expected to pass",
		"coregate verify --key public.pem --lane emulated --allow-unsupported-pin --evidence gate/coreml_run.evidence.json --words gate/words.evidence --reference gate/reference.txt receipt.signed.json",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("differences.md does not say %q:\n%s", want, text)
		}
	}
	if !strings.Contains(out.String(), "[1/13] host") || !strings.Contains(out.String(), "send that folder") {
		t.Errorf("progress is\n%s", out.String())
	}
}

func TestOnLinuxUpstreamsBridgeRuns(t *testing.T) {
	folder := here(t, badReceipt)
	run([]string{"-folder", folder, "-only", "gate"}, &bytes.Buffer{}, &bytes.Buffer{})
	calls := read(t, filepath.Join(os.Getenv("FAKE"), "calls"))
	if !strings.Contains(calls, "test --//third_party/whisper_cpp:bridge=upstream --noshow_progress --build_event_json_file="+folder+"/events.json --keep_going") {
		t.Errorf("Bazel was called by\n%s", calls)
	}
}

func TestRefusals(t *testing.T) {
	folder := here(t, badReceipt)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"an unknown step":                {[]string{"-folder", folder, "-only", "gates"}, `no step is called "gates"`},
		"a folder that exists":           {[]string{"-folder", filepath.Dir(folder)}, "exists"},
		"an argument that is not a flag": {[]string{"gate"}, "expected flags alone"},
	} {
		var errs bytes.Buffer
		if code := run(c.args, &bytes.Buffer{}, &errs); code != 2 || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: exit %d, %q", name, code, errs.String())
		}
	}
	t.Setenv("BAZEL", "")
	t.Setenv("PATH", t.TempDir())
	var errs bytes.Buffer
	if code := run([]string{"-folder", folder}, &bytes.Buffer{}, &errs); code != 2 || !strings.Contains(errs.String(), "install bazelisk") {
		t.Errorf("without Bazel: exit %d, %q", code, errs.String())
	}
	t.Chdir(t.TempDir())
	errs.Reset()
	if code := run(nil, &bytes.Buffer{}, &errs); code != 2 || !strings.Contains(errs.String(), "MODULE.bazel") {
		t.Errorf("outside a checkout: exit %d, %q", code, errs.String())
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]bool{"15.6.1": true, "13.3": true, "13.2.1": false, "12.7": false, "26.0": true, "none (exit status 1)": false, "16": true, "": false} {
		if got := atLeast(version, 13, 3); got != want {
			t.Errorf("%q is at least 13.3: %v", version, got)
		}
	}
}
