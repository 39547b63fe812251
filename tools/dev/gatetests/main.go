// Command gatetests drives Bazel over gate tests and shows that nothing selects their judgement away.
//
//	go run ./tools/dev/gatetests [--bazel=bazel] [--red=//gate/experiments:red_test] [--green=//gate:markers_test] [-- FLAGS]
//
// The red test must stay red under every flag that selects, repeats, splits or feeds tests, and the green one must judge, which
// its log shows, or fail. It runs in this workspace, and FLAGS are added to every call. It cannot be a test target: a Bazel
// inside a test action of Bazel has no place to live.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// ways are flags of bazel test that could keep a test from judging. {evil} is a folder with a judgement that passes,
// laid out as the runfiles of both tests.
var ways = [][]string{
	{},
	{"--test_filter=NoSuchTest"},
	{"--test_filter="},
	{"--test_arg=-test.run=^$"},
	{"--test_arg=-test.skip=."},
	{"--test_arg=-test.list=."},
	{"--test_arg=-test.count=0"},
	{"--test_arg=--help"},
	{"--runs_per_test=2"},
	{"--test_sharding_strategy=forced=3"},
	{"--test_env=GATE_EXPECT=NO_COREML_BUILD"},
	{"--test_env=GATE_TEST=/dev/null"},
	{"--test_env=GATE_TEST=evil.gate.json"},
	{"--test_env=RUNFILES_DIR={evil}"},
	{"--test_env=GATE_TEST=evil.gate.json", "--test_env=RUNFILES_DIR={evil}"},
	// TEST_TOTAL_SHARDS is not among them: Bazel 7.7 itself crashes if --test_env sets it, and runs no test.
	{"--test_env=TESTBRIDGE_TEST_ONLY=NoSuchTest"},
	{"--flaky_test_attempts=3"},
	{"--test_runner_fail_fast"},
}

// filters are flags that take tests away whole: the call must then not be green.
var filters = [][]string{
	{"--test_tag_filters=no-such-tag"},
	{"--test_size_filters=enormous"},
	{"--test_lang_filters=cc"},
	{"--test_timeout_filters=eternal"},
	{"--build_tests_only", "--test_tag_filters=no-such-tag"},
}

// bench is what the checks run with.
type bench struct {
	bazel, evil string
	flags       []string
}

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("gatetests", flag.ContinueOnError)
	flags.SetOutput(stderr)
	bazel := flags.String("bazel", "bazel", "the Bazel to run")
	red := flags.String("red", "//gate/experiments:red_test", "a gate_test that is red")
	green := flags.String("green", "//gate:markers_test", "a gate_test that is green")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	evil, err := plant(*red, *green)
	if err != nil {
		fmt.Fprintf(stderr, "gatetests: %v\n", err)
		return 2
	}
	defer os.RemoveAll(evil)
	b := bench{*bazel, evil, flags.Args()}
	checks, wrong := 0, 0
	report := func(what string, err error) {
		checks++
		if err != nil {
			wrong++
			fmt.Fprintf(stdout, "FAIL %s\n    %s\n", what, strings.ReplaceAll(err.Error(), "\n", "\n    "))
			return
		}
		fmt.Fprintf(stdout, "ok   %s\n", what)
	}
	for _, way := range ways {
		report(*red+" "+strings.Join(way, " "), b.staysRed(*red, way))
		report(*green+" "+strings.Join(way, " "), b.judges(*green, way))
	}
	report("the planted judgement passes by itself", b.plantedPasses(*green))
	for _, filter := range filters {
		report(*green+" "+strings.Join(filter, " "), b.notGreen(*green, filter))
	}
	fmt.Fprintf(stdout, "gatetests: %d checks, %d failed\n", checks, wrong)
	if wrong > 0 {
		return 1
	}
	return 0
}

// plant lays out runfiles in which everything passes.
func plant(targets ...string) (string, error) {
	dir, err := os.MkdirTemp("", "gatetests")
	if err != nil {
		return "", err
	}
	pass := `{"name":"markers","verdict":"pass","reasons":[],"notes":[],"facts":{},"policy":null}`
	manifest := `{"schema":1,"label":"//evil:test","expect":[],"judgements":[{"name":"markers","file":"_main/pass.json"}]}`
	files := map[string]string{"_main/pass.json": pass, "evil.gate.json": manifest}
	for _, target := range targets {
		path := strings.ReplaceAll(strings.TrimPrefix(target, "//"), ":", "/")
		files["_main/"+path+".gate.json"] = manifest
	}
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// test runs bazel test, and returns what it and the test printed and whether it was green.
func (b bench) test(target string, way []string) (string, bool) {
	// Bazel 7.7 sometimes finds a file of the test before in a sandbox that it uses again, and then runs no test.
	args := []string{"test", target, "--noreuse_sandbox_directories", "--color=no", "--curses=no", "--noshow_progress", "--test_output=all", "--nocache_test_results"}
	for _, f := range way {
		args = append(args, strings.ReplaceAll(f, "{evil}", b.evil))
	}
	out, err := exec.Command(b.bazel, append(args, b.flags...)...).CombinedOutput()
	return string(out), err == nil
}

// Every test has to end by its own judgement or by its own refusal to judge. One that Bazel could not build or start says nothing.
var (
	failed  = regexp.MustCompile(`(?m)^FAIL //\S+: \w+: fail$`)
	refused = regexp.MustCompile(`(?m)^FAIL: (arguments \[|nothing was judged: )`)
)

func (b bench) staysRed(target string, way []string) error {
	out, green := b.test(target, way)
	if green {
		return fmt.Errorf("expected a red test, found a green one:\n%s", out)
	}
	if !failed.MatchString(out) && !refused.MatchString(out) {
		return fmt.Errorf("expected the test to fail by its judgement or refuse, found:\n%s", out)
	}
	return nil
}

func (b bench) judges(target string, way []string) error {
	out, green := b.test(target, way)
	switch {
	case green && (!strings.Contains(out, "markers: pass") || !strings.Contains(out, "PASS "+target)):
		return fmt.Errorf("expected a green test to have judged, found:\n%s", out)
	case !green && (len(way) == 0 || !refused.MatchString(out)):
		return fmt.Errorf("expected the test to judge and pass, or to refuse, found:\n%s", out)
	}
	return nil
}

func (b bench) notGreen(target string, filter []string) error {
	out, green := b.test(target, filter)
	if green || !strings.Contains(out, "No test targets were found") {
		return fmt.Errorf("expected Bazel to find no test and to fail, found:\n%s", out)
	}
	return nil
}

// plantedPasses holds that the planted judgement is one that a gate test would pass by, or else offering it shows nothing.
func (b bench) plantedPasses(target string) error {
	out, err := exec.Command(b.bazel, append([]string{"info", "bazel-bin"}, b.flags...)...).Output()
	if err != nil {
		return fmt.Errorf("bazel info bazel-bin: %w", err)
	}
	path := strings.ReplaceAll(strings.TrimPrefix(target, "//"), ":", "/")
	cmd := exec.Command(filepath.Join(strings.TrimSpace(string(out)), filepath.FromSlash(path)))
	cmd.Env = []string{"TEST_SRCDIR=" + b.evil, "GATE_TEST=evil.gate.json"}
	if said, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(said), "PASS //evil:test") {
		return fmt.Errorf("expected the planted judgement to pass, found %v:\n%s", err, said)
	}
	return nil
}
