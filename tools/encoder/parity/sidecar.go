package parity

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/tensorfile"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
)

// Sidecar says how a tensor file came about. It stands beside the file under the
// same name with ".json" added.
type Sidecar struct {
	Schema int `json:"schema"` // 1
	// Role is "reference" or "candidate".
	Role string `json:"role"`
	// Model and Revision name the source model, such as a repository and a commit.
	Model    string `json:"model"`
	Revision string `json:"revision"`
	// Tool that computed the tensor, with its version.
	Tool string `json:"tool"`
	// The terms: "float32", "eval", "cpu", "eager" for a reference.
	DType     string `json:"dtype"`
	Mode      string `json:"mode"`
	Device    string `json:"device"`
	Attention string `json:"attention"`
	// MelSHA256 is the digest of the mel that was fed (see MelDigest).
	MelSHA256 string `json:"mel_sha256"`
	// TensorSHA256 is the SHA-256 of the tensor file's bytes.
	TensorSHA256 string `json:"tensor_sha256"`
	// EncoderDigest is the tree digest of the encoder that a candidate was
	// predicted from.
	EncoderDigest string `json:"encoder_digest,omitempty"`
	// Probe is coremlprobe's report, in sidecars of what it predicted.
	Probe *probe.Report `json:"probe,omitempty"`
}

// String says what made the tensor.
func (s *Sidecar) String() string {
	return fmt.Sprintf("%s at %s, by %s (%s, %s, %s, %s attention)", s.Model, s.Revision, s.Tool, s.DType, s.Mode, s.Device, s.Attention)
}

// MelDigest identifies a mel: the SHA-256 of its values as little-endian
// float32, row-major, mel bands by frames.
func MelDigest(mel []float32) string {
	h := sha256.New()
	buf := make([]byte, 0, 1<<14)
	for _, v := range mel {
		if buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v)); len(buf) == cap(buf) {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil))
}

// ReadSide reads a tensor file and its sidecar for one role. Reasons say what
// makes the side unfit, malformed bytes included, which leave no values; the
// error is for files that cannot be read, and for members that are not there.
func ReadSide(path, member, role string) (Tensor, *Sidecar, []reason.Reason, error) {
	t, err := tensorfile.Read(path, member)
	var system *fs.PathError
	switch {
	case err == nil:
	case errors.Is(err, tensorfile.ErrRequest), errors.As(err, &system):
		return Tensor{}, nil, nil, err
	default:
		code := map[string]string{"reference": reason.ReferenceUnfit, "candidate": reason.CandidateUnfit}[role]
		return Tensor{}, nil, []reason.Reason{{Code: code, Where: path, Expected: "a tensor of floating-point numbers, whole and well-formed", Found: err.Error()}}, nil
	}
	out := Tensor{Shape: t.Shape, Values: t.Values, Name: role + " " + path}
	s, reasons, err := readSidecar(path, role)
	if s != nil {
		out.MelSHA256 = s.MelSHA256
	}
	// Whatever the sidecar says, halves are not what an encoder of float32 puts out. Float64 holds it.
	if t.Type != "float32" && t.Type != "float64" {
		code := map[string]string{"reference": reason.ReferenceTerms, "candidate": reason.ParityType}[role]
		reasons = append(reasons, reason.Reason{Code: code, Where: path, Expected: "float32", Found: t.Type})
	}
	return out, s, reasons, err
}

func readSidecar(path, role string) (*Sidecar, []reason.Reason, error) {
	bad := func(code, expected, found string) []reason.Reason {
		return []reason.Reason{{Code: code, Where: path + ".json", Expected: expected, Found: found}}
	}
	data, err := regular.ReadFile(path + ".json")
	if errors.Is(err, os.ErrNotExist) {
		return nil, bad(reason.ReferenceSidecar, "a sidecar that says how the tensor was made", "none"), nil
	}
	if err != nil {
		return nil, nil, err
	}
	s := &Sidecar{}
	if err := strictjson.Decode(data, s); err != nil {
		return nil, bad(reason.ReferenceSidecar, "a sidecar of schema 1", err.Error()), nil
	}
	digest, err := FileDigest(path)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case s.Schema != 1:
		return nil, bad(reason.ReferenceSidecar, "schema 1", fmt.Sprintf("schema %d", s.Schema)), nil
	case s.Probe != nil && s.Probe.Check() != nil:
		return nil, bad(reason.ReferenceSidecar, "a report of coremlprobe that agrees with itself", s.Probe.Check().Error()), nil
	case s.TensorSHA256 != digest:
		return nil, bad(reason.ReferenceSidecar, "tensor_sha256 "+digest, s.TensorSHA256), nil
	case s.Role != role && (s.Role == "reference" || s.Role == "candidate"):
		return s, bad(reason.SidesSwapped, "a "+role, "a tensor that calls itself "+s.Role), nil
	case s.Role != role:
		return s, bad(reason.ReferenceSidecar, "role "+role, fmt.Sprintf("role %q", s.Role)), nil
	}
	if role != "reference" {
		return s, nil, nil
	}
	var reasons []reason.Reason
	for _, t := range []struct{ name, want, have string }{
		{"dtype", "float32", s.DType}, {"mode", "eval", s.Mode}, {"device", "cpu", s.Device}, {"attention", "eager", s.Attention},
	} {
		if t.have != t.want {
			reasons = append(reasons, bad(reason.ReferenceTerms, t.name+" "+t.want, fmt.Sprintf("%s %q", t.name, t.have))...)
		}
	}
	if strings.TrimSpace(s.Model) == "" || strings.TrimSpace(s.Revision) == "" {
		reasons = append(reasons, bad(reason.ReferenceTerms, "the source model and its revision", fmt.Sprintf("model %q, revision %q", s.Model, s.Revision))...)
	}
	// What an encoder predicted would agree with that encoder, whatever it computes.
	if s.EncoderDigest != "" || s.Probe != nil {
		reasons = append(reasons, bad(reason.ReferenceTerms, "the source model's own output", fmt.Sprintf("one that was predicted from an encoder, encoder_digest %q", s.EncoderDigest))...)
	}
	return s, reasons, nil
}

// FileDigest is the SHA-256 of a file, as sidecars carry it.
func FileDigest(path string) (string, error) {
	f, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
