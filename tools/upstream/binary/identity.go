// Package binary says what a whisper-cli is without running it.
//
// It reads ELF and Mach-O files: architecture, the oldest system they run on, libraries and frameworks,
// where else libraries would be searched, build id or UUID, code signature, and what of Core ML is in them.
//
// What strings and symbols can tell: a build without WHISPER_USE_COREML has none of upstream's three Core ML
// texts; ggml's own functions say for which instructions ggml was compiled; the physical bridge needs the CoreML framework, and the emulated one carries its own name. What they cannot
// tell: whether the build falls back when a load fails (a fallback build has the same three texts), whether
// it was patched, and what it will do. The canary tells that, by running it.
package binary

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// MaxBytes bounds a program that [Inspect] takes; a whisper-cli has some megabytes.
const MaxBytes = 1 << 30

// Identity is what a program file says about itself.
type Identity struct {
	// SHA256 is the digest of the file's bytes, signature included: the identity that receipts bind.
	SHA256 string `json:"sha256"`
	// Format is "elf" or "mach-o".
	Format string `json:"format"`
	// OS is "linux" or "macos", or what the file says otherwise.
	OS string `json:"os"`
	// Arch is "x86_64" or "arm64", or what the file says otherwise: "arm64e" and "x86_64h" are other ABIs.
	Arch string `json:"arch"`
	// MinOS and SDK are versions from a Mach-O's build version; empty for ELF.
	MinOS string `json:"min_os"`
	SDK   string `json:"sdk"`
	// ID is the Mach-O's UUID or the ELF's build id, in hexadecimal digits; empty if there is none.
	ID string `json:"id"`
	// Loader is the program that loads this one; empty if it is static.
	Loader string `json:"loader"`
	// Libraries are the names under which the loader will look for libraries, frameworks among them.
	Libraries []string `json:"libraries"`
	// Versions are the newest versions of libraries' interfaces that an ELF asks for, as "libc.so.6 GLIBC_2.38".
	Versions []string `json:"library_versions"`
	// Needs are all versions that an ELF asks for, as the loader reads them.
	Needs []Need `json:"-"`
	// RPaths are folders that the file adds to the search.
	RPaths []string `json:"rpaths"`
	// Environment are settings for the loader that a Mach-O carries (DYLD_…=…).
	Environment []string `json:"loader_environment"`
	// Instructions are the instruction sets that the file says its code uses beyond what every processor of its architecture
	// has, sorted; InstructionsFrom says what in the file tells so. AllInstructions says that each of ggml's functions was read:
	// otherwise the program may need more.
	Instructions     []string `json:"instructions"`
	InstructionsFrom []string `json:"instructions_from"`
	AllInstructions  bool     `json:"instructions_complete"`
	// Symbols are the bridge's functions that the symbol table defines; empty as well if it was stripped.
	Symbols []string `json:"coreml_symbols"`
	// Texts are those of upstream's Core ML texts that the file holds.
	Texts []string `json:"coreml_texts"`
	// Double says that our double of the bridge is in the file, StandIn that a stand-in for the framework is, below upstream's own
	// bridge. Either makes it a program of the emulated lane.
	Double  bool `json:"coreml_double"`
	StandIn bool `json:"coreml_stand_in"`
	// CLI says that the file holds the text with which whisper-cli reports a failed start.
	CLI bool `json:"whisper_cli"`
	// Stub says that the file is the deprecation stub which upstream installs under the program's old name.
	Stub bool `json:"stub"`
	// Signature is "none", "linker", "ad hoc" or "certificate"; "" for ELF.
	Signature string `json:"signature"`
	// Broken says what of the file its signature does not match; empty without a signature.
	Broken string `json:"signature_broken"`
	// Behind counts the bytes behind the signature, which it does not cover.
	Behind int `json:"bytes_behind_signature"`
	// CDHash is the code directory's hash, 40 hexadecimal digits, empty without a signature. Two signings of
	// equal code may differ in it: it says which signature this is, not which code.
	CDHash string `json:"cdhash"`
}

// What the emulated lane's double of the bridge says first, and its stand-in for the framework.
const (
	doubleText  = "coreml_double: version "
	standInText = "coreml_stand_in: version "
)

// Emulated says that something in the file stands for Apple's Core ML.
func (id *Identity) Emulated() bool { return id.Double || id.StandIn }

// Inspect reads a program file. A file that is not a single-architecture ELF or Mach-O program is a
// [*reason.Error] with the code BINARY_FORMAT.
func Inspect(path string) (*Identity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("inspect program: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > MaxBytes {
		return nil, badFormat(path, "%s", unreadable(info))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("inspect program: %w", err)
	}
	return Parse(path, data)
}

// unreadable says in words what is no file that a program could be in.
func unreadable(info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "a folder"
	case !info.Mode().IsRegular():
		return "a pipe, socket or device"
	}
	return fmt.Sprintf("a file of %d bytes, more than any program has", info.Size())
}

func badFormat(path, found string, args ...any) error {
	return reason.Errorf(reason.BinaryFormat, path, "an ELF or Mach-O program of one architecture", found, args...)
}

// damage says what is wrong with a file that has an end where its headers promise more.
func damage(err error, data []byte) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("it was cut short, or its headers are wrong: they name something beyond its end at %d", len(data))
	}
	return err.Error()
}

