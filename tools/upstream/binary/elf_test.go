package binary

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// elfProgram is a program in the making: what its loader would read, and nothing else. It has no sections.
type elfProgram struct {
	interp  string
	dynamic [][2]any // a tag, and a text or a number
}

const elfBase = 0x400000

func (p elfProgram) bytes() []byte {
	var table bytes.Buffer
	table.WriteByte(0)
	var dynamic bytes.Buffer
	put := func(tag elf.DynTag, value uint64) {
		_ = binary.Write(&dynamic, binary.LittleEndian, []uint64{uint64(tag), value})
	}
	for _, d := range p.dynamic {
		switch v := d[1].(type) {
		case string:
			put(d[0].(elf.DynTag), uint64(table.Len()))
			table.WriteString(v + "\x00")
		case int:
			put(d[0].(elf.DynTag), uint64(v))
		}
	}
	const headers = 64 + 3*56
	interp := p.interp + "\x00"
	stringsAt := uint64(headers + len(interp))
	dynamicAt := stringsAt + uint64(table.Len())
	put(elf.DT_STRTAB, elfBase+stringsAt)
	put(elf.DT_STRSZ, uint64(table.Len()))
	put(elf.DT_NULL, 0)
	end := dynamicAt + uint64(dynamic.Len())

	var out bytes.Buffer
	write := func(v any) { _ = binary.Write(&out, binary.LittleEndian, v) }
	write(elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1,
		Entry: elfBase + 64, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 3,
	})
	segment := func(kind elf.ProgType, at, size uint64) {
		write(elf.Prog64{Type: uint32(kind), Off: at, Vaddr: elfBase + at, Filesz: size, Memsz: size})
	}
	segment(elf.PT_LOAD, 0, end+uint64(len(texts)))
	segment(elf.PT_INTERP, headers, uint64(len(interp)))
	segment(elf.PT_DYNAMIC, dynamicAt, uint64(dynamic.Len()))
	out.WriteString(interp)
	out.Write(table.Bytes())
	out.Write(dynamic.Bytes())
	out.WriteString(texts)
	return out.Bytes()
}

// The loader reads segments: a program whose sections were taken away still says what it loads.
func TestELFWithoutSections(t *testing.T) {
	p := elfProgram{"/lib64/ld-linux-x86-64.so.2", [][2]any{
		{elf.DT_NEEDED, "libc.so.6"}, {elf.DT_NEEDED, "/opt/x/libggml.so"}, {elf.DT_RUNPATH, "$ORIGIN/../lib::/usr/lib"}, {elf.DT_RPATH, "lib"},
	}}
	id, err := Parse("cli", p.bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`rpath "$ORIGIN/../lib"`, `rpath ""`, `rpath "lib"`, `library "/opt/x/libggml.so"`}
	if diff := cmp.Diff(want, id.Foreign()); diff != "" {
		t.Errorf("foreign (-want +got):\n%s", diff)
	}
	if id.Arch != "x86_64" || id.Loader != "/lib64/ld-linux-x86-64.so.2" || !id.CLI {
		t.Errorf("identity %+v", id)
	}
}

func TestELFForeign(t *testing.T) {
	for name, tc := range map[string]struct {
		program elfProgram
		want    string
	}{
		"clean":            {elfProgram{"/lib64/ld-linux-x86-64.so.2", [][2]any{{elf.DT_NEEDED, "libc.so.6"}}}, ""},
		"musl":             {elfProgram{"/lib/ld-musl-x86_64.so.1", nil}, ""},
		"own loader":       {elfProgram{"/nix/store/x/ld-linux.so.2", nil}, "loader /nix/store/x/ld-linux.so.2"},
		"auditor":          {elfProgram{"/lib/ld.so", [][2]any{{dtAudit, "/tmp/audit.so"}}}, `library "/tmp/audit.so"`},
		"filter":           {elfProgram{"/lib/ld.so", [][2]any{{elf.DT_FILTER, "/tmp/f.so"}}}, `library "/tmp/f.so"`},
		"system, then out": {elfProgram{"/lib/ld.so", [][2]any{{elf.DT_RUNPATH, "/usr/lib/../../tmp"}}}, `rpath "/usr/lib/../../tmp"`},
		"system by name":   {elfProgram{"/lib/ld.so", [][2]any{{elf.DT_RUNPATH, "/usr/library"}}}, `rpath "/usr/library"`},
		"in the system":    {elfProgram{"/lib/ld.so", [][2]any{{elf.DT_RUNPATH, "/usr/lib/x86_64-linux-gnu"}}}, ""},
	} {
		id, err := Parse(name, tc.program.bytes())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := strings.Join(id.Foreign(), "; "); got != tc.want {
			t.Errorf("%s: foreign %q, want %q", name, got, tc.want)
		}
	}
}

func TestELFRefuses(t *testing.T) {
	whole := elfProgram{"/lib/ld.so", [][2]any{{elf.DT_NEEDED, "libc.so.6"}}}.bytes()
	edit := func(at int, value ...byte) []byte {
		data := bytes.Clone(whole)
		copy(data[at:], value)
		return data
	}
	for name, data := range map[string][]byte{
		"cut short":             whole[:len(whole)-1],
		"cut in its tables":     whole[:300],
		"object":                edit(16, 1),
		"core":                  edit(16, 4),
		"library":               edit(24, 0, 0, 0, 0, 0, 0, 0, 0),
		"texts beyond the file": moveStrings(whole),
	} {
		_, err := Parse(name, data)
		var r *reason.Error
		if !errors.As(err, &r) || r.Code != "BINARY_FORMAT" {
			t.Errorf("%s: error %v, want BINARY_FORMAT", name, err)
		}
	}
}

// moveStrings moves the table of strings to where no segment is.
func moveStrings(whole []byte) []byte {
	data := bytes.Clone(whole)
	at := bytes.LastIndex(data, []byte{byte(elf.DT_STRTAB), 0, 0, 0, 0, 0, 0, 0})
	binary.LittleEndian.PutUint64(data[at+8:], 1)
	return data
}
