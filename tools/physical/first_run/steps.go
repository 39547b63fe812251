package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// session is one run of first_run.
type session struct {
	folder  string
	bazel   string
	mac     bool
	stdout  io.Writer
	summary summary
}

// step is one thing to do. What it does fails with an error; absent says that it has no place here.
type step struct {
	name, about string
	do          func(log io.Writer) error
}

// absent says why a step has no place on this host.
type absent string

func (a absent) Error() string { return string(a) }

func (s *session) say(format string, args ...any) {
	fmt.Fprintf(s.stdout, "first_run: "+format+"\n", args...)
}

func (s *session) steps() []step {
	return []step{
		{"host", "the machine, Xcode, free disk and memory", s.host},
		{"go", "the tools' own tests on this system", s.goTests},
		{"probe", "coremlprobe asks what upstream's bridge asks", s.probeTests},
		{"encoder", "the encoder, compiled for this lane", s.encoder},
		{"hard", "the corpus of hard values", s.hard},
		{"parity", "parity of Core ML's own answer, through coremlprobe", s.parity},
		{"repeat", "loads and predictions again and again, some at once", s.repeat},
		{"gate", "the gate of tiny.en: markers, canary, contrast, contract, parity, transcript, words", s.gate},
		{"placement", "where the encoder ran", s.placement},
		{"timings", "what it cost", s.timings},
		{"sign", "the receipt, signed with a key of this run and verified", s.sign},
		{"report", "the receipt as a page", s.report},
		{"differences", "what came out, compared with what the documents expect", s.differences},
	}
}

// flags are those of every build here: on Linux, upstream's own bridge over the stand-in.
func (s *session) flags() []string {
	if s.mac {
		return nil
	}
	return []string{"--//third_party/whisper_cpp:bridge=upstream"}
}

// call runs Bazel with the flags after its command, its output in the log, and returns what it printed.
func (s *session) call(log io.Writer, command string, args ...string) ([]byte, error) {
	all := append(append([]string{command}, s.flags()...), append([]string{"--noshow_progress"}, args...)...)
	fmt.Fprintf(log, "$ bazel %s\n", strings.Join(all, " "))
	cmd := exec.Command(s.bazel, all...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, log), log
	if err := cmd.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("bazel %s: %w; its output is in the log", command, err)
	}
	return out.Bytes(), nil
}

// coregate runs the project's command and writes what it prints to a file of the folder, whatever its verdict.
func (s *session) coregate(log io.Writer, file string, args ...string) error {
	out, err := s.call(log, "run", append([]string{"--ui_event_filters=-info", "//tools/coregate", "--"}, args...)...)
	if file != "" && len(out) > 0 {
		if werr := os.WriteFile(filepath.Join(s.folder, file), out, 0o644); werr != nil {
			return werr
		}
	}
	return err
}

// file is the one output of a target, as an absolute path.
func (s *session) file(log io.Writer, target, ending string) (string, error) {
	if _, err := s.call(log, "build", target); err != nil {
		return "", err
	}
	out, err := s.call(log, "cquery", "--output=files", target)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if !strings.HasSuffix(line, ending) || line == "" {
			continue
		}
		// A source file of another repository is no output: an action's folder has a link to it only where an action wanted it.
		below := "execution_root"
		if strings.HasPrefix(line, "external/") {
			below = "output_base"
		}
		root, err := s.call(log, "info", below)
		return filepath.Join(strings.TrimSpace(string(root)), line), err
	}
	return "", fmt.Errorf("%s: expected an output that ends in %q, found %q", target, ending, strings.Fields(string(out)))
}

func (s *session) goTests(log io.Writer) error {
	_, err := s.call(log, "test", "--keep_going", "--test_output=errors", "//tools/...", "//third_party/whisper_cpp/double/...")
	return err
}

