package real

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

func builds() []Mutant {
	made := func(id, fakes, how, code string, sides []evidence.Kind, bend func(*Scene) error) Mutant {
		return Mutant{ID: "real-build-" + id, Fakes: fakes, Made: how, Code: code, Sides: sides, Bend: bend}
	}
	flavour := func(f string) func(*Scene) error {
		return func(s *Scene) error { s.Flavour = f; return nil }
	}
	return []Mutant{
		made("ggml-as-coreml", "a Core ML build", "the build without Core ML, said to be one with it", reason.NoCoreMLBuild, coreml, program(whispercpp.FlavourGGML)),
		made("ggml", "a Core ML build", "the build without Core ML, which says so", reason.NoCoreMLBuild, coreml, build(whispercpp.FlavourGGML)),
		made("ggml-canary", "a canary", "the build without Core ML runs to the end", reason.CanaryExit, negative, program(whispercpp.FlavourGGML)),
		made("fallback-canary", "a build that refuses", "the build that may fall back runs to the end without its encoder", reason.CanaryExit, coreml, program("coreml_allow_fallback")),
		made("fallback-hidden", "an encoder that ran", "the build that may fall back, and an encoder that does not load", reason.FallbackFailurePresent, coreml, all(program("coreml_allow_fallback"), broken)),
		made("fallback-ggml", "an encoder that ran", "the build that may fall back, and an encoder that does not load", reason.GGMLEncoderPresent, positive, all(program("coreml_allow_fallback"), broken)),
		made("fallback-defines", "a build that refuses", "the build that may fall back, whose compile actions say so", reason.DefinesContradict, coreml, all(program("coreml_allow_fallback"), compiled("coreml_allow_fallback"))),
		made("fallback-one-side", "one build", "the canary is of another build than the Core ML run", reason.RunsDiffer, positive, program("coreml_allow_fallback")),
		made("unpatched-canary", "a build that refuses", "upstream as it is, with a filled heap", reason.CanarySignal, negative, program("coreml_unpatched")),
		made("unpatched-one-side", "one build", "the Core ML run is of upstream as it is", reason.RunsDiffer, positive, program("coreml_unpatched")),
		made("fallback-unpatched-canary", "a build that refuses", "upstream as it is, which may fall back", reason.CanaryExit, negative, program("coreml_allow_fallback_unpatched")),
		made("coreml-contrast", "ggml's encoder", "the Core ML build as contrast, without an encoder", reason.CoreMLLoadFailed, contrast, evaluated("coreml")),
		made("fallback-contrast", "ggml's encoder", "the build that may fall back as contrast", reason.ContrastCoreML, contrast, evaluated("coreml_allow_fallback")),
		made("fallback-contrast-ggml", "ggml's encoder", "the build that may fall back, said to have no Core ML", reason.ContrastCoreML, contrast, program("coreml_allow_fallback")),
		made("no-defines", "a known build", "nobody says what the compiler was given", reason.EvidenceContradicts, positive, set(func(s *Scene) { s.Defines = "" })),
		made("flavour-unknown", "a known build", "a flavour that does not exist", reason.SpecRefused, positive, flavour("metal")),
		made("text", "a program", "whisper-cli is a text", Refused, positive, func(s *Scene) (err error) {
			s.CLI, err = s.file("whisper-cli", "not a program")
			return err
		}),
		made("missing", "a program", "whisper-cli is missing", Refused, positive, set(func(s *Scene) { s.CLI = filepath.Join(s.Dir, "absent") })),
		made("folder", "a program", "whisper-cli is a folder", Refused, positive, set(func(s *Scene) { s.CLI = s.Dir })),
		made("echo", "a run", "a program that prints words and ends with exit 0", reason.LogSilenced, coreml, wrap("echo ' And so my fellow Americans'")),
		made("nothing", "a run", "a program that does nothing", reason.LogSilenced, coreml, wrap("exit 0")),
		made("exit-3", "a refusal", "a program that ends with exit 3", reason.CanaryMarkerAbsent, negative, wrap("exit 3")),
	}
}

