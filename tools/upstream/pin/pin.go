package pin

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

// None is the name of the identity of a program whose sources no pin vouches for. It is never supported.
const None = "none"

// Pin is one upstream revision that the build knows: the file third_party/whisper_cpp/pins/<name>.json.
type Pin struct {
	// Name is what WHISPER_CPP_PIN takes.
	Name string `json:"name"`
	// Commit and Tree are git's ids, 40 hexadecimal digits.
	Commit string `json:"commit"`
	Tree   string `json:"tree"`
	// Supported says whether a receipt at this pin may satisfy a release gate.
	Supported bool `json:"supported"`
	// URLs are where an archive may be had; they are no part of the identity.
	URLs []string `json:"urls"`
	// Manifest names the content manifest, a file beside the pin.
	Manifest ManifestRef `json:"manifest"`
	// Patch names the compatibility patch.
	Patch PatchRef `json:"patch"`
	// PatchedFile is the one file that the patch touches, as it is afterwards.
	PatchedFile FileRef `json:"patched_file"`
	// Patches are those of the pin's owner, applied after it in order. A pin with any is not supported.
	Patches []FurtherPatch `json:"patches,omitempty"`
	// Versions are what upstream's CMake files say and the build repeats.
	Versions Versions `json:"versions"`
}

// ManifestRef names a file beside the pin and its SHA-256.
type ManifestRef struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

// PatchRef names a patch by Bazel label (//patches:name.patch) and by SHA-256.
type PatchRef struct {
	Label  string `json:"label"`
	SHA256 string `json:"sha256"`
}

// FileRef is a path in the source tree and the SHA-256 of what stands there.
type FileRef struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Versions are strings that upstream's build compiles in.
type Versions struct {
	GGML       string `json:"ggml"`
	GGMLCommit string `json:"ggml_commit"`
	Whisper    string `json:"whisper"`
}

// Identity is what the repository rule writes about the pin whose content it verified: pin.json in @whisper_cpp.
type Identity struct {
	Name           string   `json:"name"`
	Commit         string   `json:"commit"`
	Tree           string   `json:"tree"`
	Supported      bool     `json:"supported"`
	ManifestSHA256 string   `json:"manifest_sha256"`
	Patch          PatchRef `json:"patch"`
	PatchedFile    FileRef  `json:"patched_file"`
	// Patches are those of the pin's owner.
	Patches []FurtherPatch `json:"patches,omitempty"`
}

// FurtherPatch is a patch of a pin's owner, on top of the compatibility patch and of those before it.
type FurtherPatch struct {
	PatchRef
	// PatchedFiles are the files that it touches, as they are afterwards, sorted by path.
	PatchedFiles []FileRef `json:"patched_files"`
}

// Patched is the SHA-256 that a file has after all patches, and whether any touches it.
func (id *Identity) Patched(path string) (sha256 string, ok bool) {
	for _, p := range slices.Backward(id.Patches) {
		for _, f := range p.PatchedFiles {
			if f.Path == path {
				return f.SHA256, true
			}
		}
	}
	return id.PatchedFile.SHA256, path == id.PatchedFile.Path
}

// Identity is the part of a pin that receipts bind.
func (p *Pin) Identity() Identity {
	return Identity{
		Name:           p.Name,
		Commit:         p.Commit,
		Tree:           p.Tree,
		Supported:      p.Supported,
		ManifestSHA256: p.Manifest.SHA256,
		Patch:          p.Patch,
		PatchedFile:    p.PatchedFile,
		Patches:        p.Patches,
	}
}

// ReadPin reads a pin file; unknown, missing and malformed members are refused.
func ReadPin(path string) (*Pin, error) {
	data, err := regular.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read pin: %w", err)
	}
	return ParsePin(path, data)
}

