package placement

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/wholefile"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/trace"
)

// Files of a recording's folder.
const (
	AboutFile     = "recording.json"
	ContentsFile  = "toc.xml"
	IntervalsFile = "intervals.xml"
)

// About says what was recorded (schema 1): a recording itself names a process, and no digest.
type About struct {
	Schema        int    `json:"schema"`
	EncoderDigest string `json:"encoder_digest"`
	// Program is the name under which it was launched.
	Program       string `json:"program"`
	ProgramSHA256 string `json:"program_sha256"`
	ModelSHA256   string `json:"model_sha256"`
	AudioSHA256   string `json:"audio_sha256"`
	// Digests of the two exports.
	ContentsSHA256  string `json:"toc_sha256"`
	IntervalsSHA256 string `json:"intervals_sha256"`
}

// Recording is a recording by Instruments, as it was exported.
type Recording struct {
	About     About
	Contents  *trace.Contents
	Intervals []trace.Interval
	// SHA256 of the file that says what was recorded, which names the other two.
	SHA256 string
}

// maxExport bounds a file of a recording.
const maxExport = 64 << 20

// ReadRecording reads a recording's folder. Exports that are not those that it names are refused.
func ReadRecording(dir string) (*Recording, error) {
	data, err := readFile(filepath.Join(dir, AboutFile))
	if err != nil {
		return nil, err
	}
	r := &Recording{SHA256: evidence.SHA256(data)}
	if err := strictjson.Decode(data, &r.About); err != nil {
		return nil, fmt.Errorf("%s: %w", AboutFile, err)
	}
	if err := r.About.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", AboutFile, err)
	}
	contents, err := readNamed(dir, ContentsFile, r.About.ContentsSHA256)
	if err != nil {
		return nil, err
	}
	if r.Contents, err = trace.ParseContents(contents); err != nil {
		return nil, err
	}
	intervals, err := readNamed(dir, IntervalsFile, r.About.IntervalsSHA256)
	if err != nil {
		return nil, err
	}
	if r.Intervals, err = trace.ParseIntervals(intervals); err != nil {
		return nil, err
	}
	return r, nil
}

func (a *About) check() error {
	if a.Schema != 1 || a.Program == "" {
		return fmt.Errorf("schema %d, program %q, expected schema 1 and a program", a.Schema, a.Program)
	}
	for name, sum := range map[string]string{"encoder": a.EncoderDigest, "program": a.ProgramSHA256, "model": a.ModelSHA256, "audio": a.AudioSHA256,
		ContentsFile: a.ContentsSHA256, IntervalsFile: a.IntervalsSHA256} {
		if !digestForm.MatchString(sum) {
			return fmt.Errorf("%s %.80q, expected a SHA-256", name, sum)
		}
	}
	return nil
}

// WriteAbout adds the digests of the two exports that lie in a folder, and writes the file that names them.
func WriteAbout(dir string, a About) error {
	for name, to := range map[string]*string{ContentsFile: &a.ContentsSHA256, IntervalsFile: &a.IntervalsSHA256} {
		data, err := readFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		*to = evidence.SHA256(data)
	}
	if err := a.check(); err != nil {
		return fmt.Errorf("%s: %w", AboutFile, err)
	}
	data, err := strictjson.Canonical(&a)
	if err != nil {
		return err
	}
	return wholefile.Bytes(filepath.Join(dir, AboutFile), data)
}

func readNamed(dir, name, want string) ([]byte, error) {
	data, err := readFile(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	if sum := evidence.SHA256(data); sum != want {
		return nil, fmt.Errorf("%s is %s, but %s names %s: record again", name, sum, AboutFile, want)
	}
	return data, nil
}

func readFile(path string) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxExport {
		return nil, fmt.Errorf("%s: %d bytes, expected at most %d", path, info.Size(), maxExport)
	}
	return os.ReadFile(path)
}
