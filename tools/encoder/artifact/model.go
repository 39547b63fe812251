package artifact

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
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
	// Languages that the runtime takes the vocabulary to have.
	Languages int `json:"languages"`
}

var modelCodes = map[ggml.Problem]string{
	ggml.NotGGML: reason.ModelNotGGML, ggml.Truncated: reason.ModelTruncated, ggml.Malformed: reason.ModelMalformed,
	ggml.Incomplete: reason.ModelIncomplete, ggml.Undecodable: reason.ModelMalformed,
}

// openModel opens a .bin and finds what is wrong with it. The model is nil where
// it could not be read at all; the error is for disks that fail.
func openModel(path string, o Options) (*ggml.Model, findings, error) {
	const want = "a ggml-*.bin model"
	var found findings
	m, err := ggml.Open(path)
	var f *ggml.FormatError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		found.fault(reason.ModelMissing, path, want, "nothing")
		return nil, found, nil
	case errors.As(err, &f):
		looks := f.Detail
		if named := ggml.Looks(path); f.Looks != "" || named != "" {
			looks = cmp.Or(named, f.Looks)
		}
		found.fault(modelCodes[f.Problem], path, want, looks)
		return nil, found, nil
	case err != nil:
		return nil, nil, err
	}
	if m.TestStub() {
		found.fault(reason.ModelTestStub, path, "tensors", fmt.Sprintf("none in %d bytes", m.Size))
		return m, found, nil
	}
	if err := m.Check(); errors.As(err, &f) {
		found.fault(modelCodes[f.Problem], path, "the tensors that the header calls for", f.Detail)
	}
	if !o.ContentsOnly {
		found.runnable(path, m)
	}
	return m, found, nil
}

// runnable finds what makes the runtime abort on a model that is well formed, or read other tokens than were trained.
func (f *findings) runnable(path string, m *ggml.Model) {
	h := m.Hyperparameters
	if !whispercpp.KnownVocabulary(h.Vocab) {
		what := fmt.Sprintf("%d, from which the runtime derives %d languages and shifts its special tokens", h.Vocab, whispercpp.Languages(h.Vocab))
		if h.Vocab < whispercpp.EnglishVocabulary {
			what = fmt.Sprintf("%d, fewer than the ids of the runtime's special tokens", h.Vocab)
		}
		f.fault(reason.ModelVocabulary, path, fmt.Sprintf("n_vocab of %d (English), %d (99 languages) or %d (100 languages)", whispercpp.EnglishVocabulary, whispercpp.MultilingualVocabulary, whispercpp.LastVocabulary), what)
	}
	if m.TokenCount > h.Vocab {
		f.fault(reason.ModelVocabulary, path, fmt.Sprintf("at most n_vocab, %d, tokens", h.Vocab), fmt.Sprint(m.TokenCount))
	}
	if t, _ := h.FType.Type(); t == ggml.F32 {
		f.fault(reason.ModelFloat32, path, "float16 or quantised matrices", "float32")
	}
}

// modelFacts describes an open model.
func modelFacts(path string, m *ggml.Model, hash bool) (*Model, error) {
	h := m.Hyperparameters
	x := &Model{
		Path: path, Size: m.Size, FType: h.FType.String(), Multilingual: h.Multilingual(), Tokens: m.TokenCount, Languages: whispercpp.Languages(h.Vocab),
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
