package binary

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Need is a version of a library's interface that an ELF program asks for. The loader refuses the program where the
// library does not offer it.
type Need struct {
	// Library is the name under which the loader looks for it, such as libc.so.6; Version is one such as GLIBC_2.38.
	Library, Version string
}

// Tags of the versions that a program needs; debug/elf reads them from sections, which the loader does not look at.
const (
	dtVerNeed    = elf.DT_VERNEED
	dtVerNeedNum = elf.DT_VERNEEDNUM
	// weak is the flag of a version whose absence the loader only warns of.
	weak = 2
)

// readNeeds reads the versions that a dynamic segment names: a record for each library, with records of its versions (Linux
// Standard Base, symbol versioning). Part begins with the first record; names is the table of strings.
func readNeeds(f *elf.File, part, names []byte, libraries uint64) ([]Need, error) {
	bad := errors.New("the versions that it needs lie beyond the end of the file")
	name := func(at uint32) (string, error) {
		if uint64(at) >= uint64(len(names)) {
			return "", bad
		}
		raw, _, _ := bytes.Cut(names[at:], []byte{0})
		return string(raw), nil
	}
	var out []Need
	for at := uint64(0); libraries > 0; libraries-- {
		if at+16 > uint64(len(part)) {
			return nil, bad
		}
		record := part[at:]
		library, err := name(f.ByteOrder.Uint32(record[4:]))
		if err != nil {
			return nil, err
		}
		from := at + uint64(f.ByteOrder.Uint32(record[8:]))
		for n := f.ByteOrder.Uint16(record[2:]); n > 0; n-- {
			if from+16 > uint64(len(part)) {
				return nil, bad
			}
			one := part[from:]
			version, err := name(f.ByteOrder.Uint32(one[8:]))
			if err != nil {
				return nil, err
			}
			if f.ByteOrder.Uint16(one[4:])&weak == 0 {
				out = append(out, Need{library, version})
			}
			next := f.ByteOrder.Uint32(one[12:])
			if next == 0 {
				break
			}
			from += uint64(next)
		}
		next := f.ByteOrder.Uint32(record[12:])
		if next == 0 {
			break
		}
		at += uint64(next)
	}
	return out, nil
}

// Newest keeps the newest version of each family (GLIBC, GLIBCXX, CXXABI, …) of each library, sorted. A name without a number, such as
// GLIBC_ABI_DT_RELR, is a family of its own.
func Newest(needs []Need) []Need {
	newest := map[Need]string{}
	for _, n := range needs {
		at := strings.LastIndexByte(n.Version, '_')
		if at < 0 {
			continue
		}
		family, number := n.Version[:at+1], n.Version[at+1:]
		if number == "" || number[0] < '0' || number[0] > '9' {
			family, number = n.Version, ""
		}
		key := Need{n.Library, family}
		if have, known := newest[key]; !known || older(have, number) {
			newest[key] = number
		}
	}
	var out []Need
	for key, number := range newest {
		out = append(out, Need{key.Library, key.Version + number})
	}
	slices.SortFunc(out, func(a, b Need) int {
		return cmp.Or(strings.Compare(a.Library, b.Library), strings.Compare(a.Version, b.Version))
	})
	return out
}

// newestOf spells the newest versions, as "libc.so.6 GLIBC_2.38".
func newestOf(needs []Need) []string {
	out := []string{}
	for _, n := range Newest(needs) {
		out = append(out, n.Library+" "+n.Version)
	}
	return out
}

// older compares two versions part by part, as numbers where both are.
func older(a, b string) bool {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		m, errX := strconv.Atoi(x)
		n, errY := strconv.Atoi(y)
		if errX != nil || errY != nil {
			return strings.Compare(x, y)
		}
		return cmp.Compare(m, n)
	}) < 0
}
