package real

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// file writes a file of the scene's own.
func (s *Scene) file(name, content string) (string, error) {
	path := filepath.Join(s.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, []byte(content), 0o755)
}

// all joins bends.
func all(bends ...func(*Scene) error) func(*Scene) error {
	return func(s *Scene) error {
		for _, b := range bends {
			if err := b(s); err != nil {
				return err
			}
		}
		return nil
	}
}

// set changes the spec alone.
func set(change func(*Scene)) func(*Scene) error {
	return func(s *Scene) error {
		change(s)
		return nil
	}
}

// build takes another build of whisper-cli and says what it is.
func build(flavour string) func(*Scene) error {
	return func(s *Scene) error {
		s.Flavour = flavour
		return all(program(flavour), compiled(flavour))(s)
	}
}

// program takes another build of whisper-cli and does not say so.
func program(flavour string) func(*Scene) error {
	return func(s *Scene) error {
		s.CLI = s.World.CLI[flavour]
		if s.CLI == "" {
			return fmt.Errorf("no whisper-cli of flavour %s", flavour)
		}
		return nil
	}
}

// compiled says that the compiler was given a flavour's macros.
func compiled(flavour string) func(*Scene) error {
	return func(s *Scene) error {
		list := []string{"NDEBUG"}
		if whispercpp.HasCoreML(flavour) {
			list = append(list, whispercpp.MacroCoreML)
		}
		if whispercpp.AllowsFallback(flavour) {
			list = append(list, whispercpp.MacroAllowFallback)
		}
		return s.defines(list...)
	}
}

// wrap puts a shell script before whisper-cli, which it calls $CLI.
func wrap(script string) func(*Scene) error {
	return func(s *Scene) (err error) {
		s.CLI, err = s.file("wrapper", "#!/bin/sh\nCLI="+quote(s.CLI)+"\nAUDIO="+quote(s.Audio)+"\nMODEL="+quote(s.Model)+"\n"+script+"\n")
		return err
	}
}

// evaluator puts a shell script before the evaluator, which it calls $EVALUATOR.
func evaluator(script string) func(*Scene) error {
	return func(s *Scene) (err error) {
		s.Evaluator, err = s.file("evaluator", "#!/bin/sh\nEVALUATOR="+quote(s.Evaluator)+"\n"+script+"\n")
		return err
	}
}

// secret injects a fault of which neither the evidence nor the log tells.
func secret(fault string) func(*Scene) error {
	return evaluator("COREML_GATE_DOUBLE_FAULT=" + fault + " exec \"$EVALUATOR\" \"$@\"")
}

// fault injects a fault, and the evidence says so.
func fault(name string) func(*Scene) error { return set(func(s *Scene) { s.Fault = name }) }

// arguments adds arguments of whisper-cli's.
func arguments(list ...string) func(*Scene) error {
	return set(func(s *Scene) { s.Arguments = list })
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// encoder copies the encoder under a name and changes the copy.
func encoder(name string, change func(dir string) error) func(*Scene) error {
	return func(s *Scene) error {
		to := filepath.Join(s.Dir, name)
		if err := copyTree(s.Encoder, to); err != nil {
			return err
		}
		s.Encoder = to
		return change(to)
	}
}

func same(string) error { return nil }

// within changes one file of a copied encoder.
func within(name string, change func(data []byte) []byte) func(dir string) error {
	return func(dir string) error {
		path := filepath.Join(dir, filepath.FromSlash(name))
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, change(data), 0o644)
	}
}

// without removes a file of a copied encoder.
func without(name string) func(dir string) error {
	return func(dir string) error { return os.Remove(filepath.Join(dir, filepath.FromSlash(name))) }
}

// copyTree copies the files below a folder, following links, as files that can be written.
func copyTree(from, to string) error {
	from, err := filepath.EvalSymlinks(from)
	if err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	})
}

// model writes a changed copy of the model under a name that ends in .bin.
func model(name string, change func(data []byte) []byte) func(*Scene) error {
	return func(s *Scene) error {
		data, err := os.ReadFile(s.Model)
		if err != nil {
			return err
		}
		s.Model, err = s.file(name, string(change(data)))
		return err
	}
}

// audio writes a recording of the scene's own.
func audio(name, content string) func(*Scene) error {
	return func(s *Scene) (err error) {
		s.Audio, err = s.file(name, content)
		return err
	}
}

// cut keeps a part of a file.
func cut(part float64) func([]byte) []byte {
	return func(data []byte) []byte { return data[:int(float64(len(data))*part)] }
}

// cutAudio keeps the beginning of the recording.
func cutAudio(part float64) func(*Scene) error {
	return func(s *Scene) error {
		data, err := os.ReadFile(s.Audio)
		if err != nil {
			return err
		}
		return audio("cut"+filepath.Ext(s.Audio), string(cut(part)(data)))(s)
	}
}

// wav is a recording of 16 bit at a rate, in channels, with sample(t) at the time t in seconds.
func wav(seconds float64, rate, channels int, sample func(t float64) float64) string {
	frames := int(seconds * float64(rate))
	size := frames * channels * 2
	b := []byte("RIFF")
	b = binary.LittleEndian.AppendUint32(b, uint32(36+size))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate*channels*2))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels*2))
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	for i := range frames {
		v := int16(20000 * sample(float64(i)/float64(rate)))
		for range channels {
			b = binary.LittleEndian.AppendUint16(b, uint16(v))
		}
	}
	return string(b)
}

func silence(float64) float64 { return 0 }

// tone wavers about 440 Hz.
func tone(t float64) float64 { return math.Sin(2*math.Pi*440*t) * math.Sin(2*math.Pi*3*t) }
