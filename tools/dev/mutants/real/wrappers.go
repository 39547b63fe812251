package real

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// wrappers put a script between the runner and the real whisper-cli.
func wrappers() []Mutant {
	wrapped := func(id, made, code string, sides []evidence.Kind, script string) Mutant {
		return Mutant{ID: "real-wrapper-" + id, Fakes: "a run of whisper-cli", Made: made, Code: code, Sides: sides, Bend: wrap(script)}
	}
	const run = `"$CLI" "$@"`
	return []Mutant{
		wrapped("silent", "the log goes nowhere", reason.LogSilenced, positive, run+" 2>/dev/null"),
		wrapped("no-prints", "an argument that silences the log is added", reason.LogSilenced, positive, run+" -np"),
		wrapped("no-load-line", "the load line is left out", reason.LoadMarkerAbsent, positive, run+" 2>&1 >$TMPDIR/out | grep -v 'Core ML model loaded' >&2; cat $TMPDIR/out"),
		wrapped("no-timings", "the timings are left out", reason.LogTruncated, positive, run+" 2>&1 >$TMPDIR/out | grep -v whisper_print_timings >&2; cat $TMPDIR/out"),
		wrapped("head", "the log is cut after 20 lines", reason.NoAudioProcessed, positive, run+" 2>&1 >$TMPDIR/out | head -n 20 >&2; cat $TMPDIR/out"),
		wrapped("streams", "both streams are stdout", reason.LogSwapped, positive, run+" 2>&1"),
		wrapped("twice", "the program runs twice", reason.SecondLoadMarker, positive, run+" >/dev/null; "+run),
		wrapped("prefixed", "the load line has a prefix of its own", reason.LoadMarkerAbsent, positive, run+" 2>&1 >$TMPDIR/out | sed 's/.*Core ML model loaded/x &/' >&2; cat $TMPDIR/out"),
		wrapped("coreml-0", "system_info says COREML = 0", reason.NoCoreMLBuild, positive, run+" 2>&1 >$TMPDIR/out | sed 's/COREML = 1/COREML = 0/' >&2; cat $TMPDIR/out"),
		{ID: "real-wrapper-pretends", Fakes: "a Core ML build", Made: "the build without Core ML, whose log is written over", Code: reason.GGMLEncoderPresent, Sides: positive, Bend: all(program(whispercpp.FlavourGGML), wrap(run+` 2>&1 >$TMPDIR/out |
sed -e 's/COREML = 0/COREML = 1/' -e '0,/whisper_init_state/s//whisper_init_state: Core ML model loaded\n&/' >&2; cat $TMPDIR/out`))},
		wrapped("other-threads", "another number of threads is added", reason.EvidenceContradicts, positive, run+" -t 2"),
		wrapped("timestamps", "timestamps are printed", reason.EvidenceContradicts, positive, `shift 8; "$CLI" -m ggml-model.bin -f audio.mp3 -l en -t 1`),
		wrapped("other-audio", "another recording is added", reason.StaleLog, positive, run+` -f "$AUDIO"`),
		wrapped("other-model", "the model from elsewhere", reason.StaleLog, positive, `shift 2; "$CLI" -m "$MODEL" "$@"`),
		wrapped("no-evaluator", "the evaluator is hidden", reason.CoreMLLoadFailed, positive, "unset COREML_GATE_EVALUATOR; "+run),
		wrapped("fault", "a fault is set in the environment", reason.EvidenceContradicts, positive, "COREML_GATE_DOUBLE_FAULT=zeros "+run),
		wrapped("exit-0", "a refusal ends with exit 0", reason.CanaryExit, negative, run+"; exit 0"),
		wrapped("exit-1", "a good run ends with exit 1", reason.ExitCode, positive, run+"; exit 1"),
		wrapped("exit-3", "a good run ends with exit 3", reason.ContextFailed, positive, run+"; exit 3"),
		wrapped("killed", "the program is killed at its end", reason.CrashSignal, positive, run+"; kill -9 $$"),
		wrapped("segv", "a refusal that crashes after it", reason.CanarySignal, negative, run+"; kill -11 $$"),
		wrapped("abort", "a good run that aborts after it", reason.CrashSignal, positive, run+"; kill -6 $$"),
		wrapped("term", "a good run that something stops", reason.RunStopped, positive, run+"; kill -15 $$"),
		wrapped("crash-line", "the log names a crash, and the run ends well", reason.CrashContradictsExit, positive, run+"; echo 'Segmentation fault (core dumped)' >&2"),
		wrapped("plants-encoder", "the canary finds an encoder that it makes itself", reason.CanaryEncoderPresent, negative, "mkdir ggml-model-encoder.mlmodelc; "+run),
		wrapped("removes-encoder", "the encoder is gone after the run", Refused, positive, run+"; chmod -R u+w ggml-model-encoder.mlmodelc; rm -rf ggml-model-encoder.mlmodelc"),
		wrapped("writes-model", "the model is another after the run", Refused, positive, run+"; chmod u+w ggml-model.bin; echo >>ggml-model.bin"),
		wrapped("adds-file", "a file appears beside the model", Refused, positive, run+"; echo words >transcript.txt"),
		wrapped("replaces-audio", "the recording is replaced by its own copy", Refused, positive, run+"; cp audio.mp3 $TMPDIR/a; mv -f $TMPDIR/a audio.mp3"),
	}
}

