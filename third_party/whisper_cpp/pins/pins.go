// Package pins holds the pins of upstream whisper.cpp that this project knows, compiled in: the same files
// that the repository rule reads. README.md says what they mean.
package pins

import (
	"embed"
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/patches"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

//go:embed *.json *.manifest
var files embed.FS

// names are the pins in the order in which the extension offers them, the default first.
var names = []string{"97c56f1d", "v1.9.1"}

// Entry is a pin with the files that it names, each held against its digest.
type Entry struct {
	Pin      *pin.Pin
	Manifest pin.Manifest
	Patch    []byte
}

// Names lists the known pins, the supported one first.
func Names() []string { return append([]string(nil), names...) }

// Load returns a pin by name.
func Load(name string) (*Entry, error) {
	data, err := files.ReadFile(name + ".json")
	if err != nil {
		return nil, fmt.Errorf("pin %q is none of %v", name, names)
	}
	p, err := pin.ParsePin(name+".json", data)
	if err != nil {
		return nil, err
	}
	if data, err = files.ReadFile(p.Manifest.File); err != nil {
		return nil, fmt.Errorf("pin %s: %w", name, err)
	}
	m, err := p.ParseManifest(p.Manifest.File, data)
	if err != nil {
		return nil, err
	}
	patch, err := patches.Read(p.Patch.Label)
	if err != nil {
		return nil, fmt.Errorf("pin %s: %w", name, err)
	}
	if _, err := pin.PinnedPatch(p, patch); err != nil {
		return nil, fmt.Errorf("pin %s: %w", name, err)
	}
	return &Entry{Pin: p, Manifest: m, Patch: patch}, nil
}