// evaluated is a build with Core ML, which wants the evaluator, in the place of one without.
func evaluated(flavour string) func(*Scene) error {
	return all(build(flavour), set(func(s *Scene) { s.Evaluator = s.World.Evaluator }))
}

// broken makes an encoder that does not load, where there is one.
func broken(s *Scene) error {
	if s.Encoder == "" {
		return nil
	}
	return encoder("broken.mlmodelc", without("model.mil"))(s)
}

func encoders() []Mutant {
	encoded := func(id, made, code string, bend func(*Scene) error) Mutant {
		return Mutant{ID: "real-encoder-" + id, Fakes: "the model's encoder", Made: made, Code: code, Sides: positive, Bend: bend}
	}
	damaged := func(id, made, code string, change func(dir string) error) Mutant {
		return encoded(id, made, code, encoder("encoder.mlmodelc", change))
	}
	const weights = "weights/weight.bin"
	heard := func(id, made string, bend func(*Scene) error) Mutant {
		m := encoded(id, made, reason.TranscriptDiffers, bend)
		m.Basis = Greedy
		return m
	}
	return []Mutant{
		damaged("weights-cut", "half of the weight file", reason.CoreMLLoadFailed, within(weights, cut(0.5))),
		damaged("weights-empty", "an empty weight file", reason.CoreMLLoadFailed, within(weights, cut(0))),
		damaged("weights-missing", "no weight file", reason.CoreMLLoadFailed, without(weights)),
		damaged("program-cut", "half of the program", reason.CoreMLLoadFailed, within("model.mil", cut(0.5))),
		damaged("program-empty", "an empty program", reason.CoreMLLoadFailed, within("model.mil", cut(0))),
		damaged("program-missing", "no program", reason.CoreMLLoadFailed, without("model.mil")),
		damaged("program-text", "a program that is a page of the web", reason.CoreMLLoadFailed, within("model.mil", func([]byte) []byte { return []byte("<!DOCTYPE html><title>404</title>\n") })),
		damaged("only-hidden", "a folder with nothing but a file of the Finder's", reason.CoreMLLoadFailed, func(dir string) error {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			return first(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, ".DS_Store"), []byte("Bud1"), 0o644))
		}),
		damaged("nested", "the folder in a folder of its own name", reason.CoreMLLoadFailed, func(dir string) error {
			return first(os.Rename(dir, dir+".tmp"), os.Mkdir(dir, 0o755), os.Rename(dir+".tmp", filepath.Join(dir, filepath.Base(dir))))
		}),
		damaged("empty", "an empty folder", Refused, func(dir string) error { return first(os.RemoveAll(dir), os.Mkdir(dir, 0o755)) }),
		encoded("missing", "no such folder", Refused, set(func(s *Scene) { s.Encoder = filepath.Join(s.Dir, "absent.mlmodelc") })),
		encoded("file", "a file instead of a folder", Refused, func(s *Scene) (err error) {
			s.Encoder, err = s.file("encoder.mlmodelc", "encoder")
			return err
		}),
		encoded("none", "none is named", reason.SpecRefused, set(func(s *Scene) { s.Encoder = "" })),
		encoded("package", "a package that was not compiled", reason.SpecRefused, encoder("encoder.mlpackage", same)),
		encoded("package-case", "a package that was not compiled, in capitals", reason.SpecRefused, encoder("ENCODER.MLPACKAGE", same)),
		{ID: "real-encoder-canary", Fakes: "a canary", Made: "the canary is given an encoder", Code: reason.SpecRefused, Sides: negative, Bend: set(func(s *Scene) { s.Encoder = s.World.Small.Encoder })},
		heard("other-model", "another model's encoder, of fewer channels", set(func(s *Scene) { s.Encoder = s.World.Small.Encoder })),
		heard("other-weights", "every fourth weight has another sign", encoder("encoder.mlmodelc", within(weights, func(data []byte) []byte {
			for i := 0; i+4 <= len(data); i += 16 {
				// What is no likely weight belongs to the file's own structure.
				if v := math.Abs(float64(math.Float32frombits(binary.LittleEndian.Uint32(data[i:])))); v > 1e-4 && v < 100 {
					data[i+3] ^= 0x80
				}
			}
			return data
		}))),
	}
}

