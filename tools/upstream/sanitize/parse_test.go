package sanitize

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// recorded is what a checker wrote about a real whisper-cli (v1.9.1), its folder's name replaced.
func recorded(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestParseRecorded(t *testing.T) {
	for name, tc := range map[string]struct {
		batch int    // different reports of the batch
		times int    // reports of the batch, equal ones counted
		kinds string // of the batch, in order
		rest  int
	}{
		"valgrind":         {1, 5, "Conditional jump or move depends on uninitialised value(s)", 0},
		"address_filled":   {1, 1, "SEGV", 0},
		"valgrind_patched": {0, 0, "nothing of the batch", 0},
		"valgrind_filled": {
			6, 13, "Conditional jump or move depends on uninitialised value(s); Invalid free() / delete / delete[] / realloc(); " +
				"Use of uninitialised value of size 8; Invalid read of size 8; Process terminating with default action of signal 11 (SIGSEGV)", 0,
		},
	} {
		row := Row{Findings: Parse(recorded(t, name))}
		batch, times := 0, 0
		for _, f := range row.Findings {
			if f.Batch {
				batch, times = batch+1, times+f.Times
			}
		}
		if batch != tc.batch || times != tc.times || len(row.Findings)-batch != tc.rest || row.said() != tc.kinds {
			t.Errorf("%s: %d different of the batch, %d in all, %d others, %q; want %+v\n%+v", name, batch, times, len(row.Findings)-batch, row.said(), tc, row.Findings)
		}
	}
	for _, f := range Parse(recorded(t, "memory_no_symbols")) {
		if len(f.Functions) != 0 || f.Batch || f.Kind != "use-of-uninitialized-value" {
			t.Errorf("stack without names: %+v", f)
		}
	}
}

func TestParseForms(t *testing.T) {
	for name, tc := range map[string]struct {
		text, kind string
		batch      bool
	}{
		"address": {"==7==ERROR: AddressSanitizer: attempting free on address which was not malloc()-ed: 0xbebe in thread T0\n    #0 0x7f in free (/l+0x1)\n    #1 0x55 in whisper_batch_free /p/whisper.cpp:7\n\n",
			"attempting free", true},
		"undefined": {"whisper.cpp:5:6: runtime error: null pointer passed as argument 1\n    #0 0x55 in whisper_full (/x+0x1)\n", "null pointer passed as argument 1", false},
		"elsewhere": {"==7==WARNING: MemorySanitizer: use-of-uninitialized-value\n    #0 0x55 in std::map<int>::find(int) /m:1\n", "use-of-uninitialized-value", false},
		"a library's frame without a name": {"==7==ERROR: AddressSanitizer: SEGV on unknown address\n    #0 0x7f in free (/l+0x1)\n    #1 0x7f  (/usr/lib/libc.so.6+0x2a14e) (BuildId: a2)\n    #2 0x55 in whisper_free_state /p/whisper.cpp:7\n",
			"SEGV", true},
		"a frame in a namespace without a name": {"==7==ERROR: AddressSanitizer: SEGV on unknown address\n    #0 0x7f in free (/l+0x1)\n    #1 0x7f in (anonymous namespace)::drop(int) /p:1\n    #2 0x55 in whisper_free_state /p/whisper.cpp:7\n",
			"SEGV", true},
		"a jump to nowhere": {"==7== Jump to the invalid address stated on the next line\n==7==    at 0xAA: ???\n==7==    by 0x40E182F: whisper_free_state.part.0 (in /staged/unpatched)\n", "Jump to the invalid", true},
		"second stack is not the report's": {"==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n    #0 0x1 in main (/x)\n\nfreed by thread T0 here:\n    #0 0x1 in whisper_free_state (/x)\n",
			"heap-use-after-free", false},
	} {
		got := Parse([]byte(tc.text))
		if len(got) != 1 || !strings.HasPrefix(got[0].Kind, tc.kind) || got[0].Batch != tc.batch {
			t.Errorf("%s: %+v, want one of kind %q, of the batch: %v", name, got, tc.kind, tc.batch)
		}
	}
	// What of the program has no name may be the batch's; what of a library has none is not.
	for text, want := range map[string]bool{
		"==1== Invalid read of size 8\n==1==    at 0x1: ??? (in /staged/patched)\n==1==    by 0x2: main (in /staged/patched)\n":    true,
		"==1== Invalid read of size 8\n==1==    at 0x1: ??? (in /usr/lib/libc.so.6)\n==1==    by 0x2: main (in /staged/patched)\n": false,
		"==1== Invalid read of size 8\n==1==    at 0x1: ???\n==1==    by 0x2: whisper_free_state (in /staged/patched)\n":           false,
		"==1== Invalid read of size 8\n==1==    at 0x1: ??? (in /usr/lib/libc.so.6)\n":                                             true,
		"==1== Invalid read of size 8\n": true,
	} {
		if got := Parse([]byte(text)); len(got) != 1 || got[0].Unnamed != want {
			t.Errorf("%q: %+v, want unnamed %v", text, got, want)
		}
	}
	if got := Parse([]byte("==1== Memcheck, a memory error detector\n==1== Command: x\nplain text\n")); len(got) != 0 {
		t.Errorf("a checker's words about itself are taken for reports: %+v", got)
	}
}

func TestJudge(t *testing.T) {
	row := func(arm, outcome string, findings ...Finding) Row {
		return Row{Setting: Setting{Tool: "valgrind", Memory: "followed"}, Arm: arm, Outcome: outcome, Findings: findings}
	}
	batch := Finding{Kind: "k", Functions: []string{"whisper_free_state"}, Batch: true, Times: 1}
	other := Finding{Kind: "k", Functions: []string{"main"}, Times: 1}
	unnamed := Finding{Kind: "k", Functions: []string{}, Times: 1, Unnamed: true}
	for name, tc := range map[string]struct {
		rows    []Row
		verdict reason.Verdict
		codes   string
	}{
		"as it should be":           {[]Row{row("unpatched", "exit 3", batch), row("patched", "exit 3")}, reason.Pass, ""},
		"nobody sees the fault":     {[]Row{row("unpatched", "exit 3"), row("patched", "exit 3")}, reason.Unknown, "SANITIZER_NOTHING_SEEN SANITIZER_BLIND"},
		"one of two is blind":       {[]Row{row("unpatched", "exit 3"), row("unpatched", "signal 6", batch), row("patched", "exit 3")}, reason.Pass, "SANITIZER_BLIND"},
		"patched has it too":        {[]Row{row("unpatched", "exit 3", batch), row("patched", "exit 3", batch)}, reason.Failed, "SANITIZER_PATCHED"},
		"patched ends otherwise":    {[]Row{row("unpatched", "exit 3", batch), row("patched", "signal 11")}, reason.Failed, "SANITIZER_PATCHED"},
		"something else, patched":   {[]Row{row("unpatched", "exit 3", batch), row("patched", "exit 3", other)}, reason.Pass, "SANITIZER_ELSEWHERE"},
		"a crash without names":     {[]Row{row("unpatched", "exit 3", batch), row("patched", "signal 11", unnamed)}, reason.Failed, "SANITIZER_UNNAMED SANITIZER_PATCHED SANITIZER_ELSEWHERE"},
		"the fault and one unnamed": {[]Row{row("unpatched", "exit 3", batch, unnamed), row("patched", "exit 3")}, reason.Pass, "SANITIZER_ELSEWHERE"},
		"both, patched":             {[]Row{row("unpatched", "exit 3", batch), row("patched", "exit 3", batch, unnamed)}, reason.Failed, "SANITIZER_PATCHED SANITIZER_ELSEWHERE"},
		"nobody knows what it says": {[]Row{row("unpatched", "exit 3", batch), row("patched", "exit 3", unnamed)}, reason.Unknown, "SANITIZER_UNNAMED SANITIZER_ELSEWHERE"},
	} {
		r := judge(tc.rows)
		var codes []string
		for _, reason := range append(r.Reasons, r.Notes...) {
			codes = append(codes, reason.Code)
		}
		if got := strings.Join(codes, " "); r.Verdict != tc.verdict || got != tc.codes {
			t.Errorf("%s: %s, %q; want %s, %q", name, r.Verdict, got, tc.verdict, tc.codes)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"valgrind", "valgrind_filled", "address_filled", "memory_no_symbols"} {
		data, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if n := len(Parse(data)); n > maxFindings {
			t.Errorf("%d reports", n)
		}
	})
}
