package binary

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/reason"
)

// machO is a program in the making: load commands and the bytes after them.
type machO struct {
	cpu, kind uint32
	loads     [][]byte
	tail      []byte
}

func le(words ...uint32) []byte {
	var b bytes.Buffer
	for _, w := range words {
		_ = binary.Write(&b, binary.LittleEndian, w)
	}
	return b.Bytes()
}

func be(words ...uint32) []byte {
	var b bytes.Buffer
	for _, w := range words {
		_ = binary.Write(&b, binary.BigEndian, w)
	}
	return b.Bytes()
}

// named is a load command that ends in a text: an rpath (text at 12) or a library (text at 24).
func named(cmd uint32, at int, text string) []byte {
	n := (at + len(text) + 8) &^ 7
	raw := make([]byte, n)
	copy(raw, le(cmd, uint32(n), uint32(at)))
	copy(raw[at:], text)
	return raw
}

func (m machO) bytes(signature []byte) []byte {
	loads := m.loads
	size := 0
	for _, l := range loads {
		size += len(l)
	}
	if signature != nil {
		at := 32 + size + 16 + len(m.tail)
		loads = append(append([][]byte{}, loads...), le(lcCodeSignature, 16, uint32(at), uint32(len(signature))))
		size += 16
	}
	out := le(0xfeedfacf, m.cpu, 0, m.kind, uint32(len(loads)), uint32(size), 0, 0)
	for _, l := range loads {
		out = append(out, l...)
	}
	return append(append(out, m.tail...), signature...)
}

const texts = "loading Core ML model from '\x00failed to load Core ML model from '\x00Core ML model loaded\x00error: failed to initialize whisper context\x00"

func whisperCLI() machO {
	return machO{cpu: 0x0100000c, kind: 2, tail: []byte(texts), loads: [][]byte{
		le(lcBuildVersion, 24, platformMacOS, 13<<16|3<<8, 15<<16|5<<8|1, 0),
		append(le(lcUUID, 24), "0123456789abcdef"...),
		named(0xc, 24, "/usr/lib/libSystem.B.dylib"),
		named(lcLoadWeakDylib, 24, "/System/Library/Frameworks/CoreML.framework/Versions/A/CoreML"),
	}}
}

// signature is a super blob with a code directory of SHA-256 hashes, and a CMS blob of cms bytes.
func signature(flags uint32, cms int) []byte {
	directory := make([]byte, 44)
	copy(directory, be(magicCodeDirectory, 44, 0x20400, flags))
	directory[37] = hashSHA256
	wrapper := append(be(magicCMS, uint32(8+cms)), make([]byte, cms)...)
	out := be(magicSuperBlob, uint32(28+len(directory)+len(wrapper)), 2, 0, 28, 0x10000, uint32(28+len(directory)))
	return append(append(out, directory...), wrapper...)
}

func TestMachO(t *testing.T) {
	id, err := Parse("cli", whisperCLI().bytes(signature(flagAdHoc, 0)))
	if err != nil {
		t.Fatal(err)
	}
	id.SHA256 = ""
	want := &Identity{
		Format: "mach-o", OS: "macos", Arch: "arm64", MinOS: "13.3", SDK: "15.5.1", ID: "30313233343536373839616263646566",
		Libraries: []string{"/usr/lib/libSystem.B.dylib", "/System/Library/Frameworks/CoreML.framework/Versions/A/CoreML"},
		RPaths:    []string{}, Symbols: []string{}, Texts: coreMLTexts, CLI: true, Signature: "ad hoc", CDHash: id.CDHash,
	}
	if diff := cmp.Diff(want, id); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
	if len(id.CDHash) != 40 {
		t.Errorf("CDHash %q, want 40 digits", id.CDHash)
	}
	if !id.LinksCoreML() {
		t.Error("LinksCoreML is false")
	}
}

func TestSignatures(t *testing.T) {
	for name, tc := range map[string]struct {
		signature []byte
		want      string
	}{
		"none":                    {nil, "none"},
		"ad hoc":                  {signature(flagAdHoc, 0), "ad hoc"},
		"by the linker":           {signature(flagAdHoc|flagLinkerSigned, 0), "linker"},
		"certificate":             {signature(0, 100), "certificate"},
		"claims a missing signer": {signature(0, 0), "none"},
	} {
		id, err := Parse(name, whisperCLI().bytes(tc.signature))
		if err != nil {
			t.Fatal(err)
		}
		if id.Signature != tc.want {
			t.Errorf("%s: signature %q, want %q", name, id.Signature, tc.want)
		}
	}
}

// codes lists the codes of reasons in order.
func codes(reasons []reason.Reason) string {
	var out []string
	for _, r := range reasons {
		out = append(out, r.Code)
	}
	return strings.Join(out, " ")
}

