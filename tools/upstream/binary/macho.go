package binary

import (
	"bytes"
	"crypto/sha256"
	"debug/macho"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Load commands that debug/macho leaves as bytes (loader.h).
const (
	lcUnixThread      = 0x5
	lcLoadDylinker    = 0xe
	lcUUID            = 0x1b
	lcCodeSignature   = 0x1d
	lcLazyLoadDylib   = 0x20
	lcVersionMinMac   = 0x24
	lcDyldEnvironment = 0x27
	lcBuildVersion    = 0x32
	lcMain            = 0x28 | 0x80000000
	lcLoadWeakDylib   = 0x18 | 0x80000000
	lcReexportDylib   = 0x1f | 0x80000000
	lcLoadUpwardDylib = 0x23 | 0x80000000
)

const platformMacOS = 1

// Subtypes of processors (machine.h).
const (
	subtypeARM64E  = 2
	subtypeX86_64H = 8
)

func (id *Identity) readMachO(name string, data []byte) error {
	f, err := macho.NewFile(bytes.NewReader(data))
	if err != nil {
		return badFormat(name, "a damaged Mach-O file: %s", damage(err, data))
	}
	defer f.Close()
	if f.Type != macho.TypeExec {
		return badFormat(name, "a Mach-O file that is not a program: %v", f.Type)
	}
	id.Format, id.OS, id.Signature = "mach-o", "unknown", "none"
	// The upper byte of a subtype is flags: whether libraries of other kinds do, or the version of the pointers' ABI.
	switch kind := f.SubCpu & 0xffffff; {
	case f.Cpu == macho.CpuArm64 && kind == subtypeARM64E:
		id.Arch = "arm64e" // the system's own ABI: macOS kills such a program unless Apple signed it
	case f.Cpu == macho.CpuArm64:
		id.Arch = "arm64"
	case f.Cpu == macho.CpuAmd64 && kind == subtypeX86_64H:
		id.Arch = "x86_64h" // Haswell and later, which Rosetta is not
	case f.Cpu == macho.CpuAmd64:
		id.Arch = "x86_64"
	default:
		id.Arch = f.Cpu.String()
	}
	begins := false
	for _, l := range f.Loads {
		if raw := l.Raw(); len(raw) >= 4 {
			cmd := f.ByteOrder.Uint32(raw)
			begins = begins || cmd == lcMain || cmd == lcUnixThread
		}
		if s, ok := l.(*macho.Segment); ok && s.Filesz > 0 && (s.Offset+s.Filesz < s.Offset || s.Offset+s.Filesz > uint64(len(data))) {
			return badFormat(name, "a damaged Mach-O file: it was cut short: segment %s ends at %d, the file at %d", s.Name, s.Offset+s.Filesz, len(data))
		}
		if err := id.readLoad(f, l, data); err != nil {
			return badFormat(name, "a damaged Mach-O file: %v", err)
		}
	}
	if !begins {
		return badFormat(name, "a Mach-O file that is not a program: no entry point")
	}
	var names []string
	var functions []function
	if f.Symtab != nil {
		for _, s := range f.Symtab.Syms {
			if s.Sect != 0 {
				names = append(names, s.Name)
				functions = append(functions, function{s.Name, codeMachO(f, data, s)})
			}
		}
	}
	id.Symbols = keepBridge(names)
	id.readInstructions(functions)
	id.sortInstructions()
	return nil
}

// codeMachO is the code at a symbol, or nil if the file has none there.
func codeMachO(f *macho.File, data []byte, s macho.Symbol) []byte {
	if int(s.Sect) > len(f.Sections) {
		return nil
	}
	in := f.Sections[s.Sect-1]
	if s.Value < in.Addr || s.Value-in.Addr >= in.Size {
		return nil
	}
	at, end := uint64(in.Offset)+(s.Value-in.Addr), uint64(in.Offset)+in.Size
	if end = min(end, at+functionBytes, uint64(len(data))); at >= end {
		return nil
	}
	return data[at:end]
}

func (id *Identity) readLoad(f *macho.File, load macho.Load, data []byte) error {
	switch l := load.(type) {
	case *macho.Dylib:
		id.Libraries = append(id.Libraries, l.Name)
		return nil
	case *macho.Rpath:
		id.RPaths = append(id.RPaths, l.Path)
		return nil
	}
	raw := load.Raw()
	if len(raw) < 8 {
		return fmt.Errorf("load command of %d bytes", len(raw))
	}
	order := f.ByteOrder
	need := func(n int) error {
		if len(raw) < n {
			return fmt.Errorf("load command %#x of %d bytes, expected %d", order.Uint32(raw), len(raw), n)
		}
		return nil
	}
	switch order.Uint32(raw) {
	case lcUUID:
		if err := need(24); err != nil {
			return err
		}
		id.ID = hex.EncodeToString(raw[8:24])
	case lcBuildVersion:
		if err := need(20); err != nil {
			return err
		}
		id.OS = fmt.Sprintf("platform %d", order.Uint32(raw[8:]))
		if order.Uint32(raw[8:]) == platformMacOS {
			id.OS = "macos"
		}
		id.MinOS, id.SDK = version(order.Uint32(raw[12:])), version(order.Uint32(raw[16:]))
	case lcVersionMinMac:
		if err := need(16); err != nil {
			return err
		}
		id.OS, id.MinOS, id.SDK = "macos", version(order.Uint32(raw[8:])), version(order.Uint32(raw[12:]))
	case lcLoadWeakDylib, lcReexportDylib, lcLazyLoadDylib, lcLoadUpwardDylib, lcLoadDylinker, lcDyldEnvironment:
		if err := need(12); err != nil {
			return err
		}
		return id.readName(order.Uint32(raw), order.Uint32(raw[8:]), raw)
	case lcCodeSignature:
		if err := need(16); err != nil {
			return err
		}
		at, n := uint64(order.Uint32(raw[8:])), uint64(order.Uint32(raw[12:]))
		if at+n > uint64(len(data)) {
			return fmt.Errorf("code signature at %d of %d bytes, beyond the end of the file at %d", at, n, len(data))
		}
		id.Behind = len(data) - int(at+n)
		return id.readSignature(data[at:at+n], data[:at])
	}
	return nil
}

// readName reads a load command that is a name, which begins at an offset of it.
func (id *Identity) readName(command, at uint32, raw []byte) error {
	if uint64(at) >= uint64(len(raw)) {
		return fmt.Errorf("a name at %d of a load command of %d bytes", at, len(raw))
	}
	text, _, _ := bytes.Cut(raw[at:], []byte{0})
	switch command {
	case lcLoadDylinker:
		id.Loader = string(text)
	case lcDyldEnvironment:
		id.Environment = append(id.Environment, string(text))
	default:
		id.Libraries = append(id.Libraries, string(text))
	}
	return nil
}

// version spells the packed form xxxx.yy.zz.
func version(v uint32) string {
	s := fmt.Sprintf("%d.%d", v>>16, v>>8&0xff)
	if v&0xff != 0 {
		s += fmt.Sprintf(".%d", v&0xff)
	}
	return s
}

// Code signature blobs (cs_blobs.h), big-endian whatever the program is.
const (
	magicSuperBlob     = 0xfade0cc0
	magicCodeDirectory = 0xfade0c02
	magicCMS           = 0xfade0b01
	flagAdHoc          = 0x2
	flagLinkerSigned   = 0x20000
	hashSHA256         = 2
	cdHashBytes        = 20
)

// readSignature reads the blobs: the code directory with SHA-256 gives the hash, a filled CMS blob the signer. Code is
// the file before the signature.
func (id *Identity) readSignature(blob, code []byte) error {
	be := binary.BigEndian
	if len(blob) < 12 || be.Uint32(blob) != magicSuperBlob {
		return fmt.Errorf("code signature does not begin with a super blob")
	}
	count := be.Uint32(blob[8:])
	if uint64(count)*8 > uint64(len(blob)-12) {
		return fmt.Errorf("code signature claims %d blobs in %d bytes", count, len(blob))
	}
	certificate := false
	for i := range count {
		at := uint64(be.Uint32(blob[12+8*i+4:]))
		if at+8 > uint64(len(blob)) || at+uint64(be.Uint32(blob[at+4:])) > uint64(len(blob)) {
			return fmt.Errorf("code signature blob %d stands at %d, beyond the end at %d", i, at, len(blob))
		}
		part := blob[at : at+uint64(be.Uint32(blob[at+4:]))]
		switch {
		case len(part) < 8:
			return fmt.Errorf("code signature blob %d has %d bytes", i, len(part))
		case be.Uint32(part) == magicCMS && len(part) > 8:
			certificate = true
		case be.Uint32(part) == magicCodeDirectory && len(part) >= 44 && part[37] == hashSHA256:
			sum := sha256.Sum256(part)
			id.CDHash = hex.EncodeToString(sum[:cdHashBytes])
			if id.Broken == "" {
				id.Broken = brokenPage(part, code)
			}
			switch flags := be.Uint32(part[12:]); {
			case flags&flagLinkerSigned != 0:
				id.Signature = "linker"
			case flags&flagAdHoc != 0:
				id.Signature = "ad hoc"
			default:
				id.Signature = "certificate"
			}
		}
	}
	// Without the ad hoc flag there must be a signer; a directory that claims one and has none proves nothing.
	if id.Signature == "certificate" && !certificate {
		id.Signature = "none"
	}
	return nil
}

// brokenPage says which page of the code the code directory's hash of it does not match, "" if every one does. The
// directory gives the offset of the hashes at byte 16, their number at 28, the end of the code at 32, the size of a
// hash at 36 and the logarithm of the page's size at 39.
func brokenPage(directory, code []byte) string {
	be := binary.BigEndian
	at, slots, limit := uint64(be.Uint32(directory[16:])), uint64(be.Uint32(directory[28:])), uint64(be.Uint32(directory[32:]))
	size, shift := uint64(directory[36]), directory[39]
	page := max(limit, 1) // a size of 0 stands for one page that is the whole
	if shift > 0 {
		page = 1 << min(shift, 31)
	}
	switch {
	case size != sha256.Size || at+slots*size > uint64(len(directory)):
		return fmt.Sprintf("%d hashes of %d bytes at %d of a code directory of %d bytes", slots, size, at, len(directory))
	case limit != uint64(len(code)):
		return fmt.Sprintf("a signature of %d bytes of code after %d bytes", limit, len(code))
	case slots != (limit+page-1)/page:
		return fmt.Sprintf("%d hashes for %d bytes in pages of %d", slots, limit, page)
	}
	for i := range slots {
		sum := sha256.Sum256(code[i*page : min((i+1)*page, limit)])
		if !bytes.Equal(sum[:], directory[at+i*size:at+(i+1)*size]) {
			return fmt.Sprintf("another hash of page %d, at byte %d", i, i*page)
		}
	}
	return ""
}
