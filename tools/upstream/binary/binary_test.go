package binary

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// machO is a program in the making: load commands and the bytes after them.
type machO struct {
	cpu, subtype, kind uint32
	loads              [][]byte
	tail               []byte
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
	out := le(0xfeedfacf, m.cpu, m.subtype, m.kind, uint32(len(loads)), uint32(size), 0, 0)
	for _, l := range loads {
		out = append(out, l...)
	}
	out = append(out, m.tail...)
	if len(signature) >= 28+directoryBytes {
		// The one page of code, now that it is known.
		directory := signature[28 : 28+directoryBytes]
		binary.BigEndian.PutUint32(directory[32:], uint32(len(out)))
		sum := sha256.Sum256(out)
		copy(directory[44:], sum[:])
	}
	return append(out, signature...)
}

const texts = "loading Core ML model from '\x00failed to load Core ML model from '\x00Core ML model loaded\x00error: failed to initialize whisper context\x00"

func whisperCLI() machO {
	return machO{cpu: 0x0100000c, kind: 2, tail: []byte(texts), loads: [][]byte{
		le(lcBuildVersion, 24, platformMacOS, 13<<16|3<<8, 15<<16|5<<8|1, 0),
		le(lcMain, 24, 0, 0, 0, 0),
		append(le(lcUUID, 24), "0123456789abcdef"...),
		named(0xc, 24, "/usr/lib/libSystem.B.dylib"),
		named(lcLoadWeakDylib, 24, "/System/Library/Frameworks/CoreML.framework/Versions/A/CoreML"),
	}}
}

// directoryBytes is the size of a code directory with one hash, at its end.
const directoryBytes = 44 + sha256.Size

