package runner

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// TestArguments holds every spelling of what the contract forbids, and that nothing starts.
func TestArguments(t *testing.T) {
	for _, c := range []struct {
		arguments string
		forbidden bool
	}{
		{"", false},
		{"-bs 1 -bo 1", false},
		{"-p 1", false},
		{"--processors 1", false},
		{"--no-flash-attn -nf", false},
		{"-np", true},
		{"--no-prints", true},
		{"--no-prints=true", true},
		{"-ac 512", true},
		{"--audio-ctx 512", true},
		{"--audio-ctx=512", true},
		{"-p 2", true},
		{"--processors 4", true},
		{"--processors=1", true},
		{"-p", true},
		{"@args.txt", true},
		{"other.wav", true},
		{"-", true},
		{"-f other.wav", true},
		{"-m other.bin", true},
		{"--dtw tiny.en", true},
		{"-dtw bogus", true},
		{"-of ../../out", true},
		{"-otxt", true},
		{"-debug", true},
		{"--help", true},
		{"--version", true},
		{"-dl", true},
		{"-l de", true},
		{"-t 8", true},
		{"-tp 0.5", true},
		{"-tpi 0.2", true},
		{"--prompt words", true},
		{"--vad", true},
		{"-ng", true},
		{"-dev 1", true},
		{"-bo abc", true},
		{"-bo", true},
		{"-bo -np", true},
		{"-NP", true},
		{"--not-there", true},
	} {
		err := CheckArguments(strings.Fields(c.arguments))
		var refusal *reason.Error
		if errors.As(err, &refusal) != c.forbidden {
			t.Errorf("arguments %q: %v, want forbidden %v", c.arguments, err, c.forbidden)
		}
		if c.forbidden && refusal != nil && refusal.Code != "FORBIDDEN_ARGUMENT" {
			t.Errorf("arguments %q: code %s, want FORBIDDEN_ARGUMENT", c.arguments, refusal.Code)
		}
	}
}

// TestRefusals: each clause of the contract refuses a spec that breaks only that clause.
func TestRefusals(t *testing.T) {
	multilingualHeader := "lmgg\x99\xca\x00\x00" // magic, then n_vocab 51865
	for _, c := range []struct {
		name, code string
		kind       evidence.Kind
		change     func(t *testing.T, s *Spec)
	}{
		{"no encoder", "SPEC_REFUSED", evidence.KindCoreML, func(_ *testing.T, s *Spec) { s.Encoder = "" }},
		{"a package", "SPEC_REFUSED", evidence.KindCoreML, func(_ *testing.T, s *Spec) { s.Encoder = "e.mlpackage" }},
		{"a package in other letters", "SPEC_REFUSED", evidence.KindCoreML, func(_ *testing.T, s *Spec) { s.Encoder = "e.MLPackage/" }},
		{"a specification", "SPEC_REFUSED", evidence.KindCoreML, func(_ *testing.T, s *Spec) { s.Encoder = "e.mlmodel" }},
		{"a package that is called compiled", "SPEC_REFUSED", evidence.KindCoreML, func(t *testing.T, s *Spec) {
			s.Encoder = filepath.Join(t.TempDir(), "e.mlmodelc")
			if err := os.Mkdir(s.Encoder, 0o755); err != nil {
				t.Fatal(err)
			}
			rewrite(t, filepath.Join(s.Encoder, "Manifest.json"), "{}")
		}},
		{"a canary asked for again", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.Attempt = 2 }},
		{"a contrast asked for again", "SPEC_REFUSED", evidence.KindContrast, func(_ *testing.T, s *Spec) { s.Attempt = 1 }},
		{"a negative attempt", "SPEC_REFUSED", evidence.KindCoreML, func(_ *testing.T, s *Spec) { s.Attempt = -1 }},
		{"a relative ledger", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.AttemptLedger = "ledger" }},
		{"ledger and token", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.AttemptLedger, s.AttemptToken = "/ledger", "/token" }},
		{"canary with encoder", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.Encoder = "e.mlmodelc" }},
		{"model without .bin", "MODEL_NAME", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.Model = "/data/v1.4/ggml-model" }},
		{"no threads", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.Threads = 0 }},
		{"no deadline", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.DeadlineSeconds = 0 }},
		{"unknown kind", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.Kind = "warm" }},
		{"unknown lane", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.Lane = "simulated" }},
		{"unknown flavour", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.Flavour = "openvino" }},
		{"fault on a device", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.Lane, s.Fault = evidence.LanePhysical, "gain-1pct" }},
		{"filled heap on a device", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.Lane, s.HeapFill = evidence.LanePhysical, 170 }},
		{"heap filled with no byte", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.HeapFill = 256 }},
		{"warm canary", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.WarmUp = true }},
		{"no evaluator", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.Evaluator = "" }},
		{"language guessed", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.Language = "auto" }},
		{"option as language", "SPEC_REFUSED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.Language = "-np" }},
		{"silenced", "FORBIDDEN_ARGUMENT", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.Arguments = []string{"-np"} }},
		{"no language for many", "LANGUAGE_MISSING", evidence.KindCanary, func(t *testing.T, s *Spec) { rewrite(t, s.Model, multilingualHeader) }},
		{"a hundredth language of 99", "LANGUAGE_UNKNOWN", evidence.KindCanary, func(t *testing.T, s *Spec) { rewrite(t, s.Model, multilingualHeader); s.Language = "yue" }},
		{"the same by its name", "LANGUAGE_UNKNOWN", evidence.KindCanary, func(t *testing.T, s *Spec) { rewrite(t, s.Model, multilingualHeader); s.Language = "cantonese" }},
		{"that language for one", "LANGUAGE_IGNORED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.Language = "yue" }},
		{"language for one", "LANGUAGE_IGNORED", evidence.KindCanary, func(_ *testing.T, s *Spec) { s.Language = "de" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSpec(t, c.kind, "plant")
			c.change(t, s)
			_, err := Run(t.Context(), s)
			var refusal *reason.Error
			if !errors.As(err, &refusal) || refusal.Code != c.code {
				t.Errorf("error %v, want a refusal %s", err, c.code)
			}
		})
	}
}

