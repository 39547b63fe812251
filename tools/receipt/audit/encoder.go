package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/blob"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/text"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/evaluation"
)

// compareEncoders says in plain words how two compiled encoders differ: by file, by decoded program,
// by weights, by numbers. Whatever cannot be read is said as well.
func compareEncoders(original, rebuilt, model string) []string {
	out := compareFiles(original, rebuilt)
	out = append(out, comparePrograms(original, rebuilt)...)
	out = append(out, compareWeights(original, rebuilt)...)
	for _, side := range []struct{ name, path string }{{"original", original}, {"rebuilt", rebuilt}} {
		out = append(out, "parity of the "+side.name+" encoder: "+numbers(model, side.path))
	}
	return out
}

func compareFiles(original, rebuilt string) []string {
	a, err1 := tree.Files(original, tree.FollowLinks)
	b, err2 := tree.Files(rebuilt, tree.FollowLinks)
	if err1 != nil || err2 != nil {
		return []string{fmt.Sprintf("files: cannot be listed (%v, %v)", err1, err2)}
	}
	sums := map[string]string{}
	for _, f := range b {
		sums[f.Path] = f.SHA256
	}
	var out []string
	for _, f := range a {
		switch sum, ok := sums[f.Path]; {
		case !ok:
			out = append(out, "file "+f.Path+": not in the rebuilt encoder")
		case sum != f.SHA256:
			out = append(out, "file "+f.Path+": other bytes")
		}
		delete(sums, f.Path)
	}
	for _, f := range b {
		if _, ok := sums[f.Path]; ok {
			out = append(out, "file "+f.Path+": only in the rebuilt encoder")
		}
	}
	return out
}

func comparePrograms(original, rebuilt string) []string {
	a, err1 := program(original)
	b, err2 := program(rebuilt)
	switch {
	case err1 != nil || err2 != nil:
		return []string{fmt.Sprintf("program: cannot be decoded (%v, %v)", err1, err2)}
	case a == b:
		return []string{"program: equal once decoded"}
	}
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(left), len(right)) {
		if left[i] != right[i] {
			return []string{fmt.Sprintf("program: differs from line %d of its text on", i+1)}
		}
	}
	return []string{fmt.Sprintf("program: %d lines became %d", len(left), len(right))}
}

// program is an encoder's decoded program as text, without what only tells who wrote it.
func program(dir string) (string, error) {
	a, err := bundle.Open(dir)
	if err != nil {
		return "", err
	}
	defer a.Close()
	if a.Program == nil {
		return "", fmt.Errorf("%s holds no ML program", filepath.Base(dir))
	}
	bare := *a.Program
	bare.Attrs = []mil.Attr{}
	var b bytes.Buffer
	if err := text.Write(&b, &bare); err != nil {
		return "", err
	}
	return b.String(), nil
}

func compareWeights(original, rebuilt string) []string {
	a, err1 := weights(original)
	b, err2 := weights(rebuilt)
	if err1 != nil || err2 != nil {
		return []string{fmt.Sprintf("weights: cannot be read (%v, %v)", err1, err2)}
	}
	differ := 0
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			differ++
		}
	}
	if differ == 0 && len(a) == len(b) {
		return []string{fmt.Sprintf("weights: all %d tensors equal", len(a))}
	}
	return []string{fmt.Sprintf("weights: %d of %d tensors differ, %d in the rebuilt encoder", differ, len(a), len(b))}
}

// weights are a digest of each tensor of an encoder's weight file, type included, in order.
func weights(dir string) ([]string, error) {
	f, err := os.Open(filepath.Join(dir, "weights", "weight.bin"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	w, err := blob.Open(f, info.Size())
	if err != nil {
		return nil, err
	}
	var out []string
	err = w.Each(func(i blob.Info) error {
		h := sha256.New()
		if _, err := io.Copy(h, w.Data(i)); err != nil {
			return err
		}
		out = append(out, fmt.Sprintf("%s %x", i.Type, h.Sum(nil)))
		return nil
	})
	return out, err
}

// numbers is an encoder's parity against the model's own tensors.
func numbers(model, encoder string) string {
	r, err := evaluation.Run(context.Background(), evaluation.Request{Model: model, Encoder: encoder, Policy: parity.GatePolicy})
	switch {
	case err != nil:
		return "not measured: " + err.Error()
	case r.Measurement == nil:
		return "not measured: " + string(r.Verdict)
	}
	return fmt.Sprintf("%.2f dB", r.Measurement.SNR)
}
