package bridgetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/serve"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
)

// program is a file that the build names in the environment.
func program(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Fatalf("%s must name a file; `bazel test //third_party/whisper_cpp/bridge/bridgetest:bridgetest_test` does", variable)
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(os.Getenv("TEST_SRCDIR"), filepath.FromSlash(path))
}

// did is what a bridge did: what the harness printed, and how it ended.
type did struct {
	said, log string
	end       string
}

type setup struct {
	evaluator string // the variable that names it
	env       []string
	steps     []string
	dir       string
}

func (s setup) run(t *testing.T, bridge string) did {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t, bridge), s.steps...)
	cmd.Dir = s.dir
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir(), "COREML_GATE_EVALUATOR=" + program(t, s.evaluator)}, s.env...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err := cmd.Run()
	end := "exit 0"
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		status := exit.Sys().(syscall.WaitStatus)
		end = fmt.Sprintf("exit %d", status.ExitStatus())
		if status.Signaled() {
			end = "signal " + status.Signal().String()
		}
	case err != nil:
		t.Fatal(err)
	}
	return did{out.String(), log.String(), end}
}

// ended is how an evaluator ended whose pipe was closed before it was done: by itself or by SIGPIPE, whichever comes first.
var ended = regexp.MustCompile(`, and the evaluator (?:was )?ended (?:with exit code|by signal) [0-9]+`)

// neutral is a log without the name of whose it is.
func neutral(log string) string {
	for _, name := range []string{"coreml_double: ", "coreml_stand_in: "} {
		log = strings.ReplaceAll(log, name, "(bridge): ")
	}
	return ended.ReplaceAllString(log, ", and the evaluator ended")
}

// same runs both bridges and says what both did; a difference fails the test. Their lines on stderr are the same but for the name
// at the start, and for a relative path, which Foundation makes absolute.
func same(t *testing.T, name string, s setup) did {
	t.Helper()
	double, upstream := s.run(t, "DOUBLE_HARNESS"), s.run(t, "UPSTREAM_HARNESS")
	if double.said != upstream.said || double.end != upstream.end {
		t.Errorf("%s:\nthe double said\n%s%s\n%s\nupstream's bridge said\n%s%s\n%s", name, double.said, double.end, double.log, upstream.said, upstream.end, upstream.log)
	}
	for log, prefix := range map[string]string{double.log: "coreml_double: ", upstream.log: "coreml_stand_in: "} {
		for line := range strings.Lines(log) {
			if !strings.HasPrefix(line, prefix) {
				t.Errorf("%s: a line without %q on stderr: %s", name, prefix, line)
			}
		}
	}
	if x, y := neutral(double.log), neutral(upstream.log); s.dir == "" && x != y {
		t.Errorf("%s: the double says\n%sand upstream's bridge\n%s", name, x, y)
	}
	return upstream
}

const (
	mels, frames = 4, 6
	// The program turns [1, 4, 6] into [1, 6, 4] and normalises each frame.
	source = `program(1.3)
{
    func main<ios16>(tensor<fp32, [1, 4, 6]> logmel_data) {
        tensor<int32, [3]> perm = const()[name = string("perm"), val = tensor<int32, [3]>([0, 2, 1])];
        tensor<int32, [1]> axes = const()[name = string("axes"), val = tensor<int32, [1]>([-1])];
        tensor<fp32, [1, 6, 4]> turned = transpose(perm = perm, x = logmel_data)[name = string("turned")];
        tensor<fp32, [1, 6, 4]> output = layer_norm(axes = axes, x = turned)[name = string("output")];
    } -> (output);
}
`
)

