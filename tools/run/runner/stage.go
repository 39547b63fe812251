package runner

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// Staged names: neutral, so that neither log nor evidence says what the files were called.
const (
	stagedCLI       = "whisper-cli"
	stagedModel     = "ggml-model.bin"
	stagedEncoder   = "ggml-model-encoder.mlmodelc" // what upstream derives from stagedModel
	stagedAudio     = "audio"
	stagedEvaluator = evidence.StagedEvaluator
)

// emulations are what may stand for Apple's Core ML in a binary of the emulated lane, and announce themselves.
var emulations = []string{evidence.CoreMLDouble, evidence.CoreMLStandIn}

// staging is one fresh directory with copies of a run's inputs.
type staging struct {
	dir       string
	audio     string
	cli       string
	model     string
	encoder   *string
	audioSum  string
	evaluator *string
	// staged are the files as they were when they were hashed, by path below dir; root is dir itself.
	staged map[string]stagedFile
	root   fileIdentity
	// emulatedBy are those of emulations that the program holds.
	emulatedBy []string
	// vocab is n_vocab of the model's header, 0 for a file that has none.
	vocab int
}

// stage copies and hashes what the spec names.
func stage(s *Spec, dir string) (*staging, error) {
	st := &staging{dir: dir, audio: stagedAudio + audioExtension(s.Audio), staged: map[string]stagedFile{}}
	var err error
	if st.cli, err = st.copyFile(s.CLI, stagedCLI, 0o555); err != nil {
		return nil, err
	}
	if st.model, err = st.copyFile(s.Model, stagedModel, 0o444); err != nil {
		return nil, err
	}
	if st.audioSum, err = st.copyFile(s.Audio, st.audio, 0o444); err != nil {
		return nil, err
	}
	if s.Evaluator != "" {
		sum, err := st.copyFile(s.Evaluator, stagedEvaluator, 0o555)
		if err != nil {
			return nil, err
		}
		st.evaluator = &sum
	}
	if s.Encoder != "" {
		if err := st.copyTree(s.Encoder, stagedEncoder); err != nil {
			return nil, err
		}
		if err := compiled(st.path(stagedEncoder)); err != nil {
			return nil, err
		}
		sum, err := tree.Digest(st.path(stagedEncoder))
		if err != nil {
			return nil, fmt.Errorf("encoder: %w", err)
		}
		st.encoder = &sum
	}
	for _, name := range []string{"home", "tmp"} {
		if err := os.Mkdir(st.path(name), 0o700); err != nil {
			return nil, err
		}
	}
	if st.vocab, err = vocabulary(st.path(stagedModel)); err != nil {
		return nil, err
	}
	cli, err := os.ReadFile(st.path(stagedCLI))
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	st.root = identityOf(info)
	for _, name := range emulations {
		if bytes.Contains(cli, []byte(name+": version")) {
			st.emulatedBy = append(st.emulatedBy, name)
		}
	}
	return st, nil
}

// audioExtensions are what recordings are called; any other ending may be a word of the file's own name.
var audioExtensions = []string{".wav", ".mp3", ".flac", ".ogg", ".oga", ".opus", ".m4a", ".aac", ".mp4", ".webm", ".wma", ".aiff", ".aif", ".caf"}

// audioExtension keeps a known extension for the reader of the log; the program decodes by content.
func audioExtension(path string) string {
	if ext := strings.ToLower(filepath.Ext(path)); slices.Contains(audioExtensions, ext) {
		return ext
	}
	return ""
}

func (st *staging) path(name string) string { return filepath.Join(st.dir, name) }

// copyFile makes a real copy, never a link: the runtime looks for the encoder beside the model as
// the path is spelled, and a link would resolve elsewhere.
func (st *staging) copyFile(from, name string, mode os.FileMode) (string, error) {
	in, err := openPlain(from)
	if err != nil {
		return "", fmt.Errorf("stage %s: %w", name, err)
	}
	defer in.Close()
	if mode&0o111 != 0 {
		// A program that another run starts meanwhile must not inherit the file while it is open for writing: until that
		// program lets go of it, the kernel refuses to execute it (ETXTBSY).
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
	}
	out, err := os.OpenFile(st.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode|0o200)
	if err != nil {
		return "", fmt.Errorf("stage %s: %w", name, err)
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, h), in)
	if err == nil {
		err = out.Chmod(mode)
	}
	var info os.FileInfo
	if err == nil {
		info, err = out.Stat()
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "", fmt.Errorf("stage %s: %w", name, err)
	}
	sum := hex.EncodeToString(h.Sum(nil))
	st.staged[name] = stagedFile{sum, identityOf(info)}
	return sum, nil
}

func (st *staging) copyTree(from, name string) error {
	files, err := tree.Files(from, tree.FollowLinks)
	if err != nil {
		return fmt.Errorf("encoder: %w", err)
	}
	if len(files) == 0 {
		return fmt.Errorf("encoder: %s has no files: expected a compiled .mlmodelc directory", filepath.Base(from))
	}
	for _, f := range files {
		rel := filepath.FromSlash(f.Path)
		if err := os.MkdirAll(filepath.Dir(st.path(filepath.Join(name, rel))), 0o755); err != nil {
			return err
		}
		sum, err := st.copyFile(filepath.Join(from, rel), filepath.Join(name, rel), 0o444)
		if err != nil {
			return err
		}
		if sum != f.SHA256 {
			return fmt.Errorf("encoder: %s changed while it was staged: run again on files that nobody writes", f.Path)
		}
	}
	return nil
}

// ggmlMagic is the first word of a ggml model file.
const ggmlMagic = 0x67676d6c

// vocabulary reads n_vocab from a ggml header. A file that is not a ggml model is left to the run:
// refusing it is the program's own business, and what it prints then is evidence.
func vocabulary(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var head struct{ Magic, Vocab uint32 }
	if err := binary.Read(f, binary.LittleEndian, &head); err != nil || head.Magic != ggmlMagic {
		return 0, nil
	}
	return int(head.Vocab), nil
}

// multilingual is upstream's own test on the model's header.
func (st *staging) multilingual() bool { return whispercpp.Multilingual(st.vocab) }

// compiled refuses a package in a folder that is called a compiled model: the emulated lane's evaluator reads both, and
// Core ML loads compiled models alone.
func compiled(encoder string) error {
	if exists(filepath.Join(encoder, "Manifest.json")) && !exists(filepath.Join(encoder, "coremldata.bin")) {
		return reason.Errorf(reason.SpecRefused, "encoder", compiledEncoder, "a package: Manifest.json, and no coremldata.bin")
	}
	return nil
}