func rewrite(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestPhysicalNeedsItsHost holds that no other host runs, or labels, a physical run.
func TestPhysicalNeedsItsHost(t *testing.T) {
	for _, host := range [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}} {
		var refusal *reason.Error
		if err := checkHost(evidence.LanePhysical, host[0], host[1]); !errors.As(err, &refusal) || refusal.Code != "LANE_MISMATCH" {
			t.Errorf("%v: error %v, want LANE_MISMATCH", host, err)
		}
	}
	if err := checkHost(evidence.LanePhysical, "darwin", "arm64"); err != nil {
		t.Errorf("a Mac is refused: %v", err)
	}
}

// TestBridgeIsTheNamedOne holds that neither emulation of Core ML passes for the other, or for Apple's.
func TestBridgeIsTheNamedOne(t *testing.T) {
	for _, c := range []struct {
		lane        evidence.Lane
		found       []string
		named       string
		isRefused   bool
		description string
	}{
		{evidence.LanePhysical, []string{"coreml_double"}, "CoreML.framework", true, "the double on the physical lane"},
		{evidence.LanePhysical, []string{"coreml_stand_in"}, "CoreML.framework", true, "the stand-in on the physical lane"},
		{evidence.LaneEmulated, []string{"coreml_double"}, "coreml_double", false, "the double"},
		{evidence.LaneEmulated, []string{"coreml_stand_in"}, "coreml_stand_in", false, "the stand-in"},
		{evidence.LaneEmulated, []string{"coreml_stand_in"}, "coreml_double", true, "the stand-in by the double's name"},
		{evidence.LaneEmulated, []string{"coreml_double"}, "coreml_stand_in", true, "the double by the stand-in's name"},
		{evidence.LaneEmulated, []string{"coreml_double", "coreml_stand_in"}, "coreml_double", true, "both in one program"},
		{evidence.LaneEmulated, nil, "coreml_double", false, "a program without Core ML"},
	} {
		err := (&Spec{Lane: c.lane, Language: "en"}).checkStaged(&staging{emulatedBy: c.found}, map[string]string{"core_ml": c.named})
		var refusal *reason.Error
		if refused := errors.As(err, &refusal) && refusal.Code == "LANE_MISMATCH"; refused != c.isRefused || !refused && err != nil {
			t.Errorf("%s: error %v, want LANE_MISMATCH: %v", c.description, err, c.isRefused)
		}
	}
}

