package pin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIdentityIsNoPin: the description of a pin, given where the identity of a verified source belongs, is named as what it is.
func TestIdentityIsNoPin(t *testing.T) {
	digest, object := strings.Repeat("a", 64), strings.Repeat("b", 40)
	made := &Pin{Name: "x", Commit: object, Tree: object, URLs: []string{"https://example.org/x.tar.gz"}}
	made.Manifest.File, made.Manifest.SHA256 = "x.manifest", digest
	made.Patch.Label, made.Patch.SHA256 = "//patches:x.patch", digest
	made.PatchedFile.Path, made.PatchedFile.SHA256 = "src/whisper.cpp", digest
	data, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pin.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := ReadPin(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadIdentity(path); err == nil || !strings.Contains(err.Error(), "found the description of a pin") {
		t.Errorf("%v, want to hear that it is the description of a pin", err)
	}
	if data, err = json.Marshal(p.Identity()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if id, err := ReadIdentity(path); err != nil || id.Commit != p.Commit {
		t.Errorf("the identity of that pin: %v", err)
	}
	if err := os.WriteFile(path, []byte(`{"commit": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadIdentity(path); err == nil || strings.Contains(err.Error(), "description of a pin") {
		t.Errorf("neither one: %v", err)
	}
}