func (s *session) probeTests(log io.Writer) error {
	_, err := s.call(log, "test", "--keep_going", "--test_output=errors", "//tools/encoder/coremlprobe/...", "//tools/encoder/probe/...")
	return err
}

func (s *session) encoder(log io.Writer) error {
	path, err := s.file(log, "//gate:encoder", ".mlmodelc")
	if err == nil {
		fmt.Fprintf(log, "the encoder is %s\n", path)
	}
	return err
}

// probe is the program that predicts. Elsewhere than on a Mac it is the same source over the stand-in, which is told here
// where its evaluator is.
func (s *session) probe(log io.Writer) (string, error) {
	if s.mac {
		return s.file(log, "//tools/encoder/coremlprobe", "coremlprobe")
	}
	program, err := s.file(log, "//tools/encoder/coremlprobe:coremlprobe_over_stand_in", "coremlprobe_over_stand_in")
	if err != nil {
		return "", err
	}
	evaluator, err := s.file(log, "//tools/actions/gate_evaluator", "gate_evaluator")
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.folder, "coremlprobe")
	return path, os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\nCOREML_GATE_EVALUATOR='%s' exec '%s' \"$@\"\n", evaluator, program), 0o755)
}

func (s *session) hard(log io.Writer) error {
	if !s.mac {
		// The stand-in has no coremlc: the evaluator answers alone.
		return s.coregate(log, "hard.json", "mil", "hard", "--json")
	}
	probe, err := s.probe(log)
	if err != nil {
		return err
	}
	once := s.coregate(log, "hard.json", "mil", "hard", "--probe", probe, "--json")
	return errors.Join(once, s.coregate(log, "hard_persistent.json", "mil", "hard", "--probe", probe, "--persistent", "--json"))
}

// asked is the probe, and the model and encoder that it is asked about.
func (s *session) asked(log io.Writer) (probe, model, encoder string, err error) {
	if probe, err = s.probe(log); err != nil {
		return "", "", "", err
	}
	if model, err = s.file(log, "@whisper_models//:tiny.en", ".bin"); err != nil {
		return "", "", "", err
	}
	encoder, err = s.file(log, "//gate:encoder", ".mlmodelc")
	return probe, model, encoder, err
}

func (s *session) parity(log io.Writer) error {
	probe, model, encoder, err := s.asked(log)
	if err != nil {
		return err
	}
	output := filepath.Join(s.folder, "predicted.npy")
	perr := s.coregate(log, "predict.txt", "predict", "--model", model, "--encoder", encoder, "--probe", probe, "--out", output)
	return errors.Join(perr, s.coregate(log, "parity_probe.json", "parity", "--model", model, "--encoder", encoder, "--probe", probe, "--json"))
}

func (s *session) repeat(log io.Writer) error {
	probe, model, encoder, err := s.asked(log)
	if err != nil {
		return err
	}
	rerr := s.coregate(log, "repeat.json", "repeat", "--model", model, "--encoder", encoder, "--probe", probe, "--json")
	lerr := s.coregate(log, "latency.json", "repeat", "--model", model, "--encoder", encoder, "--probe", probe, "--loads", "1", "--predictions", "30", "--overlap", "0", "--time", "--json")
	if excluded(lerr) {
		lerr = nil
	}
	return errors.Join(rerr, lerr)
}

// excluded says that a measurement was made and is none: a hosted machine is a virtual one, and may be warm.
func excluded(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 3
}

// gate runs the tests, and takes what the runs left whether they passed or not.
func (s *session) gate(log io.Writer) error {
	_, terr := s.building(log, "test", "--keep_going", "--test_output=errors", "--test_tag_filters=-manual", "//gate:all")
	found, berr := s.building(log, "build", "--keep_going", "--output_groups=+observations,+evidence", "//gate:receipt", "//gate:coreml_run", "//gate:canary_run", "//gate:contrast_run", "//gate:words")
	if berr == nil && found == 0 {
		berr = errors.New("expected receipts, evidence and logs of //gate, found none")
	}
	// The words that the transcript is judged by, so that the folder has all that its verification reads.
	rerr := copyTo(filepath.FromSlash("testdata/speech/jfk.txt"), filepath.Join(s.folder, reference))
	return errors.Join(terr, berr, rerr)
}

