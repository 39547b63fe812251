package artifact

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
)

// weightNames are the files inside the artifact that the program takes its
// weights from.
func (e *encoder) weightNames() map[string]bool {
	names := map[string]bool{}
	if e.art.Program == nil {
		return names
	}
	e.art.Program.EachValue(func(v *mil.Value) {
		if v.Blob != nil {
			if n, err := e.art.Locate(v.Blob.Path); err == nil {
				names[n] = true
			}
		}
	})
	return names
}

// weightFaults follows every reference of the program into the weight files,
// reading their metadata only. One finding a file is enough.
func (e *encoder) weightFaults() {
	if e.art.Program == nil {
		return
	}
	reported := map[string]bool{}
	e.art.Program.EachValue(func(v *mil.Value) {
		if v.Blob == nil || reported[v.Blob.Path] {
			return
		}
		before := len(e.findings)
		e.weightFault(v)
		reported[v.Blob.Path] = len(e.findings) > before
	})
}

func (e *encoder) weightFault(v *mil.Value) {
	name, err := e.art.Locate(v.Blob.Path)
	if err != nil {
		if e.lost = true; !slices.ContainsFunc(e.findings, func(f finding) bool { return f.Code == reason.ArtifactPathEscape && f.Where == e.art.ModelFile }) {
			e.stop(unread|unpaired, reason.ArtifactPathEscape, e.art.ModelFile, "a weight file inside the artifact", err.Error())
		}
		return
	}
	if e.inventory != nil {
		n, ok := e.inventory.find(name)
		switch {
		case !ok && e.art.Form == bundle.PackageForm && !e.inventory.Has(path.Dir(name)):
			e.stop(unread|unpaired, reason.ConversionInterrupted, path.Dir(name), "the folder of the weights that the program refers to", "nothing")
			return
		case !ok && e.named(name):
			e.lost = true
			e.affect(name, unread|unpaired) // what is in its place was named
			return
		case !ok:
			e.lost = true
			e.stop(unread|unpaired, reason.ArtifactIncomplete, name, "the weight file that the program refers to", e.likeIt(name))
			return
		case n.Dir:
			e.stop(unread|unpaired, reason.ArtifactIncomplete, name, "the weights", "a folder")
			return
		case n.Pointer:
			e.stop(unread|unpaired, reason.LFSPointer, name, "the weights", "a git-lfs pointer: run git lfs pull")
			return
		case n.Size == 0:
			e.stop(unread|unpaired, reason.ArtifactIncomplete, name, "the weights", "an empty file")
			return
		}
	}
	d, s, err := e.art.Section(*v.Blob)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.stop(unread|unpaired, reason.ArtifactIncomplete, name, "the weight file that the program refers to", "nothing")
		return
	case err != nil:
		e.stop(unread|unpaired, reason.ArtifactMalformed, name, fmt.Sprintf("a blob at offset %d", v.Blob.Offset), e.looks(name, err))
		return
	}
	want, err := blobSize(v)
	if err != nil {
		e.stop(unread|unpaired, reason.ArtifactMalformed, e.art.ModelFile, "constants of fixed size", err.Error())
		return
	}
	if d != v.Type.DType && (v.Type.DType != mil.Bool || d != mil.Uint8) || want != s.Size() {
		e.stop(unread|unpaired, reason.WeightsMismatch, name, fmt.Sprintf("%s at offset %d", v.Type, v.Blob.Offset),
			fmt.Sprintf("%d bytes of %s", s.Size(), d))
	}
}

// named says that a finding is about a file already.
func (e *encoder) named(name string) bool {
	return slices.ContainsFunc(e.findings, func(f finding) bool { return f.Where == name })
}

// affect adds an effect to the findings about a file.
func (e *encoder) affect(name string, more effect) {
	for i := range e.findings {
		if e.findings[i].Where == name {
			e.findings[i].effect |= more
		}
	}
}

// likeIt names a file that some disks take for the one that is missing, or "nothing".
func (e *encoder) likeIt(name string) string {
	for _, n := range e.inventory.Entries {
		if !n.Dir && Fold(n.Path) == Fold(name) {
			return n.Path + unlike(name, n.Path)
		}
	}
	return "nothing"
}

// looks says what a file is that could not be read as what it should be.
func (e *encoder) looks(name string, err error) string {
	return cmp.Or(ggml.Looks(filepath.Join(e.path, filepath.FromSlash(name))), err.Error())
}

// looseBytes finds what of the weight files no constant of the program refers to.
func (e *encoder) looseBytes() {
	if e.art.Program == nil || e.has(unpaired) {
		return
	}
	offsets := map[string][]uint64{}
	e.art.Program.EachValue(func(v *mil.Value) {
		if v.Blob != nil {
			offsets[v.Blob.Path] = append(offsets[v.Blob.Path], v.Blob.Offset)
		}
	})
	byFile := map[string][]uint64{}
	paths := map[string]string{}
	for p, list := range offsets {
		if name, err := e.art.Locate(p); err == nil {
			byFile[name], paths[name] = append(byFile[name], list...), p
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		blobs, loose, err := e.art.Rest(paths[name], byFile[name])
		if err != nil {
			continue // found and reported where the blob is read
		}
		if len(loose) > 0 {
			e.fault(reason.WeightsUncovered, name, "weights and nothing else", fmt.Sprintf("%d bytes from offset %d on that belong to no weight", loose[0].End-loose[0].Begin, loose[0].Begin))
		}
		if len(blobs) > 0 {
			e.fault(reason.WeightsUnread, name, "weights that the program refers to", fmt.Sprintf("%d more, the first at offset %d", len(blobs), blobs[0].Meta))
		}
	}
}

func blobSize(v *mil.Value) (int64, error) {
	n, err := v.Type.Elements()
	if err != nil {
		return 0, err
	}
	return mil.PackedSize(v.Type.DType, n)
}
