package evaluation

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mel"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/tensorfile"
)

// readMel reads or makes the mel that both sides are fed.
func (c *checker) readMel(model *ggml.Model) error {
	v, source, err := ReadMel(model, c.Mel, c.MelMember)
	if err != nil {
		return err
	}
	c.Facts[FactMelSource] = source
	c.mel, c.digest = v, parity.MelDigest(v)
	return nil
}

// ReadMel reads a mel for a model's encoder, from a tensor file, a WAV file, or,
// for the path "", of the built-in probe. It tells which it was.
func ReadMel(model *ggml.Model, path, member string) (values []float32, source string, err error) {
	values, source, err = readMel(model, path, member)
	for i, v := range values {
		if frames := model.Hyperparameters.MelFrames(); v-v != 0 {
			return nil, "", fmt.Errorf("the mel of %s is %g in band %d at frame %d: expected finite values", cmp.Or(path, source), v, i/frames, i%frames)
		}
	}
	return values, source, err
}

func readMel(model *ggml.Model, path, member string) (values []float32, source string, err error) {
	h := model.Hyperparameters
	if path == "" || strings.HasSuffix(strings.ToLower(path), ".wav") {
		if member != "" {
			return nil, "", fmt.Errorf("mel member %q: expected a tensor file that has it", member)
		}
		filters, err := model.MelFilters()
		if err != nil {
			return nil, "", err
		}
		s, source, err := spectrogram(path, filters, h.Mels)
		if err != nil {
			return nil, "", err
		}
		return s.Window(0, h.MelFrames()), source, nil
	}
	t, err := tensorfile.Read(path, member)
	if err != nil {
		return nil, "", err
	}
	shape := t.Shape
	for len(shape) > 2 && shape[0] == 1 {
		shape = shape[1:]
	}
	if !slices.Equal(shape, []int{h.Mels, h.MelFrames()}) || t.Type != "float32" {
		return nil, "", fmt.Errorf("%s: expected a float32 mel of [1, %d, %d] for this model, found %s %v", path, h.Mels, h.MelFrames(), t.Type, t.Shape)
	}
	values = make([]float32, len(t.Values))
	for i, v := range t.Values {
		values[i] = float32(v)
	}
	return values, "tensor " + filepath.Base(path), nil
}

// spectrogram is that of a WAV file, or for the path "" of the built-in probe.
func spectrogram(path string, filters []float32, mels int) (*mel.Spectrogram, string, error) {
	if path == "" {
		s, err := mel.ProbeSpectrogram(filters, mels)
		return s, BuiltInMel, err
	}
	f, err := regular.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	samples, err := mel.ReadWAV(f)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	s, err := mel.Compute(samples, filters, mels)
	return s, "audio " + filepath.Base(path), err
}