// reference is where the folder has the words that were said.
const reference = "gate/reference.txt"

func copyTo(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// exists says that a target of the gate is absent, if it is: the project may not have it yet.
func (s *session) exists(target string) error {
	if out, err := exec.Command(s.bazel, "query", "--noshow_progress", target).Output(); err != nil || len(bytes.TrimSpace(out)) == 0 {
		return absent("there is no " + target)
	}
	return nil
}

func (s *session) placement(log io.Writer) error {
	if err := s.exists("//gate:placement"); err != nil {
		return err
	}
	_, err := s.building(log, "build", "//gate:placement")
	return err
}

// timings measures, and keeps a submission whose runs the filter excluded too: a hosted machine is a virtual one.
func (s *session) timings(log io.Writer) error {
	if err := s.exists("//gate:bench"); err != nil {
		return err
	}
	submission := filepath.Join(s.folder, "timings.json")
	_, err := s.call(log, "run", "//gate:bench", "--", "--out="+submission)
	if err != nil && !excluded(err) {
		return err
	}
	return s.coregate(log, "", "bench", "report", submission, "--out", filepath.Join(s.folder, "timings.html"))
}

// sign makes a key whose private half nobody keeps: it binds the receipt to this run, and to no person.
func (s *session) sign(log io.Writer) error {
	receipt := filepath.Join(s.folder, "gate", "receipt.json")
	if _, err := os.Stat(receipt); err != nil {
		return errors.New("the gate left no receipt to sign")
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	privateDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	publicDER, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return err
	}
	key := filepath.Join(s.folder, "private.pem")
	defer os.Remove(key)
	if err := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: privateDER}), 0o600); err != nil {
		return err
	}
	publicKey := filepath.Join(s.folder, "public.pem")
	if err := os.WriteFile(publicKey, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: publicDER}), 0o644); err != nil {
		return err
	}
	if err := s.coregate(log, "receipt.signed.json", "sign", "--key", key, receipt); err != nil {
		return err
	}
	return s.coregate(log, "verify.json", append(s.verification(s.folder), "--json")...)
}

// verification are the arguments of coregate that verify the receipt and judge the runs again by all that the folder has. from is the
// folder, or empty for paths below it.
func (s *session) verification(from string) []string {
	args := []string{"verify", "--key", filepath.Join(from, "public.pem"), "--lane", s.summary.Lane}
	if !s.mac {
		args = append(args, "--allow-unsupported-pin")
	}
	for _, of := range []struct{ flag, path string }{
		{"--evidence", "gate/coreml_run.evidence.json"},
		{"--evidence", "gate/canary_run.evidence.json"},
		{"--evidence", "gate/contrast_run.evidence.json"},
		{"--words", "gate/words.evidence"},
		{"--reference", reference},
	} {
		if _, err := os.Stat(filepath.Join(s.folder, of.path)); err == nil {
			args = append(args, of.flag, filepath.Join(from, of.path))
		}
	}
	return append(args, filepath.Join(from, "receipt.signed.json"))
}

func (s *session) report(log io.Writer) error {
	args := []string{"report", filepath.Join(s.folder, "gate", "receipt.json"), "--out", filepath.Join(s.folder, "receipt.html")}
	for _, kind := range []string{"coreml", "canary", "contrast"} {
		for _, of := range []string{"evidence", "observations"} {
			file := filepath.Join(s.folder, "gate", kind+"_run."+of+".json")
			if _, err := os.Stat(file); err == nil {
				args = append(args, "--file", file)
			}
		}
	}
	return s.coregate(log, "", args...)
}
