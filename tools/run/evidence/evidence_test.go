package evidence_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

func encode(t testing.TB, e *evidence.Evidence) []byte {
	t.Helper()
	data, err := evidence.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestRoundTrip(t *testing.T) {
	for _, kind := range []evidence.Kind{"coreml", "canary", "contrast"} {
		e := evidencetest.Sample(kind)
		got, err := evidence.Decode(encode(t, e))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, got); diff != "" {
			t.Errorf("%s differs after a round trip (-want +got):\n%s", kind, diff)
		}
	}
}

// TestRefused holds each way in which an evidence file can be other than what it seems.
func TestRefused(t *testing.T) {
	good := string(encode(t, evidencetest.Sample("coreml")))
	replace := func(from, to string) string {
		out := strings.Replace(good, from, to, 1)
		if out == good {
			t.Fatalf("%q is not in the sample", from)
		}
		return out
	}
	for _, c := range []struct{ name, text, why string }{
		{"unknown field", replace(`"attempts":1`, `"attempts":1,"attestor":1`), "unknown field"},
		{"missing field", replace(`"attempts":1,`, ``), "is missing"},
		{"duplicate key", replace(`"attempts":1`, `"attempts":2,"attempts":1`), "duplicate key"},
		{"key in another case", replace(`"attempts":1`, `"Attempts":1`), "unknown field"},
		{"two keys that differ in case", replace(`"attempts":1`, `"Attempts":2,"attempts":1`), "differ only in case"},
		{"trailing data", good + "{}", "trailing data"},
		{"trailing space", good + "\n", "canonical form"},
		{"white space", replace(`"attempts":1`, `"attempts": 1`), "canonical form"},
		{"another spelling of a number", replace(`"attempts":1`, `"attempts":1e0`), ""},
		{"big number", replace(`"attempts":1`, `"attempts":9007199254740993`), "beyond 2^53"},
		{"null", replace(`"attempts":1`, `"attempts":null`), "null"},
		{"lone surrogate", replace(`"fault":"none"`, `"fault":"\ud800"`), "surrogate"},
		{"not UTF-8", replace(`"fault":"none"`, "\"fault\":\"\xff\""), "UTF-8"},
		{"truncated", good[:len(good)-1], ""},
		{"empty", "", ""},
		{"other schema", replace(`"schema":1`, `"schema":2`), "schema"},
		{"other rules", replace(`"normalisation":1`, `"normalisation":2`), "normalisation"},
		{"edited line", replace(`Core ML model loaded`, `Core ML model Loaded`), "hash to"},
		{"dropped line", replace(`"whisper_init_state: Core ML model loaded",`, ``), "lines and says"},
		{"unknown kind", replace(`"kind":"coreml"`, `"kind":"warm"`), "kind"},
		{"encoder digest gone", replace(`"encoder":"`+strings.Repeat("e", 64)+`"`, `"encoder":null`), "encoder"},
		{"short digest", replace(strings.Repeat("a", 64), strings.Repeat("a", 63)), "64 hexadecimal"},
		{"upper-case digest", replace(strings.Repeat("a", 64), strings.Repeat("A", 64)), "64 hexadecimal"},
		{"code and signal", replace(`"signal":0`, `"signal":11`), "exit"},
		{"no attempt", replace(`"attempts":1`, `"attempts":0`), "attempts"},
	} {
		_, err := evidence.Decode([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: error %v, want one that says %q", c.name, err, c.why)
		}
	}
}

// TestEveryByteCounts holds that no changed byte of an evidence file gives evidence of the same bytes
// or goes unnoticed: it is refused, or it is another document with another digest.
func TestEveryByteCounts(t *testing.T) {
	good := encode(t, evidencetest.Sample("coreml"))
	for i := range good {
		bad := append([]byte{}, good...)
		bad[i] ^= 1
		e, err := evidence.Decode(bad)
		if err != nil {
			continue
		}
		if string(encode(t, e)) != string(bad) {
			t.Fatalf("byte %d: two spellings of one document", i)
		}
	}
}

func TestNormalise(t *testing.T) {
	n := evidence.Normaliser{Stage: []string{"/private/tmp/gate-run-1", "/tmp/gate-run-1"}}
	for _, c := range []struct{ in, want string }{
		{"whisper_print_timings:     load time =    88.40 ms", "whisper_print_timings:     load time = <ms>"},
		{"whisper_print_timings:   encode time =   812.22 ms /     1 runs (   812.22 ms per run)", "whisper_print_timings:   encode time = <ms> /     1 runs ( <ms> per run)"},
		{"system_info: n_threads = 4 / 10 | WHISPER : COREML = 1 | ", "system_info: n_threads = 4 / <cores> | WHISPER : COREML = 1 | "},
		{"open /private/tmp/gate-run-1/tmp/x and /tmp/gate-run-1/y", "open $STAGE/tmp/x and $STAGE/y"},
		{"mkdir /var/folders/x/y/C/com.apple.e5rt: Operation not permitted", "mkdir $CACHE/C/com.apple.e5rt: Operation not permitted"},
		{"mkdir /private/var/folders/ab/cd_e/T/: no", "mkdir $CACHE/T/: no"},
		{"/Users/ann/models and /home/bob/x and /root/y", "$HOME/models and $HOME/x and $HOME/y"},
		{"buffer at 0x7f3a5c0010 of 0x10 bytes", "buffer at <address> of 0x10 bytes"},
		{"2026-01-02 03:04:05.678 whisper-cli[123:4567] hello", "<log> whisper-cli hello"},
		{"2026-01-02 03:04:05.678901+0100 whisper-cli[123:0x45ab] hello", "<log> whisper-cli hello"},
		{"whisper_init_state: compute buffer (conv)   =    4.85 MB", "whisper_init_state: compute buffer (conv)   =    4.85 MB"},
		{"whisper_init_state: Core ML model loaded\r", "whisper_init_state: Core ML model loaded"},
		{"bad \xff byte", "bad \uFFFD byte"},
		{"86 items", "86 items"},
	} {
		if got := n.Line(c.in); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.in, got, c.want)
		}
		if got := n.Line(n.Line(c.in)); got != c.want {
			t.Errorf("%q changes when normalised twice: %q", c.in, got)
		}
	}
}

