package binary

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// What gcc 12 and clang 21 wrote for `return 0` and `return 1`, at -O0, -O2, -Os and -Oz, with and without -fcf-protection, and
// near misses.
func TestConstant(t *testing.T) {
	const ret = "\xc0\x03\x5f\xd6"
	for _, c := range []struct {
		arch, code string
		value      uint32
		ok         bool
	}{
		{"x86_64", "\xb8\x01\x00\x00\x00\xc3", 1, true},
		{"x86_64", "\x31\xc0\xc3\x90\x90", 0, true},
		{"x86_64", "\xf3\x0f\x1e\xfa\xb8\x01\x00\x00\x00\xc3", 1, true},
		{"x86_64", "\x55\x48\x89\xe5\xb8\x01\x00\x00\x00\x5d\xc3", 1, true},
		{"x86_64", "\x55\x48\x89\xe5\x31\xc0\x5d\xc3", 0, true},
		{"x86_64", "\x6a\x01\x58\xc3", 1, true},
		{"x86_64", "\x31\xc0\xff\xc0\xc3", 1, true},
		{"x86_64", "\xb8\x02\x00\x00\x00\xc3", 2, false},
		{"x86_64", "\xb8\x01\x00\x00\x00\x5d\xc3", 1, false},
		{"x86_64", "\x55\x48\x89\xe5\xb8\x01\x00\x00\x00\xc3", 1, false},
		{"x86_64", "\xb8\x01\x00\x00\x00\xe9", 1, false},
		{"x86_64", "\x8b\x05\x00\x00\x00\x00\xc3", 0, false}, // a variable
		{"x86_64", "\xb8\x01", 0, false},
		{"x86_64", "", 0, false},
		{"arm64", "\x20\x00\x80\x52" + ret, 1, true},
		{"arm64", "\xe0\x03\x00\x32" + ret, 1, true},
		{"arm64", "\x00\x00\x80\x52" + ret, 0, true},
		{"arm64", "\xe0\x03\x1f\x2a" + ret, 0, true},
		{"arm64", "\x5f\x24\x03\xd5\x20\x00\x80\x52" + ret, 1, true},
		{"arm64", "\x40\x00\x80\x52" + ret, 0, false},
		{"arm64", "\x20\x00\x80\x52\x20\x00\x80\x52", 1, false},
		{"arm64", "\x20\x00\x80", 0, false},
		{"riscv64", "\x20\x00\x80\x52" + ret, 0, false},
	} {
		if value, ok := constant(c.arch, []byte(c.code)); ok != c.ok || ok && value != c.value {
			t.Errorf("%s % x: %d, %v, want %d, %v", c.arch, c.code, value, ok, c.value, c.ok)
		}
	}
}

// returns is the code of functions of 16 bytes that return 1 for the named ones and 0 for the others of an architecture.
func returns(arch string, ones ...string) (names []string, code []byte) {
	bodies := map[string][2]string{"x86_64": {"\x31\xc0\xc3", "\xb8\x01\x00\x00\x00\xc3"}, "arm64": {"\x00\x00\x80\x52\xc0\x03\x5f\xd6", "\x20\x00\x80\x52\xc0\x03\x5f\xd6"}}[arch]
	for suffix := range whispercpp.Instructions[arch] {
		body := bodies[0]
		if slices.Contains(ones, suffix) {
			body = bodies[1]
		}
		names = append(names, whispercpp.InstructionPrefix+suffix)
		code = append(code, body...)
		code = append(code, make([]byte, 16-len(body))...)
	}
	return names, code
}

