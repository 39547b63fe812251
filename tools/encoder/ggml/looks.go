package ggml

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func notGGML(looks, detail string) error {
	return &FormatError{Problem: NotGGML, Offset: -1, Looks: looks, Detail: detail}
}

// describeFolder says what a folder given as a model file is. People pass the
// encoder where the model belongs.
func describeFolder(path string) string {
	switch strings.ToLower(filepath.Ext(filepath.Clean(path))) {
	case ".mlmodelc":
		return "expected a ggml-*.bin file, found a compiled Core ML encoder (.mlmodelc folder): give the .bin that stands beside it"
	case ".mlpackage":
		return "expected a ggml-*.bin file, found a Core ML package (.mlpackage folder): give the .bin that stands beside it"
	}
	if _, err := os.Stat(filepath.Join(path, "coremldata.bin")); err == nil {
		return "expected a ggml-*.bin file, found a compiled Core ML encoder (a folder with coremldata.bin)"
	}
	return "expected a ggml-*.bin file, found a folder"
}

// looksLike names the format that a file's first bytes belong to, or "".
func looksLike(head []byte) string {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	lower := bytes.ToLower(text[:min(len(text), 64)])
	has := func(p string) bool { return bytes.HasPrefix(head, []byte(p)) }
	u32 := func(at int) uint32 {
		if len(head) < at+4 {
			return 0
		}
		return binary.LittleEndian.Uint32(head[at:])
	}
	switch {
	case len(head) == 0:
		return "an empty file"
	case bytes.HasPrefix(text, []byte("version https://git-lfs.github.com/spec/")):
		return "a Git LFS pointer"
	case bytes.HasPrefix(text, []byte("/annex/objects/")):
		return "a git-annex pointer"
	case bytes.HasPrefix(text, []byte("outs:\n- md5: ")), bytes.HasPrefix(text, []byte("outs:\r\n- md5: ")):
		return "a DVC pointer"
	case bytes.HasPrefix(lower, []byte("<!doctype html")), bytes.HasPrefix(lower, []byte("<html")):
		return "an HTML page"
	case bytes.HasPrefix(lower, []byte("<?xml")):
		return "an XML document (perhaps a storage service's error)"
	}
	for _, f := range beginnings {
		if slices.ContainsFunc(f.with, has) {
			return f.name
		}
	}
	switch {
	case len(head) > 262 && bytes.Equal(head[257:262], []byte("ustar")):
		return "a tar archive: unpack it"
	case has("RIFF") && len(head) >= 12 && string(head[8:12]) == "WAVE":
		return "a WAV file"
	case len(head) >= 10 && head[8] == '{' && binary.LittleEndian.Uint64(head) < 1<<30:
		return "a safetensors file"
	case u32(0) == 502 && u32(4) == 5:
		return "a compiled Core ML part (coremldata.bin)"
	case u32(4) == 2 && u32(0) < 1<<20 && u32(64) == 0xDEADBEEF:
		return "a Core ML weight file (weight.bin)"
	case len(head) >= 17 && bytes.HasPrefix(head[4:], []byte("\x0c\x00WhisperSpec")):
		return "a CTranslate2 model"
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		return "a JSON document"
	case len(bytes.Trim(head, "\x00")) == 0:
		return zeros
	case has("\xef\xbb\xbf") && bytes.IndexByte(head, 0) >= 0:
		return "a file with a byte-order mark before it: a text editor or a script has changed it, copy it again"
	}
	return ""
}

// zeros is what a copy or a download leaves that reserved its place first.
const zeros = "a file that begins with zeros alone: a copy or download was cut short"

// Looks names what a file is that is no model and no part of a Core ML encoder, and what to do about it: an archive, a
// pointer of a version control, a web page. It is "" for what could be either, and for what cannot be read.
func Looks(path string) string {
	head, ok := beginning(path, headBytes)
	if !ok {
		return ""
	}
	looks := looksLike(head[:min(len(head), 512)])
	switch looks {
	case "", "a Core ML program text (model.mil)", "a compiled Core ML part (coremldata.bin)", "a Core ML weight file (weight.bin)", "a JSON document":
		if lineEndsChanged(head) {
			return "a binary file whose line feeds became CR LF: a checkout or a transfer took it for text, copy it again as binary"
		}
		return ""
	}
	return looks + doAbout[looks]
}