func TestCheck(t *testing.T) {
	mac := Want{Flavour: "coreml", Lane: "physical", OS: "macos", Arch: "arm64"}
	with := func(edit func(m *machO)) machO {
		m := whisperCLI()
		edit(&m)
		return m
	}
	without := func(text string) machO {
		return with(func(m *machO) { m.tail = bytes.ReplaceAll(m.tail, []byte(text), []byte("x")) })
	}
	signed := signature(flagAdHoc, 0)
	for name, tc := range map[string]struct {
		program   machO
		signature []byte
		want      Want
		codes     string
	}{
		"physical Core ML build":   {whisperCLI(), signed, mac, "BINARY_NO_SYMBOLS"},
		"nothing demanded":         {whisperCLI(), signed, Want{}, "BINARY_NO_SYMBOLS"},
		"fallback looks the same":  {whisperCLI(), signed, Want{Flavour: "coreml_allow_fallback"}, "BINARY_NO_SYMBOLS"},
		"one text is missing":      {without("Core ML model loaded"), signed, mac, "BINARY_NO_COREML BINARY_NO_SYMBOLS"},
		"no whisper-cli":           {without(cliText), signed, mac, "BINARY_NOT_WHISPER_CLI BINARY_NO_SYMBOLS"},
		"ggml wanted":              {whisperCLI(), signed, Want{Flavour: "ggml"}, "BINARY_COREML_UNEXPECTED BINARY_NO_SYMBOLS"},
		"emulated wanted":          {whisperCLI(), signed, Want{Lane: "emulated"}, "BINARY_LANE BINARY_NO_SYMBOLS"},
		"double in a physical one": {with(func(m *machO) { m.tail = append(m.tail, doubleText...) }), signed, mac, "BINARY_LANE BINARY_NO_SYMBOLS"},
		"stub":                     {with(func(m *machO) { m.tail = []byte(stubText) }), signed, mac, "BINARY_STUB"},
		"Linux wanted":             {whisperCLI(), signed, Want{OS: "linux"}, "BINARY_PLATFORM BINARY_NO_SYMBOLS"},
		"stale":                    {whisperCLI(), signed, Want{SHA256: strings.Repeat("0", 64)}, "BINARY_DIGEST BINARY_NO_SYMBOLS"},
		"unsigned":                 {whisperCLI(), nil, mac, "BINARY_UNSIGNED BINARY_NO_SYMBOLS"},
		"rpath beside the program": {
			with(func(m *machO) { m.loads = append(m.loads, named(0x8000001c, 12, "@executable_path/../lib")) }), signed, mac,
			"BINARY_LIBRARY_PATH BINARY_NO_SYMBOLS",
		},
		"rpath in the system": {
			with(func(m *machO) { m.loads = append(m.loads, named(0x8000001c, 12, "/usr/lib/swift")) }), signed, mac, "BINARY_NO_SYMBOLS",
		},
		"library from Homebrew": {
			with(func(m *machO) { m.loads = append(m.loads, named(0xc, 24, "/opt/homebrew/lib/libggml.dylib")) }), signed, mac,
			"BINARY_LIBRARY_PATH BINARY_NO_SYMBOLS",
		},
		"out of the system and in": {
			with(func(m *machO) { m.loads = append(m.loads, named(0xc, 24, "/usr/lib/../local/lib/a.dylib")) }), signed, mac,
			"BINARY_LIBRARY_PATH BINARY_NO_SYMBOLS",
		},
	} {
		id, err := Parse(name, tc.program.bytes(tc.signature))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		reasons := Check("cli", id, tc.want)
		if got := codes(reasons); got != tc.codes {
			t.Errorf("%s: reasons %q, want %q", name, got, tc.codes)
		}
		for _, r := range reasons {
			if _, ok := Reasons.Lookup(r.Code); !ok {
				t.Errorf("%s: code %s stands in no table", name, r.Code)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	whole := whisperCLI().bytes(signature(flagAdHoc, 0))
	library := whisperCLI()
	library.kind = 6
	for name, data := range map[string][]byte{
		"empty": nil, "script": []byte("#!/bin/sh\n"), "universal": be(0xcafebabe, 2), "text": []byte("hello"),
		"library": library.bytes(nil), "cut load command": whole[:60], "signature beyond the end": whole[:len(whole)-1],
		"ELF of four bytes": []byte("\x7fELF"), "bad signature": whisperCLI().bytes(make([]byte, 40)),
	} {
		_, err := Parse(name, data)
		var r *reason.Error
		if !errors.As(err, &r) || r.Code != "BINARY_FORMAT" {
			t.Errorf("%s: error %v, want BINARY_FORMAT", name, err)
		}
	}
}

// The test program itself is a real file of the host's format.
func TestInspectItself(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	id, err := Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	if id.Format == "" || id.OS == "" || id.Arch == "" || len(id.SHA256) != 64 {
		t.Errorf("identity %+v lacks what every program has", id)
	}
	// It holds every text as data, but none of the bridge's functions.
	if len(id.Texts) != 3 || len(id.Symbols) != 0 {
		t.Errorf("texts %q, symbols %q", id.Texts, id.Symbols)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(whisperCLI().bytes(signature(flagAdHoc, 4)))
	f.Add(whisperCLI().bytes(nil))
	f.Add([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x3e\x00\x01\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		id, err := Parse("f", data)
		if err == nil {
			Check("f", id, Want{Flavour: "coreml", Lane: "physical"})
		}
	})
}
