package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
)

// Model is what is known about a .bin.
type Model struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256,omitempty"`
	// Header is n_vocab, n_audio_ctx and so on, in upstream's names.
	Header map[string]int `json:"header"`
	// FType is the type of the large matrices.
	FType        string `json:"ftype"`
	Multilingual bool   `json:"multilingual"`
	// Tensors counts tensors by type.
	Tensors map[string]int `json:"tensors"`
	Tokens  int            `json:"tokens"`
}

var modelCodes = map[ggml.Problem]string{
	ggml.NotGGML: reason.ModelNotGGML, ggml.Truncated: reason.ModelTruncated, ggml.Malformed: reason.ModelMalformed,
	ggml.Incomplete: reason.ModelIncomplete, ggml.Undecodable: reason.ModelMalformed,
}

// openModel opens a .bin and finds what is wrong with it. The model is nil where
// it could not be read at all; the error is for disks that fail.
func openModel(path string) (*ggml.Model, []reason.Reason, error) {
	const want = "a ggml-*.bin model"
	m, err := ggml.Open(path)
	var f *ggml.FormatError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, []reason.Reason{{Code: reason.ModelMissing, Where: path, Expected: want, Found: "nothing"}}, nil
	case errors.As(err, &f):
		found := f.Detail
		if f.Looks != "" {
			found = f.Looks
		}
		return nil, []reason.Reason{{Code: modelCodes[f.Problem], Where: path, Expected: want, Found: found}}, nil
	case err != nil:
		return nil, nil, err
	}
	var reasons []reason.Reason
	if m.TestStub() {
		reasons = append(reasons, reason.Reason{Code: reason.ModelTestStub, Where: path, Expected: "tensors",
			Found: fmt.Sprintf("none in %d bytes", m.Size)})
	} else if err := m.Check(); errors.As(err, &f) {
		reasons = append(reasons, reason.Reason{Code: modelCodes[f.Problem], Where: path, Expected: "the tensors that the header calls for", Found: f.Detail})
	}
	return m, reasons, nil
}

// facts describes an open model.
func modelFacts(path string, m *ggml.Model, hash bool) (*Model, error) {
	h := m.Hyperparameters
	x := &Model{
		Path: path, Size: m.Size, FType: h.FType.String(), Multilingual: h.Multilingual(), Tokens: m.TokenCount,
		Header: map[string]int{
			"n_vocab": h.Vocab, "n_audio_ctx": h.AudioCtx, "n_audio_state": h.AudioState, "n_audio_head": h.AudioHead,
			"n_audio_layer": h.AudioLayer, "n_text_ctx": h.TextCtx, "n_text_state": h.TextState, "n_text_head": h.TextHead,
			"n_text_layer": h.TextLayer, "n_mels": h.Mels, "ftype": int(h.FType), "qntvr": h.QuantisationVersion,
		},
		Tensors: map[string]int{},
	}
	for _, t := range m.Tensors {
		x.Tensors[t.Type.String()]++
	}
	if !hash {
		return x, nil
	}
	sum, _, err := tree.HashFile(filepath.Clean(path))
	x.SHA256 = sum
	return x, err
}
