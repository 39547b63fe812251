package bindiff_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/bindiff"
)

// section is one section of a program made for a test.
type section struct {
	name    string
	content string
	flags   uint64
}

// elf64 is a 64-bit little-endian ELF with these sections.
func elf64(sections ...section) []byte {
	names := "\x00"
	body := []byte{}
	type header struct {
		Name, Type                uint32
		Flags, Addr, Offset, Size uint64
		Link, Info                uint32
		Align, EntSize            uint64
	}
	headers := []header{{}}
	for _, s := range append(slices.Clone(sections), section{name: ".shstrtab"}) {
		h := header{Name: uint32(len(names)), Type: 1, Flags: s.flags, Offset: uint64(64 + len(body)), Size: uint64(len(s.content)), Align: 1}
		names += s.name + "\x00"
		if s.name == ".shstrtab" {
			h.Type = 3
			s.content = names
			h.Size = uint64(len(names))
		}
		body = append(body, s.content...)
		headers = append(headers, h)
	}
	var b bytes.Buffer
	b.WriteString("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	_ = binary.Write(&b, binary.LittleEndian, struct {
		Type, Machine          uint16
		Version                uint32
		Entry, Phoff, Shoff    uint64
		Flags                  uint32
		Ehsize, Phsize, Phnum  uint16
		Shsize, Shnum, Shstrdx uint16
	}{2, 62, 1, 0, 0, uint64(64 + len(body)), 0, 64, 56, 0, 64, uint16(len(headers)), uint16(len(headers) - 1)})
	b.Write(body)
	_ = binary.Write(&b, binary.LittleEndian, headers)
	return b.Bytes()
}

// macho64 is an arm64 Mach-O with a UUID and a signature.
func macho64(uuid, signature string) []byte {
	var b bytes.Buffer
	word := func(words ...uint32) { _ = binary.Write(&b, binary.LittleEndian, words) }
	word(0xfeedfacf, 0x0100000c, 0, 2, 2, 24+16, 0, 0)
	word(0x1b, 24)
	b.WriteString(uuid)
	word(0x1d, 16, uint32(32+24+16), uint32(len(signature)))
	b.WriteString(signature)
	return b.Bytes()
}

const executable = 4

func TestCompare(t *testing.T) {
	base := func() []section {
		return []section{{".note.gnu.build-id", "GNU\x00abcdefgh", 0}, {".text", "\x90\x90\xc3", executable}, {".rodata", "plain text here\x00", 0}}
	}
	with := func(i int, content string) []byte {
		s := base()
		s[i].content = content
		return elf64(s...)
	}
	for _, c := range []struct {
		name          string
		a, b          []byte
		section, what string
	}{
		{"build id", elf64(base()...), with(0, "GNU\x00abcdefgX"), ".note.gnu.build-id", bindiff.BuildID},
		{"code", elf64(base()...), with(1, "\x90\x91\xc3"), ".text", bindiff.Code},
		{"data", elf64(base()...), with(2, "\x01\x02\x03"), ".rodata", bindiff.Data},
		{"path", with(2, "\x00/home/ann/src/whisper.cpp\x00"), with(2, "\x00/home/bob/src/whisper.cpp\x00"), ".rodata", bindiff.Path},
		{"date", with(2, "\x00built Aug  1 2026 12:00:00\x00"), with(2, "\x00built Aug  2 2026 12:00:01\x00"), ".rodata", bindiff.Date},
		{"debug", elf64(section{".debug_info", "\x01\x02", 0}), elf64(section{".debug_info", "\x01\x03", 0}), ".debug_info", bindiff.Debug},
		{"section gone", elf64(base()...), elf64(base()[:2]...), ".rodata", bindiff.Layout},
		{"section new", elf64(base()[:2]...), elf64(base()...), ".rodata", bindiff.Layout},
		{"uuid", macho64("0123456789abcdef", "sig"), macho64("0123456789abcdeX", "sig"), "LC_UUID", bindiff.UUID},
		{"signature", macho64("0123456789abcdef", "sig"), macho64("0123456789abcdef", "sIg"), "LC_CODE_SIGNATURE", bindiff.Signature},
		{"no program", []byte("a script /x"), []byte("a script /y"), "file", bindiff.Data},
		{"trailing bytes", elf64(base()...), append(elf64(base()...), 0), "file", bindiff.Layout},
	} {
		got := bindiff.Compare(c.a, c.b)
		if len(got) != 1 || got[0].Section != c.section || got[0].What != c.what || got[0].Bytes == 0 {
			t.Errorf("%s: %v, want one difference in %s: %s", c.name, got, c.section, c.what)
		}
	}
	if got := bindiff.Compare(elf64(base()...), elf64(base()...)); got != nil {
		t.Errorf("equal files differ: %v", got)
	}
}

// TestText holds that the texts around a difference are shown, and bounded.
func TestText(t *testing.T) {
	a := elf64(section{".rodata", "\x00/home/ann/src\x00", 0})
	b := elf64(section{".rodata", "\x00/home/bob/src\x00", 0})
	want := []bindiff.Difference{{Section: ".rodata", What: bindiff.Path, Offset: 7, Bytes: 3, From: "/home/ann/src", To: "/home/bob/src"}}
	if diff := cmp.Diff(want, bindiff.Compare(a, b)); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	long := bindiff.Compare([]byte(strings.Repeat("a", 9000)), []byte(strings.Repeat("a", 5000)+strings.Repeat("b", 4000)))
	if len(long) != 1 || len(long[0].From) > 400 {
		t.Errorf("long text: %d characters", len(long[0].From))
	}
}

func FuzzCompare(f *testing.F) {
	f.Add(elf64(section{".text", "x", executable}), elf64(section{".text", "y", executable}))
	f.Add(macho64("0123456789abcdef", "sig"), macho64("0123456789abcdef", "sIg"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if got := bindiff.Compare(a, b); (len(got) == 0) != bytes.Equal(a, b) {
			t.Fatalf("%d differences, equal: %v", len(got), bytes.Equal(a, b))
		}
	})
}
