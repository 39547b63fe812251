package judge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

func TestParseExit(t *testing.T) {
	code := func(n int) *evidence.Exit { return &evidence.Exit{Kind: evidence.ExitCode, Code: n} }
	signal := func(n int) *evidence.Exit { return &evidence.Exit{Kind: evidence.ExitSignal, Signal: n} }
	timeout := &evidence.Exit{Kind: evidence.ExitTimeout}
	for text, want := range map[string]*evidence.Exit{
		"0": code(0), "3": code(3), "139": code(139), "code 3": code(3), "-6": signal(6), "-11": signal(11),
		"signal 11 (139)": signal(11), "Signal 6": signal(6), "SIGSEGV": signal(11), "sigabrt (core dumped)": signal(6), "SIGKILL": signal(9),
		"timeout": timeout, "timeout(124)": timeout, "timed out": timeout, "timed out after 300 s": timeout, "124": timeout,
		"": nil, "x": nil, "256": nil, "-200": nil, "signal 0": nil, "signal x": nil,
	} {
		got, err := ParseExit(text)
		if (err != nil) != (want == nil) {
			t.Errorf("%q: error %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q differs (-want +got):\n%s", text, diff)
		}
	}
}

func TestParseLog(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       *Run
	}{
		{"sections", "# x; argv had -ac 512\nexit: 0\n--- stderr\na\n\nb\n--- stdout\nw\n", &Run{
			Kind: "coreml", Words: true, Exit: &evidence.Exit{Kind: evidence.ExitCode}, Argv: []string{"-ac", "512"}, Stderr: []string{"a", "b"}, StderrNumbers: []int{4, 6}, Stdout: []string{"w"}, StdoutKnown: true}},
		{"raw stderr", "exit: 3\nwhisper_init_state: x\nlast", &Run{
			Kind: "coreml", Words: true, Exit: &evidence.Exit{Kind: evidence.ExitCode, Code: 3}, Stderr: []string{"whisper_init_state: x", "last"}, StderrNumbers: []int{2, 3}}},
		{"an exit line inside a stream", "exit: 0\n--- stderr\nexit: 3\n", &Run{
			Kind: "coreml", Words: true, Exit: &evidence.Exit{Kind: evidence.ExitCode}, Stderr: []string{"exit: 3"}, StderrNumbers: []int{3}}},
		{"CRLF", "exit: 0\r\n--- stderr\r\na\r\n", &Run{
			Kind: "coreml", Words: true, Exit: &evidence.Exit{Kind: evidence.ExitCode}, Stderr: []string{"a"}, StderrNumbers: []int{3}}},
		{"argv", "argv: -m m.bin -np\nexit: 0\n--- stderr\n", &Run{
			Kind: "coreml", Words: true, Exit: &evidence.Exit{Kind: evidence.ExitCode}, Argv: []string{"-m", "m.bin", "-np"}}},
		{"streams by a container's log", "2026-01-02T03:04:05.6Z stderr F a\n2026-01-02T03:04:05.7Z stdout P w\n2026-01-02T03:04:05.8Z stdout F o\n", &Run{
			Kind: "coreml", Words: true, Stderr: []string{"a"}, StderrNumbers: []int{1}, Stdout: []string{"wo"}, StdoutKnown: true}},
	} {
		got, err := ParseLog([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", c.name, diff)
		}
	}
	for name, text := range map[string]string{
		"an exit line in raw text":       "whisper_init_state: x\nexit: 0\nlast",
		"an exit line below raw text":    "whisper_init_state: x\nexit: 0",
		"a log above the first section":  "exit: 0\nwhisper_init_state: x\n--- stderr\ny\n",
		"text above the first section":   "something\n--- stderr\ny\n",
		"two ends in one exit line":      "exit: 0 139\n--- stderr\n",
		"an end and a signal":            "exit: code 0 signal 11\n--- stderr\n",
		"a signal and another's code":    "exit: signal 11 (134)\n--- stderr\n",
		"an end with a tail":             "exit: 0 # was 139\n--- stderr\n",
		"an unknown signal":              "exit: SIGNOPE\n--- stderr\n",
		"a code beyond what a byte says": "exit: 256\n--- stderr\n",
	} {
		if r, err := ParseLog([]byte(text)); err == nil {
			t.Errorf("%s is read: %+v", name, r)
		}
	}
	if _, err := ParseLog([]byte("whisper_init_state: x\n--- stdout\ny\n")); err == nil || !strings.Contains(err.Error(), `the line "--- stderr" above the program's own lines`) {
		t.Errorf("a stderr without its heading: %v, want to hear of the heading", err)
	}
	if _, err := ParseLog([]byte("exit: perhaps\n--- stderr\n")); err == nil {
		t.Error("an exit line that says nothing is taken")
	}
}

func FuzzParseLog(f *testing.F) {
	f.Add([]byte("exit: 0\n--- stderr\nsystem_info: COREML = 1 | \n--- stdout\nx\n"))
	f.Add([]byte("exit: signal 11 (139)\n--- stderr\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseLog(text)
		if err != nil {
			return
		}
		for _, kind := range []evidence.Kind{evidence.KindCoreML, evidence.KindCanary, evidence.KindContrast} {
			r.Kind = kind
			j := Judge(r)
			if j.Verdict == "" || j.Verdict == "pass" && len(j.Reasons) > 0 {
				t.Fatalf("verdict %q with reasons %v", j.Verdict, j.Reasons)
			}
		}
	})
}