// Variant is an unusual run that a gate has to accept.
type Variant struct {
	ID, Is string
	Basis  Basis
	Sides  []evidence.Kind
	Bend   func(*Scene) error
	// Around changes the process that runs the runner, and returns what changes it back.
	Around func() (back func(), err error)
}

// Variants lists them.
func Variants() []Variant {
	inputs := func(id, is, name string) Variant {
		return Variant{ID: "real-" + id, Is: is, Sides: kinds, Bend: func(s *Scene) error { return s.moveTo(name) }}
	}
	caller := func(id, is string, env ...string) Variant {
		return Variant{ID: "real-" + id, Is: is, Sides: kinds, Bend: set(func(*Scene) {}), Around: func() (func(), error) { return environ(env...) }}
	}
	return []Variant{
		{ID: "real-good", Is: "a gate over real speech, whose words are judged", Basis: Beams},
		{ID: "real-private", Is: "a recording that is not public", Basis: Beams, Sides: kinds, Bend: set(func(s *Scene) { s.Public = false })},
		{ID: "real-good-small", Is: "a gate over a made model"},
		inputs("names-spaces", "names and folders with spaces", "a folder of models/my model (final)"),
		inputs("names-unicode", "names and folders with letters of other scripts, composed and decomposed", "модели/Größe e\u0301té 模型 👂"),
		inputs("names-quotes", "names with quotation marks and shell characters", `it's "quoted" $HOME; * & | <x>`),
		inputs("names-dots", "names with many dots", "v1.2.3/model.v2.tiny.en"),
		inputs("names-dash", "names that begin like an option", "-m/--model"),
		inputs("names-long", "a path of a thousand bytes", strings.Repeat(strings.Repeat("long-", 20)+"/", 9)+"name"),
		caller("caller-locale", "a caller with another locale and time zone", "LANG=de_DE.UTF-8", "LC_ALL=tr_TR.UTF-8", "LC_NUMERIC=de_DE.UTF-8", "TZ=Pacific/Kiritimati"),
		caller("caller-home", "a caller with no home and another user's name", "HOME=/nonexistent", "USER=nobody", "LOGNAME=nobody"),
		caller("caller-variables", "a caller with variables that would change a run", "WHISPER_ARG_DEVICE=7", "GGML_BACKEND_PATH=/nonexistent", "COREML_GATE_DOUBLE_FAULT=zeros", "MALLOC_PERTURB_=85", "OMP_NUM_THREADS=9"),
		{ID: "real-caller-tmp", Is: "a temporary directory with spaces and accents", Sides: kinds, Bend: set(func(*Scene) {}), Around: temporary},
		{ID: "real-umask-077", Is: "a umask of 077", Sides: kinds, Bend: set(func(*Scene) {}), Around: umask(0o077)},
		{ID: "real-umask-000", Is: "a umask of 0", Sides: kinds, Bend: set(func(*Scene) {}), Around: umask(0)},
		{ID: "real-links", Is: "inputs that are symbolic links", Sides: kinds, Bend: (*Scene).link},
		{ID: "real-read-only", Is: "an encoder that nobody may write", Sides: positive, Bend: encoder("encoder.mlmodelc", func(dir string) error { return os.Chmod(dir, 0o555) })},
		{ID: "real-encoder-name", Is: "an encoder whose folder has another name", Sides: positive, Bend: encoder("encoder without an ending", same)},
		{ID: "real-encoder-slash", Is: "an encoder named with a slash at the end", Sides: positive, Bend: set(func(s *Scene) { s.Encoder += "/" })},
		{ID: "real-wav", Is: "a recording as WAV", Sides: kinds, Bend: audio("audio.wav", wav(3, 16000, 1, tone))},
		{ID: "real-wav-stereo", Is: "a recording as WAV in stereo at 44.1 kHz", Sides: kinds, Bend: audio("AUDIO.WAV", wav(3, 44100, 2, tone))},
		{ID: "real-no-extension", Is: "a recording without an ending", Sides: kinds, Bend: audio("recording", wav(3, 16000, 1, tone))},
		{ID: "real-attempt", Is: "a positive run that was asked for a second time", Sides: positive, Bend: set(func(s *Scene) { s.Attempt = 2 })},
		{ID: "real-ledger", Is: "a canary's first start, in a ledger", Sides: negative, Bend: set(func(s *Scene) { s.AttemptLedger = s.Dir })},
		{ID: "real-deadline", Is: "another deadline", Sides: positive, Bend: set(func(s *Scene) { s.DeadlineSeconds = 86400 })},
		{ID: "real-threads", Is: "two threads in every run", Sides: kinds, Bend: set(func(s *Scene) { s.Threads = 2 })},
		{ID: "real-arguments", Is: "arguments that change nothing", Sides: kinds, Bend: arguments("-nf", "-pp")},
	}
}

