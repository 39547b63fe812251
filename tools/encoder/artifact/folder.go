package artifact

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// IsArtifact reports whether path is (or is called) a Core ML artifact, rather
// than a model or a folder of several things.
func IsArtifact(path string) bool {
	switch filepath.Ext(filepath.Clean(path)) {
	case ".mlmodelc", ".mlpackage", ".mlmodel":
		return true
	}
	for _, n := range []string{"coremldata.bin", "model.mil", "Manifest.json", "model.espresso.net"} {
		if _, err := os.Stat(filepath.Join(path, n)); err == nil {
			return true
		}
	}
	return isArchive(path) && !namedModel(path)
}

// namedModel says that a file is called a model, packed or not: PyTorch's checkpoints are zip files.
func namedModel(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	switch filepath.Ext(name) {
	case ".bin", ".pt", ".pth", ".ckpt", ".safetensors", ".gguf", ".npz":
		return true
	}
	return strings.Contains(name, ".bin.")
}

// isArchive reports whether a file is an archive or packed, by its first bytes.
func isArchive(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	return archiveKind(head[:n]) != ""
}

// maxPairs bounds the models of one folder.
const maxPairs = 1000

// InspectFolder judges every .bin in a folder with the encoder that the runtime
// would open for it, and every encoder that belongs to none. Models come first,
// in the order of their names. The folder's own folders are not searched.
func InspectFolder(dir string, o Options) ([]*Report, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var models, encoders []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if isFinders(path) {
			continue
		}
		switch filepath.Ext(e.Name()) {
		case ".bin":
			models = append(models, path)
		case ".mlmodelc", ".mlpackage", ".mlmodel":
			encoders = append(encoders, path)
		}
	}
	if len(models)+len(encoders) > maxPairs {
		return nil, fmt.Errorf("%s holds more than %d models and encoders", dir, maxPairs)
	}
	if len(models)+len(encoders) == 0 {
		return nil, fmt.Errorf("%s holds no ggml-*.bin, no .mlmodelc and no .mlpackage", dir)
	}
	var reports []*Report
	owned := map[string]string{}
	for _, m := range models {
		r, err := Inspect(m, "", o)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
		want := filepath.Clean(whispercpp.EncoderPath(m))
		owned[want] = m
		owned[filepath.Join(filepath.Dir(want), whispercpp.EncoderPackage(m))] = m
	}
	for _, e := range encoders {
		if owned[e] != "" {
			continue
		}
		r, err := Inspect("", e, o)
		if err != nil {
			return nil, err
		}
		if len(models) > 0 {
			r.Add(reason.EncoderName, e, "an encoder of a model in this folder", "the encoder of none of them, by its name")
			r.Shippable = false
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// Overall is the verdict of several reports: the worst of them.
func Overall(reports []*Report) reason.Verdict {
	verdicts := make([]reason.Verdict, len(reports))
	for i, r := range reports {
		verdicts[i] = r.Verdict
	}
	return verdict.Worst(verdicts...)
}