// withSymbols is an ELF program of x86-64 with code and a symbol table that names its functions of 16 bytes.
func withSymbols(names []string, code []byte) []byte {
	whole := elfProgram{"/lib64/ld-linux-x86-64.so.2", nil}.bytes()
	at := uint64(len(whole))
	whole = append(whole, code...)
	// The first segment has the code as well: its size in the file and in memory.
	binary.LittleEndian.PutUint64(whole[64+32:], uint64(len(whole)))
	binary.LittleEndian.PutUint64(whole[64+40:], uint64(len(whole)))
	table, symbols := []byte{0}, bytes.NewBuffer(make([]byte, elf.Sym64Size))
	for i, name := range names {
		_ = binary.Write(symbols, binary.LittleEndian, elf.Sym64{Name: uint32(len(table)), Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 1, Value: elfBase + at + uint64(16*i), Size: 16})
		table = append(append(table, name...), 0)
	}
	symbolsAt := uint64(len(whole))
	whole = append(whole, symbols.Bytes()...)
	tableAt := uint64(len(whole))
	whole = append(whole, table...)
	sections := uint64(len(whole))
	out := bytes.NewBuffer(whole)
	for _, s := range []elf.Section64{
		{},
		{Type: uint32(elf.SHT_PROGBITS), Off: at, Size: uint64(len(code))},
		{Type: uint32(elf.SHT_SYMTAB), Off: symbolsAt, Size: uint64(symbols.Len()), Link: 3, Entsize: elf.Sym64Size},
		{Type: uint32(elf.SHT_STRTAB), Off: tableAt, Size: uint64(len(table))},
	} {
		_ = binary.Write(out, binary.LittleEndian, s)
	}
	data := out.Bytes()
	binary.LittleEndian.PutUint64(data[40:], sections)
	binary.LittleEndian.PutUint16(data[58:], 64)
	binary.LittleEndian.PutUint16(data[60:], 4)
	binary.LittleEndian.PutUint16(data[62:], 3)
	return data
}

// machOWithSymbols is the same as a Mach-O of arm64: one segment with one section, and the table behind it.
func machOWithSymbols(names []string, code []byte) []byte {
	m := whisperCLI()
	const base = 0x100000000
	table, symbols := []byte{0}, []byte{}
	headers := 32
	for _, l := range m.loads {
		headers += len(l)
	}
	at := headers + 72 + 80 + 24 + len(m.tail)
	for i, name := range names {
		s := append(le(uint32(len(table))), 0x0f, 1, 0, 0) // defined in the first section
		symbols = append(symbols, binary.LittleEndian.AppendUint64(s, base+uint64(at+16*i))...)
		table = append(append(table, "_"+name...), 0)
	}
	name16 := func(s string) []byte { return append([]byte(s), make([]byte, 16-len(s))...) }
	end := uint64(at + len(code) + len(symbols) + len(table))
	segment := append(le(uint32(macho.LoadCmdSegment64), 72+80), name16("__TEXT")...)
	for _, v := range []uint64{base, end, 0, end} {
		segment = binary.LittleEndian.AppendUint64(segment, v)
	}
	segment = append(segment, le(5, 5, 1, 0)...)
	segment = append(append(segment, name16("__text")...), name16("__TEXT")...)
	segment = binary.LittleEndian.AppendUint64(segment, base+uint64(at))
	segment = binary.LittleEndian.AppendUint64(segment, uint64(len(code)))
	segment = append(segment, le(uint32(at), 4, 0, 0, 0, 0, 0, 0)...)
	symtab := le(uint32(macho.LoadCmdSymtab), 24, uint32(at+len(code)), uint32(len(names)), uint32(at+len(code)+len(symbols)), uint32(len(table)))
	m.loads = append(m.loads, segment, symtab)
	m.tail = slices.Concat(m.tail, code, symbols, table)
	return m.bytes(nil)
}