// TestOOM holds what counts as the system's own word.
func TestOOM(t *testing.T) {
	if got := parseOOMKills("low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\n"); got != 2 {
		t.Errorf("memory.events: %d kills, want 2", got)
	}
	if got := parseOOMKills("oom_kill_disable 0\nunder_oom 0\noom_kill 5\n"); got != 5 {
		t.Errorf("memory.oom_control: %d kills, want 5", got)
	}
	if got := parseOOMKills("oom 3\n"); got != 0 {
		t.Errorf("no oom_kill line: %d kills, want 0", got)
	}
	got := oomFiles("12:memory:/a\n0::/b\n3:cpu,cpuacct:/c\n")
	if len(got) != 2 || got[0] != "/sys/fs/cgroup/memory/a/memory.oom_control" || got[1] != "/sys/fs/cgroup/b/memory.events" {
		t.Errorf("files %v", got)
	}
}

// TestIdentity compares what the key says about the machine with the machine.
func TestIdentity(t *testing.T) {
	machine := map[string]string{"os_build": "24G720", "chip": "Apple M4"}
	for _, c := range []struct {
		name     string
		lane     evidence.Lane
		identity map[string]string
		code     string
	}{
		{"the same", evidence.LanePhysical, map[string]string{"lane": "physical", "os_build": "24G720", "chip": "Apple M4", "xcode_build": "17A1"}, ""},
		{"another build (C21)", evidence.LanePhysical, map[string]string{"os_build": "24G84", "chip": "Apple M4"}, "WORKER_IDENTITY"},
		{"a hole", evidence.LanePhysical, map[string]string{"os_build": "24G720"}, "WORKER_IDENTITY"},
		{"nothing", evidence.LanePhysical, map[string]string{}, "WORKER_IDENTITY"},
		{"other hardware", evidence.LanePhysical, map[string]string{"os_build": "24G720", "chip": "Apple M4 Pro"}, "WORKER_IDENTITY"},
		{"another lane's identity", evidence.LanePhysical, map[string]string{"lane": "emulated", "os_build": "24G720", "chip": "Apple M4"}, "LANE_MISMATCH"},
		{"a physical identity on the emulated lane", evidence.LaneEmulated, map[string]string{"lane": "physical"}, "LANE_MISMATCH"},
		{"emulated", evidence.LaneEmulated, map[string]string{"lane": "emulated"}, ""},
	} {
		err := checkIdentity(c.lane, c.identity, machine)
		var refusal *reason.Error
		if errors.As(err, &refusal) != (c.code != "") || refusal != nil && refusal.Code != c.code {
			t.Errorf("%s: %v, want %q", c.name, err, c.code)
		}
	}
	// A machine that does not say what it is, and an identity that does not ask.
	var refusal *reason.Error
	if err := checkIdentity(evidence.LanePhysical, map[string]string{}, map[string]string{"chip": ""}); !errors.As(err, &refusal) || refusal.Code != "WORKER_IDENTITY" {
		t.Errorf("a silent machine: %v, want WORKER_IDENTITY", err)
	}
}

// TestProcessor holds that a processor without the instructions that whisper-cli was built for is named, before anything starts.
func TestProcessor(t *testing.T) {
	old := func(set string) ([]string, error) {
		switch set {
		case "baseline":
			return nil, nil
		case "avx2":
			return []string{"avx2", "fma"}, nil
		}
		return nil, errors.New("no such set")
	}
	var refusal *reason.Error
	err := checkProcessor(map[string]string{"instruction_set": "avx2"}, old)
	if !errors.As(err, &refusal) || refusal.Code != "CPU_FEATURES_MISSING" || !strings.Contains(refusal.Found, "avx2, fma") {
		t.Errorf("an old processor: %v, want CPU_FEATURES_MISSING with avx2 and fma", err)
	}
	if err := checkProcessor(map[string]string{"instruction_set": "avx9"}, old); err == nil || errors.As(err, &refusal) {
		t.Errorf("an unknown set: %v, want a broken input", err)
	}
	for _, identity := range []map[string]string{{"instruction_set": "baseline"}, {}} {
		if err := checkProcessor(identity, old); err != nil {
			t.Errorf("%v: %v, want nothing", identity, err)
		}
	}
}