// encoder writes the program as a compiled model.
func encoder(t *testing.T) string {
	t.Helper()
	p, err := text.Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	array := func(name string, shape ...int64) spec.Feature {
		return spec.Feature{Name: name, Kind: spec.MultiArrayFeature, Array: &spec.Array{Shape: shape, DType: spec.ArrayFloat32}}
	}
	m := &spec.Model{SpecificationVersion: 7, Kind: spec.MLProgram, Program: p, Description: &spec.Description{}}
	m.Description.Inputs = []spec.Feature{array("logmel_data", 1, mels, frames)}
	m.Description.Outputs = []spec.Feature{array("output", 1, frames, mels)}
	path := filepath.Join(t.TempDir(), "e.mlpackage")
	if err := bundle.WritePackage(path, m, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFaults: every fault of the evaluator does the same through either bridge, in two predictions.
func TestFaults(t *testing.T) {
	model := encoder(t)
	room := 4 * mels * frames
	var table strings.Builder
	for _, f := range serve.Faults() {
		got := same(t, f.Name, setup{
			evaluator: "EVALUATOR", env: []string{"COREML_GATE_DOUBLE_FAULT=" + f.Name},
			steps: []string{"load=" + model, fmt.Sprintf("encode=%d,%d,%d", frames, mels, room), "free"},
		})
		fmt.Fprintf(&table, "| `%s` | %s |\n", f.Name, summary(got))
	}
	documented(t, table.String())
	if got := same(t, "unknown fault", setup{evaluator: "EVALUATOR", env: []string{"COREML_GATE_DOUBLE_FAULT=gain-2pct"}, steps: []string{"load=" + model}}); got.said != "load: null\n" {
		t.Errorf("an unknown fault is not refused: %s", got.said)
	}
}

// summary is what both bridges did, on one line: the harness encodes once for each of two patterns.
func summary(d did) string {
	var parts []string
	for line := range strings.Lines(d.said) {
		var wrote, room int
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "encode: wrote "):
			if _, err := fmt.Sscanf(line, "encode: wrote %d of %d bytes", &wrote, &room); err != nil {
				return "unreadable: " + line
			}
			parts = append(parts, fmt.Sprintf("writes %d of %d bytes", wrote, room))
		case line == "load: null":
			parts = append(parts, "does not load")
		}
	}
	if len(parts) == 2 && parts[0] == parts[1] {
		parts = []string{parts[0] + ", twice"}
	}
	if d.end != "exit 0" {
		parts = append(parts, "ends by "+d.end)
	}
	return strings.Join(parts, "; ")
}

// documented holds the table of docs/bridge.md to what was seen.
func documented(t *testing.T, table string) {
	t.Helper()
	doc, err := os.ReadFile(program(t, "BRIDGE_DOC"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), table) {
		t.Errorf("docs/bridge.md has another table of faults than was seen; expected\n%s", table)
	}
}

// TestNamed: what the made evaluator does by name.
func TestNamed(t *testing.T) {
	for _, c := range []struct{ mode, want string }{
		{"plain", "writes 24 of 64 bytes, twice"},
		{"too-small", "writes 12 of 64 bytes, twice"},
		{"too-large", "writes 48 of 64 bytes, twice"},
		{"float16", "writes 24 of 64 bytes, twice"},
		{"padded", "writes 24 of 64 bytes, twice"},
		{"prediction-fails", "writes 0 of 64 bytes, twice"},
		{"renamed", "writes 0 of 64 bytes, twice"},
		{"raises", "ends by signal aborted"},
		{"load-raises", "ends by signal aborted"},
		{"load-fails", "does not load"},
		{"silent", "does not load"},
		{"bad-magic", "does not load"},
		{"newer", "does not load"},
		{"dies", "writes 0 of 64 bytes, twice"},
		{"cut-short", "writes 0 of 64 bytes, twice"},
		{"rank", "writes 0 of 64 bytes, twice"},
		{"overflow", "writes 0 of 64 bytes, twice"},
	} {
		steps := []string{"load=/", "encode=3,2,64", "free"}
		if strings.Contains(c.want, "load") || c.mode == "load-raises" {
			steps = steps[:1]
		}
		got := same(t, c.mode, setup{evaluator: "FAKE_EVALUATOR_PROGRAM", env: []string{"FAKE_EVALUATOR=" + c.mode}, steps: steps})
		if summary(got) != c.want {
			t.Errorf("%s: both %s, want: %s", c.mode, summary(got), c.want)
		}
	}
	// Over the end of the destination lies a page that nobody may touch.
	got := same(t, "overrun", setup{evaluator: "FAKE_EVALUATOR_PROGRAM", env: []string{"FAKE_EVALUATOR=too-large"}, steps: []string{"load=/", "encode=3,2,24"}})
	if got.end != "signal segmentation fault" {
		t.Errorf("an output that is too large ends by %s, want a segmentation fault", got.end)
	}
	got = same(t, "null", setup{evaluator: "FAKE_EVALUATOR_PROGRAM", steps: []string{"free-null"}})
	if got.end != "signal segmentation fault" {
		t.Errorf("freeing null ends by %s, want a segmentation fault", got.end)
	}
}