func TestStream(t *testing.T) {
	n := evidence.Normaliser{}
	a := n.Stream([]byte("a\nb\n"), false, true, nil)
	b := n.Stream([]byte("a\nb"), false, true, nil)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("a last line without LF is another stream:\n%s", diff)
	}
	none := n.Stream(nil, false, true, nil)
	if none.Count != 0 || none.Lines == nil || none.SHA256 != evidence.SHA256(nil) {
		t.Errorf("empty stream is %+v", none)
	}
	kept := n.Stream([]byte("whisper_init_state: Core ML model loaded\nsecret\n"), false, false, evidence.Recognise)
	if diff := cmp.Diff([]string{"whisper_init_state: Core ML model loaded"}, kept.Lines); diff != "" || kept.Count != 2 {
		t.Errorf("kept lines differ, or count %d is not 2:\n%s", kept.Count, diff)
	}
}

func TestObservations(t *testing.T) {
	o := &evidence.Observations{
		Schema: 1, EvidenceSHA256: strings.Repeat("a", 64), StartedAt: "2026-01-02T03:04:05Z", Host: map[string]string{"os": "linux"}, WarmUpSeconds: []float64{},
		WallSeconds: 1.25, Timings: whispercpp.TimedMilliseconds([]byte("whisper_print_timings:     load time =    88.40 ms\nwhisper_print_timings:    total time =  1203.11 ms\n")),
	}
	data, err := evidence.EncodeObservations(o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := evidence.DecodeObservations(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(o, got); diff != "" {
		t.Errorf("differs after a round trip (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]float64{"load": 88.4, "total": 1203.11}, got.Timings); diff != "" {
		t.Errorf("timings differ (-want +got):\n%s", diff)
	}
}

func FuzzDecode(f *testing.F) {
	for _, kind := range []evidence.Kind{"coreml", "canary", "contrast"} {
		f.Add(encode(f, evidencetest.Sample(kind)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := evidence.Decode(data)
		if err != nil {
			return
		}
		again, err := evidence.Encode(e)
		if err != nil || string(again) != string(data) {
			t.Fatalf("accepted bytes do not encode to themselves: %v", err)
		}
	})
}

func FuzzNormalise(f *testing.F) {
	f.Add("whisper_print_timings:     load time =    88.40 ms")
	f.Fuzz(func(t *testing.T, line string) {
		n := evidence.Normaliser{}
		once := n.Line(line)
		if strings.Contains(once, "\xff") {
			t.Fatal("bytes that are not UTF-8 remain")
		}
	})
}