// headBytes is how much of a file [Looks] reads.
const headBytes = 1 << 20

// lineEndsChanged says that each of a binary file's line feeds follows a carriage return. Of 8 that are there by chance this is
// not so.
func lineEndsChanged(head []byte) bool {
	feeds := bytes.Count(head, []byte("\n"))
	return feeds >= 8 && bytes.Count(head, []byte("\r\n")) == feeds && bytes.IndexByte(head, 0) >= 0
}

// doAbout says what to do about what a checkout or a download leaves in a file's place.
var doAbout = map[string]string{
	"a Git LFS pointer":   ": run git lfs pull, or download the file itself",
	"a git-annex pointer": ": run git annex get",
	"a DVC pointer":       ": run dvc pull",
	"an HTML page":        ": the download was answered with a web page, fetch the raw file",
}

// beginnings are formats that their first bytes tell.
var beginnings = []struct {
	name string
	with []string
}{
	{"a GGUF file", []string{"GGUF", "FUGG"}},
	{"a big-endian ggml file", []string{"ggml"}},
	{"a file of ggml's later container formats (ggjt, ggmf, ggla, ggap)", []string{"tjgg", "fmgg", "algg", "pagg"}},
	{"a zip archive (or a PyTorch checkpoint)", []string{"PK\x03\x04", "PK\x05\x06"}},
	{"a gzip file: unpack it", []string{"\x1f\x8b"}},
	{"an xz file: unpack it", []string{"\xfd7zXZ\x00"}},
	{"a zstd file: unpack it", []string{"\x28\xb5\x2f\xfd"}},
	{"a bzip2 file: unpack it", []string{"BZh"}},
	{"a 7z archive: unpack it", []string{"7z\xbc\xaf\x27\x1c"}},
	{"a RAR archive: unpack it", []string{"Rar!\x1a\x07"}},
	{"an lz4 file: unpack it", []string{"\x04\x22\x4d\x18"}},
	{"a Python pickle (an old PyTorch checkpoint)", []string{"\x80\x02", "\x80\x03", "\x80\x04", "\x80\x05"}},
	{"an audio file", []string{"ID3", "fLaC", "OggS"}},
	{"an ELF program", []string{"\x7fELF"}},
	{"a Mach-O program", []string{"\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"}},
	{"a Core ML program text (model.mil)", []string{"program("}},
}

// accidents are what a download or a checkout leaves in place of a model.
var accidents = []string{"", "an empty file", "a Git LFS pointer", "an HTML page", "an XML document (perhaps a storage service's error)", "a JSON document", "a git-annex pointer", "a DVC pointer", zeros}

// beginning reads the first bytes of a regular file, at most so many; it is false where there is none or it cannot be opened.
func beginning(path string, most int) ([]byte, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	head := make([]byte, most)
	n, _ := io.ReadFull(f, head) // what cannot be read is short, and named so
	return head[:n], true
}

// OtherFormat names the format of a file that is something else than a model: an archive, another library's checkpoint, a program. It is ""
// for a model, for what stands in a model's place by accident, and for what cannot be read.
func OtherFormat(path string) string {
	head, ok := beginning(path, 512)
	if !ok {
		return ""
	}
	if len(head) >= 4 && binary.LittleEndian.Uint32(head) == Magic {
		return ""
	}
	if looks := looksLike(head); !slices.Contains(accidents, looks) {
		return looks
	}
	return ""
}

func describeHead(head []byte, looks string) string {
	first := fmt.Sprintf("% x", head[:min(len(head), 4)])
	switch {
	case len(head) == 0:
		return "an empty file"
	case looks == "a Git LFS pointer":
		return looks + ": run 'git lfs pull', or download the model itself"
	case looks == "an HTML page":
		return looks + ": the download was answered with a web page, fetch the raw file"
	case looks != "":
		return first + ": " + looks
	}
	return first
}