// TestGenerated: outputs of any type, shape and strides, with fewer or more bytes than the shape says, and inputs of any size.
func TestGenerated(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 1))
	types := []uint32{65568, 65552, 65600, 131104, 131080, 0, 7}
	for n := range 150 {
		rank := r.IntN(6)
		count := 1
		shape, strides := []string{}, []string{}
		for range rank {
			extent := r.IntN(5)
			if r.IntN(4) > 0 {
				extent++
			}
			count *= extent
			shape = append(shape, fmt.Sprint(extent))
			strides = append(strides, fmt.Sprint(r.IntN(40)))
		}
		size := 4 * count
		switch r.IntN(4) {
		case 0:
			size = r.IntN(4*count + 1)
		case 1:
			size += r.IntN(200)
		}
		told := fmt.Sprintf("reply:%d:%s:%s:%d", types[r.IntN(len(types))], strings.Join(shape, ","), strings.Join(strides, ","), size)
		if rank == 0 {
			told = fmt.Sprintf("reply:%d:-:-:%d", types[r.IntN(len(types))], size)
		}
		in := fmt.Sprintf("encode=%d,%d,%d", r.IntN(9), r.IntN(9), 4*count+r.IntN(64))
		if r.IntN(12) == 0 {
			in = fmt.Sprintf("encode=%d,1,%d", []int64{-1, -3000, 5 << 30}[r.IntN(3)], 4*count)
		}
		got := same(t, fmt.Sprintf("%d: %s %s", n, told, in), setup{evaluator: "FAKE_EVALUATOR_PROGRAM", env: []string{"FAKE_EVALUATOR=" + told}, steps: []string{"load=/", in, "free"}})
		if got.end != "exit 0" {
			t.Errorf("%d: %s %s: ended by %s", n, told, in, got.end)
		}
	}
}

// TestPaths: a path reaches the evaluator through Foundation's URL as it does through the double.
func TestPaths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b", "a#b", "a?b", "a%20b", "é", "sub"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"a b", "a#b", "a?b", "a%20b", "é", "sub/", "sub/../é", ".//sub", "file", "", ".", "~", "none", "none\nnone", "file:///tmp", "\xff", "a\xc0\xaf", "\xed\xa0\x80"} {
		same(t, fmt.Sprintf("path %q", path), setup{evaluator: "FAKE_EVALUATOR_PROGRAM", env: []string{"FAKE_EVALUATOR=plain"}, steps: []string{"load=" + path, "encode=3,2,64", "free"}[:1], dir: dir})
	}
}

// TestLoadAndFree: a thousand models come and go. Upstream's bridge leaves nothing behind but what Foundation put into the thread's
// pool; the double leaves nothing.
func TestLoadAndFree(t *testing.T) {
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		t.Fatal("expected valgrind on PATH, found none: install it, since a leak shows nowhere else")
	}
	for _, bridge := range []string{"DOUBLE_HARNESS", "UPSTREAM_HARNESS"} {
		var lost []string
		for _, times := range []int{1, 1000} {
			cmd := exec.CommandContext(t.Context(), valgrind, "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=none", "--errors-for-leak-kinds=none",
				"--suppressions="+program(t, "SUPPRESSIONS"), program(t, bridge), "load=/", "encode=3,2,64", "free", fmt.Sprintf("repeat-load=/,%d", times))
			cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir(), "COREML_GATE_EVALUATOR=" + program(t, "FAKE_EVALUATOR_PROGRAM"), "FAKE_EVALUATOR=plain"}
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), fmt.Sprintf("loaded and freed %d times", times)) {
				t.Fatalf("%s, %d times: %v\n%s", bridge, times, err, tail(out))
			}
			lost = append(lost, definitelyLost(string(out)))
		}
		if lost[0] != lost[1] {
			t.Errorf("%s: one load loses %s, a thousand lose %s", bridge, lost[0], lost[1])
		}
	}
}

func definitelyLost(log string) string {
	if strings.Contains(log, "no leaks are possible") {
		return "nothing"
	}
	_, after, _ := strings.Cut(log, "definitely lost: ")
	amount, _, _ := strings.Cut(after, "\n")
	return amount
}

func tail(b []byte) []byte { return b[max(0, len(b)-4000):] }