// moveTo gives copies of model, encoder and recording names that begin so.
func (s *Scene) moveTo(name string) error {
	path := filepath.Join(s.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	move := func(from *string, ending string) error {
		data, err := os.ReadFile(*from)
		if err != nil {
			return err
		}
		*from = path + ending
		return os.WriteFile(*from, data, 0o644)
	}
	if err := first(move(&s.Model, ".bin"), move(&s.Audio, filepath.Ext(s.Audio))); err != nil || s.Encoder == "" {
		return err
	}
	from := s.Encoder
	s.Encoder = path + "-encoder.mlmodelc"
	return copyTree(from, s.Encoder)
}

// link names every input by a symbolic link.
func (s *Scene) link() error {
	for name, path := range map[string]*string{"model.bin": &s.Model, "encoder.mlmodelc": &s.Encoder, "audio" + filepath.Ext(s.Audio): &s.Audio, "cli": &s.CLI, "evaluator": &s.Evaluator} {
		if *path == "" {
			continue
		}
		to := filepath.Join(s.Dir, "links", name)
		if err := first(os.MkdirAll(filepath.Dir(to), 0o755), os.Symlink(*path, to)); err != nil {
			return err
		}
		*path = to
	}
	return nil
}

// environ sets variables of this process.
func environ(list ...string) (func(), error) {
	var back []func()
	for _, v := range list {
		name, value, _ := strings.Cut(v, "=")
		old, had := os.LookupEnv(name)
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
		back = append(back, func() {
			if had {
				_ = os.Setenv(name, old)
			} else {
				_ = os.Unsetenv(name)
			}
		})
	}
	return func() {
		for _, b := range back {
			b()
		}
	}, nil
}

// temporary makes a folder with an unusual name the temporary one.
func temporary() (func(), error) {
	dir, err := os.MkdirTemp("", "with spaces é 目录 *")
	if err != nil {
		return nil, err
	}
	back, err := environ("TMPDIR=" + dir)
	return func() {
		back()
		_ = os.RemoveAll(dir)
	}, err
}

func umask(mask int) func() (func(), error) {
	return func() (func(), error) {
		old := syscall.Umask(mask)
		return func() { syscall.Umask(old) }, nil
	}
}
