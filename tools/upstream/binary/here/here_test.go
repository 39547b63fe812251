package here

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	program "github.com/coreml-gate/rules_coreml_gate/tools/upstream/binary"
)

// library is a shared library that defines versions, as far as they can be read from it: a table of texts, a symbol, its
// version, and the definitions.
func library(t *testing.T, machine elf.Machine, versions ...string) []byte {
	t.Helper()
	little := binary.LittleEndian
	texts := []byte{0}
	var defined []byte
	for i, v := range versions {
		next := uint32(28)
		if i == len(versions)-1 {
			next = 0
		}
		defined = little.AppendUint16(defined, 1)
		defined = little.AppendUint16(defined, 0)
		defined = little.AppendUint16(defined, uint16(i+2))
		defined = little.AppendUint16(defined, 1)
		for _, word := range []uint32{0, 20, next, uint32(len(texts)), 0} {
			defined = little.AppendUint32(defined, word)
		}
		texts = append(append(texts, v...), 0)
	}
	type part struct {
		kind elf.SectionType
		link uint32
		size uint64
		data []byte
	}
	parts := []part{
		{}, {elf.SHT_STRTAB, 0, 0, texts}, {elf.SHT_DYNSYM, 1, 24, make([]byte, 48)},
		{elf.SHT_GNU_VERSYM, 2, 2, make([]byte, 4)}, {elf.SHT_GNU_VERDEF, 1, 0, defined},
	}
	header := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(machine), Version: 1, Ehsize: 64, Shentsize: 64, Shnum: uint16(len(parts)), Shstrndx: 1, Shoff: 64}
	copy(header.Ident[:], "\x7fELF\x02\x01\x01")
	var out, body bytes.Buffer
	sections := []elf.Section64{}
	for _, p := range parts {
		sections = append(sections, elf.Section64{Type: uint32(p.kind), Off: uint64(64 + 64*len(parts) + body.Len()), Size: uint64(len(p.data)), Link: p.link, Entsize: p.size, Info: uint32(len(versions))})
		body.Write(p.data)
	}
	for _, v := range []any{header, sections} {
		if err := binary.Write(&out, little, v); err != nil {
			t.Fatal(err)
		}
	}
	return append(out.Bytes(), body.Bytes()...)
}

// cache is the loader's cache of some names.
func cache(files map[string]string) []byte {
	data := append([]byte("ld.so-1.7.0\x00some older form\x00"), cacheMagic...)
	start := len(data) - len(cacheMagic)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(files)))
	data = append(data, make([]byte, start+cacheHeader-len(data))...)
	texts := []byte{}
	at := uint32(cacheHeader + cacheEntry*len(files))
	for name, file := range files {
		for _, word := range []uint32{0x0303, at + uint32(len(texts)), at + uint32(len(texts)+len(name)+1), 0, 0, 0} {
			data = binary.LittleEndian.AppendUint32(data, word)
		}
		texts = append(append(append(append(texts, name...), 0), file...), 0)
	}
	return append(data, texts...)
}