// first returns the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func models() []Mutant {
	mod := func(id, made, code string, sides []evidence.Kind, bend func(*Scene) error) Mutant {
		return Mutant{ID: "real-model-" + id, Fakes: "the model", Made: made, Code: code, Sides: sides, Bend: bend}
	}
	is := func(text string) func(*Scene) error {
		return model("model.bin", func([]byte) []byte { return []byte(text) })
	}
	return []Mutant{
		mod("cut", "half of the model", reason.ModelNotGGML, positive, model("model.bin", cut(0.5))),
		mod("header", "its header and no filters, of which upstream crashes", reason.CrashSignal, positive, model("model.bin", func(data []byte) []byte {
			return append(data[:48:48], make([]byte, 8)...)
		})),
		mod("empty", "an empty file", reason.ModelNotGGML, positive, is("")),
		mod("text", "a page of the web", reason.ModelNotGGML, positive, is("<!DOCTYPE html><title>404</title>\n")),
		mod("gguf", "a file of another format", reason.ModelNotGGML, positive, is("GGUF\x03\x00\x00\x00")),
		mod("canary-cut", "the canary's model is half of it", reason.CanaryWrongCause, negative, model("model.bin", cut(0.5))),
		mod("canary-text", "the canary's model is a text", reason.CanaryWrongCause, negative, is("model")),
		mod("contrast-cut", "the contrast run's model is half of it", reason.ModelNotGGML, contrast, model("model.bin", cut(0.5))),
		mod("contrast-other", "the contrast run has another model", reason.RunsDiffer, contrast, set(func(s *Scene) { s.Model = s.World.Speech.Model })),
		mod("canary-other", "the canary has another model", reason.RunsDiffer, negative, set(func(s *Scene) { s.Model = s.World.Speech.Model })),
		mod("one-byte", "the last byte of the canary's model is another", reason.RunsDiffer, negative, model("model.bin", func(data []byte) []byte {
			data[len(data)-1] ^= 1
			return data
		})),
		mod("name", "a name that does not end in .bin", reason.ModelName, positive, set(func(s *Scene) { s.Model += ".gguf" })),
		mod("missing", "no such file", Refused, positive, set(func(s *Scene) { s.Model = filepath.Join(s.Dir, "absent.bin") })),
		mod("folder", "a folder", Refused, positive, func(s *Scene) error {
			s.Model = filepath.Join(s.Dir, "model.bin")
			return os.Mkdir(s.Model, 0o755)
		}),
	}
}

func recordings() []Mutant {
	rec := func(id, made, code string, bend func(*Scene) error) Mutant {
		return Mutant{ID: "real-audio-" + id, Fakes: "the recording", Made: made, Code: code, Sides: positive, Bend: bend}
	}
	heard := func(id, made, code string, bend func(*Scene) error) Mutant {
		m := rec(id, made, code, bend)
		m.Basis, m.Sides = Greedy, kinds
		return m
	}
	return []Mutant{
		rec("text", "a text", reason.NoAudioProcessed, audio("audio.wav", "not a recording")),
		rec("empty", "an empty file", reason.NoAudioProcessed, audio("audio.wav", "")),
		rec("header", "the head of a recording, without its sound", reason.NoAudioProcessed, audio("audio.wav", wav(1, 16000, 1, tone)[:44])),
		rec("short", "50 ms of sound", reason.EncoderNotExecuted, audio("audio.wav", wav(0.05, 16000, 1, tone))),
		rec("other", "the Core ML run hears another recording", reason.RunsDiffer, audio("audio.wav", wav(3, 16000, 1, tone))),
		{ID: "real-audio-contrast-text", Fakes: "a contrast run", Made: "it is given a text", Code: reason.NoAudioProcessed, Sides: contrast, Bend: audio("audio.wav", "not a recording")},
		heard("silent", "silence, against the words of speech", reason.TranscriptReference, audio("audio.wav", wav(3, 16000, 1, silence))),
		heard("half", "half of the recording", reason.TranscriptReference, cutAudio(0.4)),
		rec("missing", "no such file", Refused, set(func(s *Scene) { s.Audio = filepath.Join(s.Dir, "absent.wav") })),
		rec("fifo", "a FIFO", Refused, func(s *Scene) error {
			s.Audio = filepath.Join(s.Dir, "audio.wav")
			return syscall.Mkfifo(s.Audio, 0o644)
		}),
	}
}