// ParsePin is [ReadPin] on bytes; path is what errors call them.
func ParsePin(path string, data []byte) (*Pin, error) {
	p := &Pin{}
	if err := strictjson.Decode(data, p); err != nil {
		return nil, fmt.Errorf("pin %s: %w", path, err)
	}
	if err := p.Identity().check(); err != nil {
		return nil, fmt.Errorf("pin %s: %w", path, err)
	}
	if strings.ContainsAny(p.Manifest.File, `/\`) || p.Manifest.File == "" {
		return nil, fmt.Errorf("pin %s: manifest file is %q, expected the name of a file beside the pin", path, p.Manifest.File)
	}
	return p, nil
}

// ReadIdentity reads a pin.json that the repository rule wrote.
func ReadIdentity(path string) (*Identity, error) {
	data, err := regular.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read pin identity: %w", err)
	}
	id := &Identity{}
	if err := strictjson.Decode(data, id); err != nil {
		if _, notPin := ParsePin(path, data); notPin == nil {
			return nil, fmt.Errorf("pin identity %s: expected the pin.json that the repository rule writes beside the source it verified, found the description of a pin, which says nothing of any source: bazel build //third_party/whisper_cpp:identity in a clone", path)
		}
		return nil, fmt.Errorf("pin identity %s: %w", path, err)
	}
	if err := id.check(); err != nil {
		return nil, fmt.Errorf("pin identity %s: %w", path, err)
	}
	return id, nil
}

func (id Identity) check() error {
	for _, f := range []struct{ name, value string }{
		{"manifest", id.ManifestSHA256},
		{"patch", id.Patch.SHA256},
		{"patched_file", id.PatchedFile.SHA256},
	} {
		if !isSHA256(f.value) {
			return fmt.Errorf("%s: expected a SHA-256 of 64 lower-case hexadecimal digits, found %q", f.name, f.value)
		}
	}
	for _, f := range []struct{ name, value string }{{"commit", id.Commit}, {"tree", id.Tree}} {
		if !isObjectID(f.value) {
			return fmt.Errorf("%s: expected a git object id of 40 lower-case hexadecimal digits, found %q", f.name, f.value)
		}
	}
	if id.Name == "" {
		return fmt.Errorf("name is empty")
	}
	if id.Name == None && id.Supported {
		return fmt.Errorf("supported: expected false for the identity of no pin, found true")
	}
	if err := checkPath(id.PatchedFile.Path); err != nil {
		return fmt.Errorf("patched_file: %w", err)
	}
	return id.checkPatches()
}

func (id Identity) checkPatches() error {
	if id.Supported && len(id.Patches) > 0 {
		return fmt.Errorf("supported: expected false for a pin with %d patches of its owner, found true", len(id.Patches))
	}
	for i, p := range id.Patches {
		name := fmt.Sprintf("patches[%d]", i)
		if !isSHA256(p.SHA256) || p.Label == "" {
			return fmt.Errorf("%s: expected a label and a SHA-256 of 64 lower-case hexadecimal digits, found %q and %q", name, p.Label, p.SHA256)
		}
		if len(p.PatchedFiles) == 0 {
			return fmt.Errorf("%s: expected the files that it touches in patched_files, found none", name)
		}
		for _, f := range p.PatchedFiles {
			if err := checkPath(f.Path); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if !isSHA256(f.SHA256) {
				return fmt.Errorf("%s: %s: expected a SHA-256 of 64 lower-case hexadecimal digits, found %q", name, f.Path, f.SHA256)
			}
		}
	}
	return nil
}

// ReadManifest reads the manifest that the pin at pinPath names and holds it against the pin's digest.
func (p *Pin) ReadManifest(pinPath string) (Manifest, error) {
	path := filepath.Join(filepath.Dir(pinPath), p.Manifest.File)
	data, err := regular.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read content manifest: %w", err)
	}
	return p.ParseManifest(path, data)
}

// ParseManifest is [Pin.ReadManifest] on bytes; path is what errors call them.
func (p *Pin) ParseManifest(path string, data []byte) (Manifest, error) {
	if found := Digest(data); found != p.Manifest.SHA256 {
		return nil, reason.Errorf(reason.PinManifest, path, "SHA-256 "+p.Manifest.SHA256, "%s", found)
	}
	m, err := ParseManifest(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}