func write(t *testing.T, root string, files map[string][]byte) {
	t.Helper()
	for name, data := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLacking(t *testing.T) {
	root := t.TempDir()
	x86, arm := elf.EM_X86_64, elf.EM_AARCH64
	write(t, root, map[string][]byte{
		"lib64/ld-linux-x86-64.so.2":          library(t, x86, "GLIBC_2.3"),
		"lib/x86_64-linux-gnu/libc.so.6":      library(t, x86, "GLIBC_2.2.5", "GLIBC_2.9", "GLIBC_2.34"),
		"opt/gcc/lib/libstdc++.so.6":          library(t, x86, "GLIBCXX_3.4", "GLIBCXX_3.4.9", "CXXABI_1.3"),
		"usr/lib/libgomp.so.1":                library(t, arm, "GOMP_1.0"),
		"usr/lib/libplain.so":                 library(t, x86),
		"app/lib/libown.so":                   library(t, x86, "OWN_1"),
		"elsewhere/libgomp.so.1":              library(t, x86, "GOMP_1.0"),
		"etc/ld.so.cache":                     cache(map[string]string{"libstdc++.so.6": "/opt/gcc/lib/libstdc++.so.6"}),
		"app/bin/whisper-cli":                 nil,
		"lib/x86_64-linux-gnu/libdamaged.so1": []byte("\x7fELF"),
	})
	id := func(libraries []string, needs ...string) *program.Identity {
		out := &program.Identity{Format: "elf", Arch: "x86_64", Loader: "/lib64/ld-linux-x86-64.so.2", Libraries: libraries, RPaths: []string{"$ORIGIN/../lib"}}
		for _, n := range needs {
			name, version, _ := strings.Cut(n, " ")
			out.Needs = append(out.Needs, program.Need{Library: name, Version: version})
		}
		return out
	}
	c := []string{"libc.so.6"}
	musl, static, mac := id(c), id(nil), id(c, "libc.so.6 GLIBC_9.1")
	musl.Loader, static.Loader, mac.Format = "/lib/ld-musl-x86_64.so.1", "", "mach-o"
	for name, row := range map[string]struct {
		id   *program.Identity
		path string
		want []string
	}{
		"as old":                         {id(c, "libc.so.6 GLIBC_2.34", "libc.so.6 GLIBC_2.2.5"), "", nil},
		"too new, once":                  {id(c, "libc.so.6 GLIBC_2.38", "libc.so.6 GLIBC_2.36"), "", []string{"libc.so.6 with GLIBC_2.38; /lib/x86_64-linux-gnu/libc.so.6, which has GLIBC_2.34 at most"}},
		"packed relocations":             {id(c, "libc.so.6 GLIBC_ABI_DT_RELR"), "", []string{"libc.so.6 with GLIBC_ABI_DT_RELR; /lib/x86_64-linux-gnu/libc.so.6, which has none of 3 versions of that name"}},
		"in the cache":                   {id([]string{"libstdc++.so.6"}, "libstdc++.so.6 GLIBCXX_3.4.30", "libstdc++.so.6 CXXABI_1.3"), "", []string{"libstdc++.so.6 with GLIBCXX_3.4.30; /opt/gcc/lib/libstdc++.so.6, which has GLIBCXX_3.4.9 at most"}},
		"missing":                        {id([]string{"libnone.so.1"}), "", []string{"the library libnone.so.1; none in the loader's folders"}},
		"for another processor":          {id([]string{"libgomp.so.1"}), "", []string{"the library libgomp.so.1; none in the loader's folders"}},
		"damaged":                        {id([]string{"libdamaged.so1"}), "", []string{"the library libdamaged.so1; none in the loader's folders"}},
		"without versions":               {id([]string{"libplain.so"}, "libplain.so X_1"), "", nil},
		"its own folder":                 {id([]string{"libown.so"}, "libown.so OWN_1"), "app/bin/whisper-cli", nil},
		"not its folder":                 {id([]string{"libown.so"}), "", []string{"the library libown.so; none in the loader's folders"}},
		"another C library":              {musl, "", []string{"the loader /lib/ld-musl-x86_64.so.1; none: the program was linked for another C library or another layout of the system"}},
		"static":                         {static, "", nil},
		"of another system":              {mac, "", nil},
		"by its path":                    {id([]string{"/usr/lib/libplain.so", "/nowhere/libc.so.6"}), "", []string{"the library /nowhere/libc.so.6; none in the loader's folders"}},
		"two that are too old or absent": {id([]string{"libc.so.6", "libnone.so"}, "libc.so.6 GLIBC_2.38"), "", []string{"libc.so.6 with GLIBC_2.38; /lib/x86_64-linux-gnu/libc.so.6, which has GLIBC_2.34 at most", "the library libnone.so; none in the loader's folders"}},
	} {
		var got []string
		for _, lack := range (Machine{Root: root}).Lacking(row.id, filepath.Join(root, row.path)) {
			got = append(got, lack.Needs+"; "+lack.Found)
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
	// The environment's folders come before the system's.
	if got := (Machine{Root: root, LibraryPath: filepath.Join(root, "elsewhere")}).Lacking(id([]string{"libgomp.so.1"}), root); len(got) != 0 {
		t.Errorf("a library in LD_LIBRARY_PATH: %v", got)
	}
	write(t, root, map[string][]byte{"etc/ld.so.cache": []byte(cacheMagic + "\xff\xff\xff\xff")})
	if got := (Machine{Root: root}).Lacking(id([]string{"libstdc++.so.6"}), root); len(got) != 1 {
		t.Errorf("a damaged cache: %v", got)
	}
}
