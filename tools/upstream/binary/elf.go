package binary

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

func (id *Identity) readELF(name string, data []byte) error {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return badFormat(name, "a damaged ELF file: %s", damage(err, data))
	}
	defer f.Close()
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return badFormat(name, "an ELF file that is not a program: %v", f.Type)
	}
	id.Format, id.OS = "elf", "linux"
	if f.OSABI != elf.ELFOSABI_NONE && f.OSABI != elf.ELFOSABI_LINUX {
		id.OS = f.OSABI.String()
	}
	switch {
	case f.Machine == elf.EM_X86_64 && f.Class == elf.ELFCLASS64:
		id.Arch = "x86_64"
	case f.Machine == elf.EM_AARCH64 && f.Class == elf.ELFCLASS64 && f.Data == elf.ELFDATA2LSB:
		id.Arch = "arm64"
	default:
		id.Arch = fmt.Sprintf("%v %v", f.Machine, f.Class)
	}
	if err := id.readSegments(f, data); err != nil {
		return badFormat(name, "a damaged ELF file: %v", err)
	}
	// Go's linker puts the build id beside the segments of notes.
	if s := f.Section(".note.gnu.build-id"); id.ID == "" && s != nil && s.Size <= 4096 {
		if note, err := s.Data(); err == nil {
			id.readNotes(f, note, s.Addralign)
		}
	}
	// A shared library has the same type as a program that may stand anywhere; only a program says where it begins.
	if f.Entry == 0 {
		return badFormat(name, "an ELF file that is not a program: no entry point")
	}
	if !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_LOAD }) {
		return badFormat(name, "an ELF file that is not a program: nothing in it is loaded")
	}
	var names []string
	symbols, err := f.Symbols()
	if err != nil {
		symbols = nil // stripped
	}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			names = append(names, s.Name)
		}
	}
	id.Symbols = keepBridge(names)
	id.Versions = newestOf(id.Needs)
	dynamic, err := f.DynamicSymbols()
	if err != nil {
		dynamic = nil // no table
	}
	id.readInstructions(functionsELF(f, data, append(symbols, dynamic...)))
	id.sortInstructions()
	return nil
}

// functionsELF are the functions that a symbol table defines and whose code is in the file.
func functionsELF(f *elf.File, data []byte, symbols []elf.Symbol) []function {
	var out []function
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF || elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 {
			continue
		}
		if code, err := atAddress(f, data, s.Value, min(s.Size, functionBytes)); err == nil {
			out = append(out, function{s.Name, code})
		}
	}
	return out
}

// readSegments reads what the loader reads: segments, not sections, which need not be there and may say something else.
func (id *Identity) readSegments(f *elf.File, data []byte) error {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD || p.Filesz == 0 {
			continue
		}
		end := p.Off + p.Filesz
		if end < p.Off || end > uint64(len(data)) {
			return fmt.Errorf("%v at %d of %d bytes, beyond the end of the file at %d", p.Type, p.Off, p.Filesz, len(data))
		}
		part := data[p.Off:end]
		switch p.Type {
		case elf.PT_INTERP:
			// The kernel takes the first one.
			if text, _, _ := bytes.Cut(part, []byte{0}); id.Loader == "" {
				id.Loader = string(text)
			}
		case elf.PT_NOTE: // GNU's linker puts PT_GNU_PROPERTY over one of these
			id.readNotes(f, part, p.Align)
		case elf.PT_DYNAMIC:
			if err := id.readDynamic(f, part, data); err != nil {
				return err
			}
		}
	}
	for _, p := range f.Progs {
		if end := p.Off + p.Filesz; p.Type == elf.PT_LOAD && (end < p.Off || end > uint64(len(data))) {
			return fmt.Errorf("it was cut short: a segment ends at %d, the file at %d", end, len(data))
		}
	}
	return nil
}

// Dynamic tags that debug/elf does not name.
const (
	dtAudit    elf.DynTag = 0x6ffffefc
	dtDepAudit elf.DynTag = 0x6ffffefb
)

