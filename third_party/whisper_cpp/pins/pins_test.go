package pins

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

func TestPinsAgree(t *testing.T) {
	first, err := Load(Names()[0])
	if err != nil {
		t.Fatal(err)
	}
	if !first.Pin.Supported {
		t.Errorf("the first pin, %s, is not the supported one", first.Pin.Name)
	}
	for _, name := range Names() {
		e, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if e.Pin.Name != name {
			t.Errorf("pin %s calls itself %s", name, e.Pin.Name)
		}
		if name != Names()[0] && e.Pin.Supported {
			t.Errorf("pin %s is a second supported one", name)
		}
		// One overlay builds every pin.
		if !slices.Equal(e.Manifest.Paths(), first.Manifest.Paths()) {
			t.Errorf("pin %s lists other files than %s", name, first.Pin.Name)
		}
		if _, ok := e.Manifest.Find(e.Pin.PatchedFile.Path); !ok {
			t.Errorf("pin %s patches %s, which its manifest does not name", name, e.Pin.PatchedFile.Path)
		}
	}
	if _, err := Load("v0"); err == nil {
		t.Error("an unknown pin was loaded")
	}
}

// The identities are the contract's; a change of one is a change of what is supported.
func TestIdentities(t *testing.T) {
	for name, want := range map[string][4]string{
		"97c56f1d": {
			"97c56f1dc1d1100a9d859c865a20c82d22f823ed", "57f199d2d972c1943abad6e81e9e0accae66b156",
			"99bf1e4a9f768745bbaad61d4d131e5360c2f240e2fa577ce64726d9c67bfcef", "05dff881869ed5c6d5890fd48d82b388af89cd84ec5d9b739e58b2766467762c",
		},
		"v1.9.1": {
			"f049fff95a089aa9969deb009cdd4892b3e74916", "f49541eaed447bce9b5e3598cc7a487ce5e54678",
			"99bf1e4a9f768745bbaad61d4d131e5360c2f240e2fa577ce64726d9c67bfcef", "e1db34baa76c37ad20726600771bd879de836e5f0164e9a644e6072c91be2c2a",
		},
	} {
		e, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := [4]string{e.Pin.Commit, e.Pin.Tree, e.Pin.Patch.SHA256, e.Pin.PatchedFile.SHA256}; got != want {
			t.Errorf("pin %s: %v, want %v", name, got, want)
		}
	}
}

// TestExtension holds that the module extension offers the same pins in the same order.
func TestExtension(t *testing.T) {
	text, err := os.ReadFile("../../../gate/private/repo/extension.bzl")
	if err != nil {
		t.Fatal(err)
	}
	var offered []string
	for _, m := range regexp.MustCompile(`Label\("//third_party/whisper_cpp/pins:(.+)\.json"\)`).FindAllStringSubmatch(string(text), -1) {
		offered = append(offered, m[1])
	}
	if !slices.Equal(offered, Names()) {
		t.Errorf("extension.bzl offers %v, pins.go has %v", offered, Names())
	}
}
