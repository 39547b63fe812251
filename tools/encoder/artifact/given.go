package artifact

import (
	"os"
	"path/filepath"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
)

// mayBeEncoder says that a path is of nothing, of a folder, or of an .mlmodel: what another name or place can help.
func mayBeEncoder(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.IsDir() || filepath.Ext(filepath.Clean(path)) == ".mlmodel" && !isArchive(path)
}

// exchanged says that an encoder was given for the model and a model for its encoder.
func exchanged(model, encoder string) bool {
	if model == "" || encoder == "" || !isEncoder(model) {
		return false
	}
	m, err := ggml.Open(encoder)
	if err != nil {
		return false
	}
	_ = m.Close() // it was read only
	return true
}

// isEncoder says that a path is of a folder, or of a file inside an encoder, so that no name makes it a model.
func isEncoder(path string) bool {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return true
	}
	for dir := filepath.Clean(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		switch filepath.Ext(dir) {
		case ".mlmodelc", ".mlpackage", ".mlmodel":
			return true
		}
	}
	return false
}