func invocations() []Mutant {
	said := func(id, made, code string, bend func(*Scene) error) Mutant {
		return Mutant{ID: "real-invocation-" + id, Fakes: "a run of the contract", Made: made, Code: code, Sides: positive, Bend: bend}
	}
	var list []Mutant
	for _, line := range [][]string{
		{"-np"}, {"--no-prints"}, {"-ng"}, {"--temperature", "0.8"}, {"-l", "auto"}, {"-m", "other.bin"}, {"-f", "other.wav"}, {"--vad"}, {"-ac", "512"}, {"-d", "1000"},
		{"-p", "2"}, {"-tr"}, {"-otxt"}, {"--prompt", "words"}, {"-dtw", "tiny.en"}, {"--help"}, {"--version"}, {"-dl"}, {"--no-such-option"}, {"other.wav"},
	} {
		text := ""
		for _, a := range line {
			text += " " + a
		}
		id := "argument"
		for _, r := range text {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' && id[len(id)-1] != '-' {
				id += string(r)
			} else if r == ' ' && id[len(id)-1] != '-' {
				id += "-"
			}
		}
		list = append(list, said(id, "the argument `"+text[1:]+"`", reason.ForbiddenArgument, arguments(line...)))
	}
	canary := func(id, made, code string, bend func(*Scene) error) Mutant {
		return Mutant{ID: "real-invocation-" + id, Fakes: "a canary", Made: made, Code: code, Sides: negative, Bend: bend}
	}
	return slices.Concat(list, []Mutant{
		said("language-auto", "the language is guessed", reason.SpecRefused, set(func(s *Scene) { s.Language = "auto" })),
		said("language-other", "another language than the model knows", reason.LanguageIgnored, set(func(s *Scene) { s.Language = "de" })),
		said("threads-0", "no thread", reason.SpecRefused, set(func(s *Scene) { s.Threads = 0 })),
		said("threads-2", "another number of threads than the other runs", reason.RunsDiffer, set(func(s *Scene) { s.Threads = 2 })),
		said("deadline-0", "no deadline", reason.SpecRefused, set(func(s *Scene) { s.DeadlineSeconds = 0 })),
		said("deadline-load", "the deadline passes while the encoder loads", reason.DeviceCompileTimeout, all(set(func(s *Scene) { s.DeadlineSeconds = 3 }), evaluator("exec /bin/sleep 600"))),
		said("warm-up", "a warm-up on the emulated lane", reason.SpecRefused, set(func(s *Scene) { s.WarmUp = true })),
		said("lane", "the physical lane on another machine", reason.LaneMismatch, set(func(s *Scene) { s.Lane, s.LaneIdentityFile = evidence.LanePhysical, "" })),
		said("lane-identity", "an identity of the other lane", reason.LaneMismatch, set(func(s *Scene) { s.LaneIdentityFile, s.LaneIdentity = "", map[string]string{"lane": "physical"} })),
		said("no-identity", "an identity of another worker", reason.RunsDiffer, set(func(s *Scene) { s.LaneIdentityFile = "" })),
		said("no-evaluator", "no evaluator", reason.SpecRefused, set(func(s *Scene) { s.Evaluator = "" })),
		canary("heap", "memory that is not filled", reason.EnvironmentForbidden, set(func(s *Scene) { s.HeapFill = 0 })),
		canary("attempt", "it is asked for again", reason.SpecRefused, set(func(s *Scene) { s.Attempt = 2 })),
		canary("token", "it was started before", reason.CanaryRetried, func(s *Scene) (err error) {
			s.AttemptToken, err = s.file("token", "")
			return err
		}),
		canary("canary-warm-up", "it is warmed", reason.SpecRefused, set(func(s *Scene) { s.WarmUp = true })),
		canary("deadline", "it never ends", reason.CanaryTimeout, all(set(func(s *Scene) { s.DeadlineSeconds = 1 }), wrap("exec /bin/sleep 600"))),
	})
}
