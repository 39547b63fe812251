// Package bindiff says where two builds of one program differ, and what such a difference usually is:
// the section of the ELF or Mach-O file, and whether what stands there is a build id or UUID, a code
// signature, a path, a date, or something else.
package bindiff

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
)

// What a difference is.
const (
	BuildID   = "build id"
	UUID      = "UUID"
	Signature = "code signature"
	// BuildVersion is the system and the SDK that a Mach-O was built for.
	BuildVersion = "build version"
	Path         = "path"
	Date         = "date"
	Debug        = "debug information"
	Code         = "code"
	Data         = "data"
	Layout       = "layout"
)

// Difference is one stretch of a program in which two builds differ.
type Difference struct {
	// Section is the section or the part of the file, as its format names it.
	Section string `json:"section"`
	// What is one of the words above.
	What string `json:"what"`
	// Offset is where the first difference is, from the beginning of the section.
	Offset int `json:"offset"`
	// Bytes is how many bytes differ.
	Bytes int `json:"bytes"`
	// From and To are the texts around the first difference, where there is text.
	From string `json:"from"`
	To   string `json:"to"`
}

// String is the difference on one line.
func (d Difference) String() string {
	out := fmt.Sprintf("%s: %s, %d bytes from offset %d", d.Section, d.What, d.Bytes, d.Offset)
	if d.From != "" || d.To != "" {
		out += fmt.Sprintf(" (%q, %q)", d.From, d.To)
	}
	return out
}

// part is a named stretch of a file.
type part struct {
	name  string
	what  string
	bytes []byte
}

// Compare lists the differences from a to b, in the order of the file; none for equal files. Files of
// an unknown format are compared as one part.
func Compare(a, b []byte) []Difference {
	if bytes.Equal(a, b) {
		return nil
	}
	left, right := parts(a), parts(b)
	var out []Difference
	for _, p := range left {
		i := slices.IndexFunc(right, func(q part) bool { return q.name == p.name })
		if i < 0 {
			out = append(out, Difference{Section: p.name, What: Layout, Bytes: len(p.bytes), From: "present", To: "absent"})
			continue
		}
		if d, ok := compare(p, right[i]); ok {
			out = append(out, d)
		}
	}
	for _, q := range right {
		if !slices.ContainsFunc(left, func(p part) bool { return p.name == q.name }) {
			out = append(out, Difference{Section: q.name, What: Layout, Bytes: len(q.bytes), From: "absent", To: "present"})
		}
	}
	if len(out) == 0 {
		return []Difference{{Section: "file", What: Layout, Bytes: count(a, b), Offset: first(a, b)}}
	}
	return out
}

// parts splits a program into what its format names.
func parts(data []byte) []part {
	if f, err := elf.NewFile(bytes.NewReader(data)); err == nil {
		return elfParts(f)
	}
	if f, err := macho.NewFile(bytes.NewReader(data)); err == nil {
		return machoParts(f, data)
	}
	return []part{{name: "file", bytes: data}}
}

func elfParts(f *elf.File) []part {
	var out []part
	for _, s := range f.Sections {
		if s.Type == elf.SHT_NULL || s.Type == elf.SHT_NOBITS || s.Name == ".shstrtab" {
			continue
		}
		content, err := s.Data()
		if err != nil {
			continue
		}
		p := part{name: s.Name, bytes: content}
		switch {
		case s.Name == ".note.gnu.build-id":
			p.what = BuildID
		case len(s.Name) > 6 && s.Name[:6] == ".debug":
			p.what = Debug
		case s.Flags&elf.SHF_EXECINSTR != 0:
			p.what = Code
		}
		out = append(out, p)
	}
	return out
}

// Load commands that stand for one of the usual differences.
const (
	lcUUID          = 0x1b
	lcCodeSignature = 0x1d
	lcBuildVersion  = 0x32
)

func machoParts(f *macho.File, data []byte) []part {
	var out []part
	for _, s := range f.Sections {
		if zeroFill(s.Flags) {
			continue // it has no bytes in the file: what would be read is the header
		}
		content, err := s.Data()
		if err != nil {
			continue
		}
		p := part{name: s.Seg + "," + s.Name, bytes: content}
		switch {
		case s.Seg == "__DWARF":
			p.what = Debug
		case s.Name == "__text":
			p.what = Code
		}
		out = append(out, p)
	}
	for _, l := range f.Loads {
		raw := l.Raw()
		if len(raw) < 16 {
			continue
		}
		switch f.ByteOrder.Uint32(raw) {
		case lcUUID:
			out = append(out, part{name: "LC_UUID", what: UUID, bytes: raw[8:]})
		case lcBuildVersion:
			out = append(out, part{name: "LC_BUILD_VERSION", what: BuildVersion, bytes: raw[8:]})
		case lcCodeSignature:
			if blob, ok := stretch(f.ByteOrder, raw, data); ok {
				out = append(out, part{name: "LC_CODE_SIGNATURE", what: Signature, bytes: blob})
			}
		}
	}
	return out
}

// stretch returns what a linkedit_data_command points at.
func stretch(order binary.ByteOrder, raw, data []byte) ([]byte, bool) {
	offset, size := uint64(order.Uint32(raw[8:])), uint64(order.Uint32(raw[12:]))
	if offset+size > uint64(len(data)) {
		return nil, false
	}
	return data[offset : offset+size], true
}

func compare(p, q part) (Difference, bool) {
	if bytes.Equal(p.bytes, q.bytes) {
		return Difference{}, false
	}
	at := first(p.bytes, q.bytes)
	d := Difference{Section: p.name, What: p.what, Offset: at, Bytes: count(p.bytes, q.bytes), From: text(p.bytes, at), To: text(q.bytes, at)}
	if kind := readable(d.From, d.To); kind != "" && p.what != BuildID && p.what != UUID && p.what != Signature {
		d.What = kind
	}
	if d.What == "" {
		d.What = Data
	}
	return d, true
}

func first(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// count is how many bytes differ, a difference in length included.
func count(a, b []byte) int {
	n := max(len(a), len(b)) - min(len(a), len(b))
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// text is the printable text around an offset, or "" when what stands there is too short to be text.
func text(data []byte, at int) string {
	printable := func(i int) bool { return i >= 0 && i < len(data) && data[i] >= 0x20 && data[i] < 0x7f }
	if !printable(at) && !printable(at-1) {
		return ""
	}
	from, to := at, at
	for printable(from-1) && at-from < 200 {
		from--
	}
	for printable(to) && to-at < 200 {
		to++
	}
	if to-from < 6 {
		return ""
	}
	return string(data[from:to])
}

var (
	pathText = regexp.MustCompile(`(?:^|[\s=:"'(])/?(?:[\w.@+~-]+/){2,}[\w.@+~-]*`)
	dateText = regexp.MustCompile(`\b(?:19|20)\d\d-\d\d-\d\d\b|\b\d\d:\d\d:\d\d\b|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d (?:19|20)\d\d\b`)
)

// readable says what two differing texts are, if they are a date or a path.
func readable(a, b string) string {
	switch {
	case a == "" || b == "":
		return ""
	case dateText.MatchString(a) && dateText.MatchString(b):
		return Date
	case pathText.MatchString(a) && pathText.MatchString(b):
		return Path
	}
	return ""
}

// zeroFill says that a Mach-O section is made of zeros when it is loaded: __bss, __common and their kin.
func zeroFill(flags uint32) bool {
	switch flags & 0xff {
	case 0x1, 0xc, 0x12: // S_ZEROFILL, S_GB_ZEROFILL, S_THREAD_LOCAL_ZEROFILL
		return true
	}
	return false
}