// signature is a super blob with a code directory of one SHA-256 hash, and a CMS blob of cms bytes.
func signature(flags uint32, cms int) []byte {
	directory := make([]byte, directoryBytes)
	copy(directory, be(magicCodeDirectory, directoryBytes, 0x20400, flags, 44, 0, 0, 1))
	directory[36], directory[37], directory[39] = sha256.Size, hashSHA256, 14
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
		Versions:  []string{}, RPaths: []string{}, Environment: []string{}, Instructions: []string{}, InstructionsFrom: []string{}, Symbols: []string{}, Texts: whispercpp.CoreMLTexts, CLI: true, Signature: "ad hoc", CDHash: id.CDHash,
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

// Bytes behind the signature are no part of what is signed, and no reason to fail.
func TestBytesBehindTheSignature(t *testing.T) {
	program := whisperCLI().bytes(signature(flagAdHoc, 0))
	for extra, want := range map[string]string{"": "BINARY_NO_SYMBOLS", "\x00": "BINARY_TRAILING BINARY_NO_SYMBOLS", "appended": "BINARY_TRAILING BINARY_NO_SYMBOLS"} {
		id, err := Parse("cli", append(slices.Clone(program), extra...))
		if err != nil {
			t.Fatal(err)
		}
		if got := codes(Check("cli", id, Want{})); got != want || id.Behind != len(extra) {
			t.Errorf("%q behind it: %s, %d bytes, want %s", extra, got, id.Behind, want)
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
		"physical Core ML build":       {whisperCLI(), signed, mac, "BINARY_NO_SYMBOLS"},
		"nothing demanded":             {whisperCLI(), signed, Want{}, "BINARY_NO_SYMBOLS"},
		"fallback looks the same":      {whisperCLI(), signed, Want{Flavour: "coreml_allow_fallback"}, "BINARY_NO_SYMBOLS"},
		"one text is missing":          {without("Core ML model loaded"), signed, mac, "BINARY_NO_COREML BINARY_NO_SYMBOLS"},
		"no whisper-cli":               {without(whispercpp.ContextErrorText), signed, mac, "BINARY_NOT_WHISPER_CLI BINARY_NO_SYMBOLS"},
		"ggml wanted":                  {whisperCLI(), signed, Want{Flavour: "ggml"}, "BINARY_COREML_UNEXPECTED BINARY_NO_SYMBOLS"},
		"emulated wanted":              {whisperCLI(), signed, Want{Lane: "emulated"}, "BINARY_LANE BINARY_NO_SYMBOLS"},
		"double in a physical one":     {with(func(m *machO) { m.tail = append(m.tail, doubleText...) }), signed, mac, "BINARY_LANE BINARY_NO_SYMBOLS"},
		"stub":                         {with(func(m *machO) { m.tail = []byte(whispercpp.StubText) }), signed, mac, "BINARY_STUB"},
		"its SDK and system":           {whisperCLI(), signed, Want{SDK: "15.5.1", MinOS: "13.3"}, "BINARY_NO_SYMBOLS"},
		"another SDK":                  {whisperCLI(), signed, Want{SDK: "26.0"}, "BINARY_PLATFORM BINARY_NO_SYMBOLS"},
		"another oldest system":        {whisperCLI(), signed, Want{MinOS: "14.0"}, "BINARY_PLATFORM BINARY_NO_SYMBOLS"},
		"Linux wanted":                 {whisperCLI(), signed, Want{OS: "linux"}, "BINARY_PLATFORM BINARY_NO_SYMBOLS"},
		"stale, or signed again (C16)": {whisperCLI(), signed, Want{SHA256: strings.Repeat("0", 64)}, "BINARY_DIGEST BINARY_NO_SYMBOLS"},
		"unsigned":                     {whisperCLI(), nil, mac, "BINARY_UNSIGNED BINARY_NO_SYMBOLS"},
		"rpath beside the program": {
			with(func(m *machO) { m.loads = append(m.loads, named(0x8000001c, 12, "@executable_path/../lib")) }), signed, mac,
			"BINARY_LIBRARY_PATH BINARY_NO_SYMBOLS",
		},
		"rpath in the system": {
			with(func(m *machO) { m.loads = append(m.loads, named(0x8000001c, 12, "/usr/lib/swift")) }), signed, mac, "BINARY_NO_SYMBOLS",
		},
		"library by a bare name": {
			with(func(m *machO) { m.loads = append(m.loads, named(0xc, 24, "libggml.dylib")) }), signed, mac,
			"BINARY_LIBRARY_PATH BINARY_NO_SYMBOLS",
		},
		"lazy library": {
			with(func(m *machO) { m.loads = append(m.loads, named(lcLazyLoadDylib, 24, "/tmp/a.dylib")) }), signed, mac,
			"BINARY_LIBRARY_PATH BINARY_NO_SYMBOLS",
		},
		"upward library": {
			with(func(m *machO) { m.loads = append(m.loads, named(lcLoadUpwardDylib, 24, "/tmp/a.dylib")) }), signed, mac,
			"BINARY_LIBRARY_PATH BINARY_NO_SYMBOLS",
		},
		"setting for the loader": {
			with(func(m *machO) { m.loads = append(m.loads, named(lcDyldEnvironment, 12, "DYLD_LIBRARY_PATH=/tmp")) }), signed, mac,
			"BINARY_LIBRARY_PATH BINARY_NO_SYMBOLS",
		},
		"loader of its own": {
			with(func(m *machO) { m.loads = append(m.loads, named(lcLoadDylinker, 12, "/tmp/dyld")) }), signed, mac,
			"BINARY_LIBRARY_PATH BINARY_NO_SYMBOLS",
		},
		"arm64e":             {with(func(m *machO) { m.subtype = 0x80000002 }), signed, mac, "BINARY_PLATFORM BINARY_NO_SYMBOLS"},
		"arm64, another v8":  {with(func(m *machO) { m.subtype = 1 }), signed, mac, "BINARY_NO_SYMBOLS"},
		"x86_64h":            {with(func(m *machO) { m.cpu, m.subtype = 0x01000007, 8 }), signed, Want{OS: "macos", Arch: "x86_64"}, "BINARY_PLATFORM BINARY_NO_SYMBOLS"},
		"x86_64 of any kind": {with(func(m *machO) { m.cpu, m.subtype = 0x01000007, 0x80000003 }), signed, Want{OS: "macos", Arch: "x86_64"}, "BINARY_NO_SYMBOLS"},
		"a folder of Linux's": {
			with(func(m *machO) { m.loads = append(m.loads, named(0xc, 24, "/lib64/libggml.dylib")) }), signed, mac,
			"BINARY_LIBRARY_PATH BINARY_NO_SYMBOLS",
		},
		"the system's loader": {
			with(func(m *machO) { m.loads = append(m.loads, named(lcLoadDylinker, 12, "/usr/lib/dyld")) }), signed, mac, "BINARY_NO_SYMBOLS",
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
			if _, ok := reason.Lookup(r.Code); !ok {
				t.Errorf("%s: code %s stands in no table", name, r.Code)
			}
		}
	}
}

// What changed after it was signed, macOS kills.
func TestBrokenSignature(t *testing.T) {
	whole := whisperCLI().bytes(signature(flagAdHoc, 0))
	for name, edit := range map[string]func(data []byte, directory int){
		"a byte of code":      func(data []byte, _ int) { data[len(data)-200] ^= 1 },
		"a byte of the hash":  func(data []byte, d int) { data[d+44] ^= 1 },
		"no hashes":           func(data []byte, d int) { copy(data[d+28:], be(0)) },
		"less code":           func(data []byte, d int) { copy(data[d+32:], be(8)) },
		"no code":             func(data []byte, d int) { copy(data[d+28:], be(0, 0)) },
		"hashes of 20 bytes":  func(data []byte, d int) { data[d+36] = 20 },
		"hashes beyond it":    func(data []byte, d int) { copy(data[d+16:], be(1<<31)) },
		"one page, all of it": func(data []byte, d int) { data[d+39] = 0 },
	} {
		data := bytes.Clone(whole)
		edit(data, bytes.Index(data, be(magicCodeDirectory)))
		id, err := Parse(name, data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := "BINARY_SIGNATURE_BROKEN BINARY_NO_SYMBOLS"
		if name == "one page, all of it" {
			want = "BINARY_NO_SYMBOLS"
		}
		if got := codes(Check("cli", id, Want{})); got != want {
			t.Errorf("%s: reasons %q, want %q", name, got, want)
		}
	}
}

// A file that ends too early is said to.
func TestCutShort(t *testing.T) {
	program := whisperCLI().bytes(signature(flagAdHoc, 0))
	linux := elfProgram{"/lib/ld.so", nil}.bytes()
	for _, data := range [][]byte{program[:20], program[:100], linux[:30], linux[:100]} {
		if _, err := Parse("cli", data); err == nil || !strings.Contains(err.Error(), "cut short") {
			t.Errorf("%d bytes that begin %q: error %v, want one that it was cut short", len(data), data[:4], err)
		}
	}
}

// A good directory does not hide a broken one.
func TestEveryDirectoryIsChecked(t *testing.T) {
	data := whisperCLI().bytes(signature(flagAdHoc, 0))
	at := bytes.Index(data, be(magicSuperBlob))
	directory := bytes.Clone(data[at+28 : at+28+directoryBytes])
	broken := bytes.Clone(directory)
	broken[44] ^= 1
	blob := append(append(be(magicSuperBlob, uint32(28+2*directoryBytes), 2, 0, 28, 0x1000, uint32(28+directoryBytes)), broken...), directory...)
	id := &Identity{}
	if err := id.readSignature(blob, data[:at]); err != nil || id.Broken == "" {
		t.Errorf("error %v, broken %q, want the first directory's page", err, id.Broken)
	}
}

func TestParseRefuses(t *testing.T) {
	whole := whisperCLI().bytes(signature(flagAdHoc, 0))
	library := whisperCLI()
	library.kind = 6
	nowhere := whisperCLI()
	nowhere.loads = slices.Delete(nowhere.loads, 1, 2)
	unloaded := elfProgram{"/lib/ld.so", nil}.bytes()
	unloaded[64] = 0 // its PT_LOAD
	for name, data := range map[string][]byte{
		"empty": nil, "script": []byte("#!/bin/sh\n"), "universal": be(0xcafebabe, 2), "universal of 64 bits": be(0xcafebabf, 2), "Java class": be(0xcafebabe, 52), "LFS": []byte("version https://git-lfs"),
		"Mach-O of 32 bits": le(0xfeedface, 12), "big-endian Mach-O": be(0xfeedfacf, 12), "Windows": []byte("MZ"), "archive": []byte("!<arch>\n"), "text": []byte("hello"),
		"library": library.bytes(nil), "no entry point": nowhere.bytes(nil), "ELF that loads nothing": unloaded, "cut load command": whole[:60], "signature beyond the end": whole[:len(whole)-1],
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

// TestNoFile names in words what a program cannot be in.
func TestNoFile(t *testing.T) {
	_, err := Inspect(t.TempDir())
	var r *reason.Error
	if !errors.As(err, &r) || r.Code != "BINARY_FORMAT" || r.Found != "a folder" {
		t.Errorf("a folder: %v, want BINARY_FORMAT, found a folder", err)
	}
}

// TestPacked: a release is unpacked first.
func TestPacked(t *testing.T) {
	tar := make([]byte, 1024)
	copy(tar[257:], "ustar")
	for want, data := range map[string][]byte{
		"a gzip file": []byte("\x1f\x8b\x08\x00"), "a zip archive": []byte("PK\x03\x04"), "an xz file": []byte("\xfd7zXZ\x00"), "a zstd file": []byte("\x28\xb5\x2f\xfd"), "a tar archive": tar,
	} {
		_, err := Parse("p", data)
		var r *reason.Error
		if !errors.As(err, &r) || r.Code != "BINARY_FORMAT" || r.Found != want+": unpack it" {
			t.Errorf("%s: %v", want, err)
		}
	}
}
