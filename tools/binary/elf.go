package binary

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"strings"
)

func (id *Identity) readELF(name string, data []byte) error {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return badFormat(name, "a damaged ELF file: %v", err)
	}
	defer f.Close()
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return badFormat(name, "an ELF file that is no program: %v", f.Type)
	}
	id.Format, id.OS = "elf", "linux"
	if f.OSABI != elf.ELFOSABI_NONE && f.OSABI != elf.ELFOSABI_LINUX {
		id.OS = f.OSABI.String()
	}
	switch f.Machine {
	case elf.EM_X86_64:
		id.Arch = "x86_64"
	case elf.EM_AARCH64:
		id.Arch = "arm64"
	default:
		id.Arch = f.Machine.String()
	}
	// A static program has no dynamic section; that is no damage.
	if libraries, err := f.DynString(elf.DT_NEEDED); err == nil && libraries != nil {
		id.Libraries = libraries
	}
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		paths, err := f.DynString(tag)
		if err != nil {
			continue
		}
		for _, p := range paths {
			id.RPaths = append(id.RPaths, strings.Split(p, ":")...)
		}
	}
	id.ID = buildID(f)
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
	return nil
}

// buildID reads the note that the linker leaves: name size, size, type 3, "GNU\0", the id.
func buildID(f *elf.File) string {
	s := f.Section(".note.gnu.build-id")
	if s == nil || s.Size > 4096 {
		return ""
	}
	note, err := s.Data()
	if err != nil || len(note) < 16 || f.ByteOrder.Uint32(note) != 4 || string(note[12:16]) != "GNU\x00" {
		return ""
	}
	n := f.ByteOrder.Uint32(note[4:])
	if uint64(n) > uint64(len(note)-16) {
		return ""
	}
	return hex.EncodeToString(note[16 : 16+n])
}