// readDynamic reads the names in a dynamic segment: pairs of a tag and a value, an offset into the table of strings.
func (id *Identity) readDynamic(f *elf.File, part, data []byte) error {
	word := 8
	if f.Class == elf.ELFCLASS32 {
		word = 4
	}
	number := func(at int) uint64 {
		if word == 4 {
			return uint64(f.ByteOrder.Uint32(part[at:]))
		}
		return f.ByteOrder.Uint64(part[at:])
	}
	type entry struct {
		tag   elf.DynTag
		value uint64
	}
	var entries []entry
	var strtab, size, needs, libraries uint64
	for at := 0; at+2*word <= len(part); at += 2 * word {
		e := entry{elf.DynTag(number(at)), number(at + word)}
		if e.tag == elf.DT_NULL {
			break
		}
		switch e.tag {
		case elf.DT_STRTAB:
			strtab = e.value
		case elf.DT_STRSZ:
			size = e.value
		case dtVerNeed:
			needs = e.value
		case dtVerNeedNum:
			libraries = e.value
		case elf.DT_NEEDED, elf.DT_RPATH, elf.DT_RUNPATH, elf.DT_AUXILIARY, elf.DT_FILTER, dtAudit, dtDepAudit:
			entries = append(entries, e)
		}
	}
	if len(entries) == 0 {
		return nil
	}
	table, err := atAddress(f, data, strtab, size)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.value >= uint64(len(table)) {
			return fmt.Errorf("%v names a text at %d of %d bytes", e.tag, e.value, len(table))
		}
		raw, _, ended := bytes.Cut(table[e.value:], []byte{0})
		if !ended {
			return fmt.Errorf("%v names a text without an end", e.tag)
		}
		switch text := string(raw); e.tag {
		case elf.DT_RPATH, elf.DT_RUNPATH:
			id.RPaths = append(id.RPaths, strings.Split(text, ":")...)
		default:
			id.Libraries = append(id.Libraries, text)
		}
	}
	if libraries == 0 {
		return nil
	}
	records, err := fromAddress(f, data, needs)
	if err != nil {
		return err
	}
	id.Needs, err = readNeeds(f, records, table, libraries)
	return err
}

// fromAddress returns what is loaded from an address on, to the end of its segment.
func fromAddress(f *elf.File, data []byte, address uint64) ([]byte, error) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && address >= p.Vaddr && address-p.Vaddr < p.Filesz {
			return atAddress(f, data, address, p.Filesz-(address-p.Vaddr))
		}
	}
	return nil, fmt.Errorf("the versions that it needs, at address %#x, are in no segment of the file", address)
}

// atAddress returns the size bytes of the file that are loaded at an address.
func atAddress(f *elf.File, data []byte, address, size uint64) ([]byte, error) {
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || address < p.Vaddr || address-p.Vaddr > p.Filesz || size > p.Filesz-(address-p.Vaddr) {
			continue
		}
		at := p.Off + (address - p.Vaddr)
		if at < p.Off || at > uint64(len(data)) || size > uint64(len(data))-at {
			continue
		}
		return data[at : at+size], nil
	}
	return nil, fmt.Errorf("the table of strings at address %#x with %d bytes is in no segment of the file", address, size)
}

// readNotes looks for the build id and for properties: name size, size, type, "GNU\0", the data; each part padded.
func (id *Identity) readNotes(f *elf.File, part []byte, align uint64) {
	if align != 8 {
		align = 4
	}
	pad := func(n uint64) uint64 { return (n + align - 1) &^ (align - 1) }
	for len(part) >= 12 {
		name, size, kind := uint64(f.ByteOrder.Uint32(part)), uint64(f.ByteOrder.Uint32(part[4:])), f.ByteOrder.Uint32(part[8:])
		at := pad(12 + name)
		if at > uint64(len(part)) || size > uint64(len(part))-at {
			return
		}
		switch gnu := string(part[12:12+name]) == "GNU\x00"; {
		case gnu && kind == 3 && size <= 64:
			id.ID = hex.EncodeToString(part[at : at+size])
		case gnu && kind == noteProperty:
			id.readProperties(f.ByteOrder, part[at:at+size])
		}
		if at = pad(at + size); at > uint64(len(part)) {
			return
		}
		part = part[at:]
	}
}