func TestInstructions(t *testing.T) {
	x86, x86Code := returns("x86_64", "avx", "avx2", "avx512")
	arm, armCode := returns("arm64", "neon", "matmul_int8")
	for name, c := range map[string]struct {
		data []byte
		want string
		all  bool
	}{
		"ELF":                       {withSymbols(x86, x86Code), "avx avx2 avx512f", true},
		"ELF, some of them":         {withSymbols(x86[:3], x86Code), "", false},
		"ELF, stripped":             {withSymbols(nil, x86Code), "", false},
		"ELF, code is another":      {withSymbols(x86, bytes.Repeat([]byte{0x90}, len(x86Code))), "", false},
		"ELF, code is not there":    {withSymbols(x86, x86Code[:16*len(x86)-16]), "", false},
		"ELF, another's functions":  {withSymbols(arm, x86Code), "", false},
		"Mach-O":                    {machOWithSymbols(arm, armCode), "i8mm neon", true},
		"Mach-O, stripped":          {machOWithSymbols(nil, armCode), "", false},
		"Mach-O, another's symbols": {machOWithSymbols(x86, armCode), "", false},
	} {
		id, err := Parse(name, c.data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(id.Instructions, " "); c.all && got != c.want || id.AllInstructions != c.all {
			t.Errorf("%s: %s, all %v (%v); want %s, all %v", name, got, id.AllInstructions, id.InstructionsFrom, c.want, c.all)
		}
	}
}

// note is a GNU note of properties with one level of x86-64, as ld -z x86-64-v3 writes it.
func note(bits uint32) []byte {
	return slices.Concat(le(4, 16, noteProperty), []byte("GNU\x00"), le(propertyISANeeded, 4, bits, 0))
}

func TestISALevel(t *testing.T) {
	f := &elf.File{FileHeader: elf.FileHeader{ByteOrder: binary.LittleEndian}}
	for name, c := range map[string]struct {
		arch string
		note []byte
		has  string
		from string
	}{
		"v3":                  {"x86_64", note(1<<2 | 1), "avx2", "the GNU note: x86-64-v3"},
		"v4":                  {"x86_64", note(1 << 3), "avx512vl", "the GNU note: x86-64-v4"},
		"v2":                  {"x86_64", note(1 << 1), "ssse3", "the GNU note: x86-64-v2"},
		"v1, the C library's": {"x86_64", note(1), "", ""},
		"arm64":               {"arm64", note(1 << 2), "", ""},
		"cut short":           {"x86_64", note(1 << 2)[:20], "", ""},
		"after another property": {"x86_64", slices.Concat(le(4, 32, noteProperty), []byte("GNU\x00"), le(0xc0000002, 4, 3, 0, propertyISANeeded, 4, 4, 0)),
			"f16c", "the GNU note: x86-64-v3"},
	} {
		id := &Identity{Arch: c.arch}
		id.readNotes(f, c.note, 8)
		if got := strings.Join(id.InstructionsFrom, ", "); got != c.from || c.has != "" && !slices.Contains(id.Instructions, c.has) || c.has == "" && len(id.Instructions) > 0 {
			t.Errorf("%s: %v from %q, want %s from %q", name, id.Instructions, got, c.has, c.from)
		}
	}
}

func TestCheckInstructions(t *testing.T) {
	names, code := returns("x86_64", "avx512", "fma")
	whole, partly, stripped := withSymbols(names, code), withSymbols(names[:2], code), withSymbols(nil, code)
	lacks := func(known bool, lacking ...string) func([]string) ([]string, bool) {
		return func([]string) ([]string, bool) { return lacking, known }
	}
	for name, c := range map[string]struct {
		data []byte
		want Want
		code string
		text string
	}{
		"not asked":                    {whole, Want{}, "", ""},
		"all there":                    {whole, Want{Lacks: lacks(true)}, "", ""},
		"one missing":                  {whole, Want{Lacks: lacks(true, "avx512f")}, reason.CPUFeaturesMissing, "one without avx512f"},
		"processor unknown":            {whole, Want{Lacks: lacks(false)}, reason.BinaryUntold, "does not say what its processor has"},
		"stripped":                     {stripped, Want{Lacks: lacks(true)}, reason.BinaryUntold, "stripped"},
		"some of the functions":        {partly, Want{Lacks: lacks(true)}, reason.BinaryUntold, "only 2 of ggml's 13 functions"},
		"of another architecture":      {whole, Want{Arch: "arm64", Lacks: lacks(true, "avx512f")}, reason.BinaryPlatform, "x86_64"},
		"stripped, of another machine": {stripped, Want{Arch: "arm64", Lacks: lacks(true)}, reason.BinaryPlatform, "x86_64"},
	} {
		id, err := Parse(name, c.data)
		if err != nil {
			t.Fatal(err)
		}
		var found []reason.Reason
		for _, r := range Check("cli", id, c.want) {
			if r.Code != reason.BinaryNoSymbols {
				found = append(found, r)
			}
		}
		switch {
		case c.code == "" && len(found) > 0, c.code != "" && (len(found) != 1 || found[0].Code != c.code || !strings.Contains(found[0].Found, c.text)):
			t.Errorf("%s: %v, want %s with %q", name, found, c.code, c.text)
		}
	}
}