// Parse is [Inspect] on bytes in memory; name is what errors call them.
func Parse(name string, data []byte) (*Identity, error) {
	id := &Identity{Libraries: []string{}, Versions: []string{}, RPaths: []string{}, Environment: []string{}, Symbols: []string{}, Texts: []string{}, Instructions: []string{}, InstructionsFrom: []string{}}
	var err error
	switch {
	case bytes.HasPrefix(data, []byte("\x7fELF")):
		err = id.readELF(name, data)
	case bytes.HasPrefix(data, []byte("\xcf\xfa\xed\xfe")):
		err = id.readMachO(name, data)
	case isUniversal(data):
		err = badFormat(name, "a universal file of %d architectures: take the one that runs out with `lipo -thin`", data[7])
	case bytes.HasPrefix(data, []byte("\xce\xfa\xed\xfe")), bytes.HasPrefix(data, []byte("\xfe\xed\xfa\xce")):
		err = badFormat(name, "a Mach-O file of 32 bits")
	case bytes.HasPrefix(data, []byte("\xfe\xed\xfa\xcf")):
		err = badFormat(name, "a big-endian Mach-O file")
	case bytes.HasPrefix(data, []byte("MZ")):
		err = badFormat(name, "a program for Windows")
	case bytes.HasPrefix(data, []byte("!<arch>")):
		err = badFormat(name, "a static library")
	case bytes.HasPrefix(data, []byte("version https://git-lfs")):
		err = badFormat(name, "a Git LFS pointer")
	case len(data) == 0:
		err = badFormat(name, "an empty file")
	case bytes.HasPrefix(data, []byte("#!")):
		err = badFormat(name, "a script")
	case packedAs(data) != "":
		err = badFormat(name, "%s: unpack it", packedAs(data))
	default:
		err = badFormat(name, "%d bytes that begin %q", len(data), data[:min(4, len(data))])
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	id.SHA256 = hex.EncodeToString(sum[:])
	for _, text := range whispercpp.CoreMLTexts {
		if bytes.Contains(data, []byte(text)) {
			id.Texts = append(id.Texts, text)
		}
	}
	id.StandIn = bytes.Contains(data, []byte(standInText))
	id.Double = bytes.Contains(data, []byte(doubleText))
	id.CLI = bytes.Contains(data, []byte(whispercpp.ContextErrorText))
	id.Stub = bytes.Contains(data, []byte(whispercpp.StubText))
	return id, nil
}

// packedAs names the form in which a release may carry a program, or "".
func packedAs(data []byte) string {
	for _, p := range []struct{ magic, name string }{
		{"\x1f\x8b", "a gzip file"}, {"PK\x03\x04", "a zip archive"}, {"\xfd7zXZ\x00", "an xz file"}, {"\x28\xb5\x2f\xfd", "a zstd file"}, {"BZh", "a bzip2 file"}, {"7z\xbc\xaf\x27\x1c", "a 7z archive"},
		{"xar!", "an installer package"},
	} {
		if bytes.HasPrefix(data, []byte(p.magic)) {
			return p.name
		}
	}
	if len(data) > 262 && string(data[257:262]) == "ustar" {
		return "a tar archive"
	}
	return ""
}

// isUniversal tells a universal file from Java's classes, which begin alike: those have a version of 45 or more
// where a universal file counts its architectures.
func isUniversal(data []byte) bool {
	return len(data) >= 8 && (bytes.HasPrefix(data, []byte("\xca\xfe\xba\xbe\x00\x00\x00")) && data[7] < 45 ||
		bytes.HasPrefix(data, []byte("\xca\xfe\xba\xbf\x00\x00\x00")))
}

// keepBridge keeps the bridge's own symbols of a symbol table, sorted, without the underscore that Mach-O puts before.
func keepBridge(names []string) []string {
	out := []string{}
	for _, name := range names {
		if name = strings.TrimPrefix(name, "_"); slices.Contains(whispercpp.BridgeSymbols, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// LinksCoreML says whether the loader will load Apple's CoreML framework.
func (id *Identity) LinksCoreML() bool {
	return slices.ContainsFunc(id.Libraries, func(l string) bool {
		return strings.HasPrefix(l, "/System/Library/Frameworks/CoreML.framework/")
	})
}

// Foreign lists what the file says that leads the loader out of the operating system.
func (id *Identity) Foreign() []string {
	system := []string{"/usr/lib/", "/lib/", "/lib64/", "/usr/lib64/", "/lib32/", "/libx32/"}
	if id.Format == "mach-o" {
		system = []string{"/usr/lib/", "/System/Library/"}
	}
	inSystem := func(path string) bool {
		// The loaders put other paths in place of $ORIGIN and the like.
		return slices.ContainsFunc(system, func(s string) bool { return strings.HasPrefix(path+"/", s) }) &&
			!strings.Contains(path, "..") && !strings.Contains(path, "$")
	}
	out := []string{}
	if id.Loader != "" && !inSystem(id.Loader) {
		out = append(out, "loader "+id.Loader)
	}
	for _, path := range id.RPaths {
		if !inSystem(path) {
			// An empty one is the folder in which the program was started.
			out = append(out, fmt.Sprintf("rpath %q", path))
		}
	}
	for _, name := range id.Libraries {
		// On Linux a bare name is searched in the system's folders and in the rpaths; macOS looks where the program was started.
		if (strings.Contains(name, "/") || id.Format == "mach-o") && !inSystem(name) {
			out = append(out, fmt.Sprintf("library %q", name))
		}
	}
	for _, setting := range id.Environment {
		out = append(out, fmt.Sprintf("loader setting %q", setting))
	}
	return out
}