// TestRunAsksTheProcessor holds that a run asks it: no machine has both sets.
func TestRunAsksTheProcessor(t *testing.T) {
	other := "armv8"
	if runtime.GOARCH == "arm64" {
		other = "avx2"
	}
	s := newSpec(t, evidence.KindCanary, "exit 3")
	s.LaneIdentity = map[string]string{"instruction_set": other}
	var refusal *reason.Error
	if _, err := Run(t.Context(), s); !errors.As(err, &refusal) || refusal.Code != "CPU_FEATURES_MISSING" {
		t.Errorf("%v, want CPU_FEATURES_MISSING", err)
	}
}

// TestCheckWorker holds that only the machine that the file names may go on, and none without Core ML.
func TestCheckWorker(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.json")
	if err := os.WriteFile(path, []byte(`{"lane": "physical", "os_build": "1A1", "hardware": "none", "chip": "none"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	var refusal *reason.Error
	if err := CheckWorker(path); !errors.As(err, &refusal) || refusal.Code != "LANE_MISMATCH" && refusal.Code != "WORKER_IDENTITY" {
		t.Errorf("a machine that the identity does not name: %v", err)
	}
	if err := CheckWorker(path + ".absent"); err == nil {
		t.Error("an identity that is not there was taken")
	}
}

// TestJetsam holds what counts as macOS's own word about a process.
func TestJetsam(t *testing.T) {
	report := func(pid, why string) []byte {
		return []byte(`{"bug_type":"298","timestamp":"2026-08-01"}` + "\n" + `{"largestProcess":"whisper-cli","processes":[{"pid":1,"name":"launchd"},{"pid":` + pid + `,"name":"whisper-cli","reason":"` + why + `"}]}`)
	}
	for _, c := range []struct {
		report []byte
		want   bool
	}{
		{report("77", "per-process-limit"), true},
		{report("77", "vm-pageshortage"), true},
		{report("78", "per-process-limit"), false},
		{report("77", "idle-exit"), false},
		{report("77", ""), false},
		{[]byte("{}"), false},
		{[]byte("{}\nnot json"), false},
		{nil, false},
	} {
		if got := jetsamKilled(c.report, 77); got != c.want {
			t.Errorf("%s: %v, want %v", c.report, got, c.want)
		}
	}
}

// A model of a hundred languages knows Cantonese, and one of 99 every other.
func TestLanguagesByTheModelsOwnCount(t *testing.T) {
	for _, c := range []struct {
		vocab    int
		language string
		code     string
	}{
		{whispercpp.MultilingualVocabulary, "yue", reason.LanguageUnknown}, {whispercpp.MultilingualVocabulary, "su", ""}, {whispercpp.MultilingualVocabulary, "zh", ""},
		{whispercpp.LastVocabulary, "yue", ""}, {whispercpp.LastVocabulary, "cantonese", ""}, {whispercpp.LastVocabulary, "", reason.LanguageMissing},
		{whispercpp.EnglishVocabulary, "en", ""}, {whispercpp.MultilingualVocabulary - 1, "su", reason.LanguageIgnored},
	} {
		err := (&Spec{Lane: evidence.LaneEmulated, Language: c.language}).checkStaged(&staging{vocab: c.vocab}, nil)
		var found *reason.Error
		if code := c.code; code == "" && err != nil || code != "" && (!errors.As(err, &found) || found.Code != code) {
			t.Errorf("%q with %d tokens: found %v, want %q", c.language, c.vocab, err, c.code)
		}
	}
}
