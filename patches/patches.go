// Package patches holds the compatibility patches, compiled in byte for byte. README.md says why each is there.
package patches

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.patch
var files embed.FS

// Module is what a pin of another repository writes before the label of one of these patches.
const Module = "@rules_coreml_gate"

// Read returns the patch that a label of this folder names, such as //patches:name.patch, in another repository with
// [Module] before it.
func Read(label string) ([]byte, error) {
	name, ok := strings.CutPrefix(strings.TrimPrefix(label, Module), "//patches:")
	if !ok {
		return nil, fmt.Errorf("patch %s is not one of //patches", label)
	}
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read patch: %w", err)
	}
	return data, nil
}
