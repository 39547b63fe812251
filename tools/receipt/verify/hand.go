package verify

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// hand is what is at hand and must be of one gate: the files of --cli, --model and --encoder, and those of --release.
type hand struct {
	// paths and sums are by subject; ships are the digests of a release's entries by name.
	paths, sums map[string]string
	ships       map[string]string
}

// hand hashes what is at hand. What no digest can stand for is added to the result.
func (r *Result) hand(f Files) (*hand, error) {
	h := &hand{paths: map[string]string{}, sums: map[string]string{}, ships: map[string]string{}}
	for name, path := range f.subjects() {
		if path == "" {
			continue
		}
		sum, err := digest(path)
		if errors.Is(err, tree.ErrUnsafe) {
			sum, err = err.Error(), nil
		}
		if err != nil {
			return nil, err
		}
		h.paths[name], h.sums[name] = path, sum
	}
	if f.Release == "" {
		return h, nil
	}
	sums, unsafe, err := r.shipped(f.Release)
	if err != nil {
		return nil, err
	}
	for path, sum := range sums {
		h.ships[filepath.Base(path)] = sum
	}
	if len(sums) == 0 && unsafe == 0 {
		r.Add(reason.NothingShips, f.Release, "what was gated", "an empty folder")
	}
	return h, nil
}

// empty says that nothing is at hand.
func (h *hand) empty() bool { return len(h.sums) == 0 && len(h.ships) == 0 }

// role is the subject that a file in a release is by its name: the runtime takes it for that, whatever it holds.
func role(name string) string {
	switch {
	case strings.HasSuffix(name, ".bin"):
		return statement.SubjectModel
	case strings.HasSuffix(name, ".mlmodelc"):
		return statement.SubjectEncoder
	}
	return statement.SubjectCLI
}

// differ returns what is at hand and is not the subject that it stands for, by name and digest.
func (h *hand) differ(subjects []statement.Resource) []reason.Reason {
	var out []reason.Reason
	for _, name := range statement.SubjectNames {
		want := statement.DigestOf(subjects, name)
		if sum, ok := h.sums[name]; ok && (want == "" || sum != want) {
			out = append(out, reason.Errorf(reason.FileMismatch, name, want, "%s at %s", sum, h.paths[name]).Reason)
		}
	}
	models, encoders := []string{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(h.ships)) {
		as := role(name)
		switch as {
		case statement.SubjectModel:
			models = append(models, name)
		case statement.SubjectEncoder:
			encoders = append(encoders, name)
		}
		if want := statement.DigestOf(subjects, as); want == "" || h.ships[name] != want {
			expected := "what was gated as " + as + ", " + want
			if as == statement.SubjectCLI { // under whatever name; a file that is no program is none of the gate's either
				expected = "only what was gated: a .bin, its .mlmodelc, and " + as + " under any name, " + want
			}
			out = append(out, reason.Errorf(reason.FileUnlisted, name, expected, "%s", h.ships[name]).Reason)
		}
	}
	for _, model := range models {
		if want := filepath.Base(whispercpp.EncoderPath(model)); len(encoders) > 0 && !slices.Contains(encoders, want) {
			out = append(out, reason.Errorf(reason.FileUnlisted, encoders[0], want+", which the runtime looks for beside "+model, "%s", fmt.Sprint(encoders)).Reason)
		}
	}
	return out
}
