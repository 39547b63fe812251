// Package here says which libraries of this machine the loader would give to an ELF program, and what they lack, without
// running anything.
//
// A program that was built on a newer system asks for versions of the C library's interface that an older one does not have
// (GLIBC_2.38); the loader then refuses it before its first line. The search is glibc's and musl's (ld.so(8), musl's
// ldso/dynlink.c): the program's own folders, LD_LIBRARY_PATH, the loader's cache, the system's folders.
package here

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/binary"
)

// Machine is where the loader's files are.
type Machine struct {
	// Root is put before every absolute path; "" on this machine.
	Root string
	// LibraryPath is the environment's LD_LIBRARY_PATH.
	LibraryPath string
}

// folders are searched last: Debian's for the architecture, then everyone's.
func folders(machine elf.Machine) []string {
	triple := map[elf.Machine]string{elf.EM_X86_64: "x86_64-linux-gnu", elf.EM_AARCH64: "aarch64-linux-gnu"}[machine]
	return []string{"/lib/" + triple, "/usr/lib/" + triple, "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"}
}

// Lacking lists what the program at path needs and this machine does not have, in the order in which the program names it. A
// static program needs nothing. Programs of other formats are not looked at.
func (m Machine) Lacking(id *binary.Identity, path string) []binary.Lack {
	machine, known := map[string]elf.Machine{"x86_64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[id.Arch]
	if id.Format != "elf" || !known || id.Loader == "" {
		return nil
	}
	if _, err := os.Stat(m.Root + id.Loader); err != nil {
		return []binary.Lack{{Needs: "the loader " + id.Loader, Found: "none: the program was linked for another C library or another layout of the system"}}
	}
	search := m.search(id, path, machine)
	var out []binary.Lack
	for _, name := range id.Libraries {
		file, offered, ok := m.find(name, search, machine)
		if !ok {
			out = append(out, binary.Lack{Needs: "the library " + name, Found: "none in the loader's folders"})
			continue
		}
		for _, lacking := range lacking(id, name, offered) {
			out = append(out, binary.Lack{Needs: name + " with " + lacking, Found: file + ", which has " + newest(offered, lacking)})
		}
	}
	return out
}

// search lists the folders and files in which the loader looks for a name, in its order.
func (m Machine) search(id *binary.Identity, path string, machine elf.Machine) func(name string) []string {
	origin, err := filepath.Abs(path)
	if resolved, failed := filepath.EvalSymlinks(path); err == nil && failed == nil {
		origin, err = filepath.Abs(resolved)
	}
	if err != nil {
		origin = path
	}
	var own []string
	for _, folder := range id.RPaths {
		for _, token := range []string{"$ORIGIN", "${ORIGIN}"} {
			folder = strings.ReplaceAll(folder, token, filepath.Dir(origin))
		}
		own = append(own, folder)
	}
	own = append(own, strings.FieldsFunc(m.LibraryPath, func(r rune) bool { return r == ':' || r == ';' })...)
	cached := readCache(m.Root + "/etc/ld.so.cache")
	return func(name string) []string {
		if strings.Contains(name, "/") {
			return []string{m.Root + name}
		}
		var out []string
		for _, folder := range own {
			out = append(out, filepath.Join(folder, name))
		}
		for _, file := range cached[name] {
			out = append(out, m.Root+file)
		}
		for _, folder := range folders(machine) {
			out = append(out, m.Root+filepath.Join(folder, name))
		}
		return out
	}
}

// find opens the first library of a name that is for the processor, and lists the versions that it offers.
func (m Machine) find(name string, search func(string) []string, machine elf.Machine) (file string, versions []string, ok bool) {
	for _, file := range search(name) {
		f, err := elf.Open(file)
		if err != nil {
			continue
		}
		fits, defined := f.Machine == machine, []string{}
		offered, err := f.DynamicVersions()
		for _, v := range offered {
			defined = append(defined, v.Name)
		}
		_ = f.Close() // it was read only
		if fits {
			if err != nil {
				defined = nil // a library without versions
			}
			return strings.TrimPrefix(file, m.Root), defined, true
		}
	}
	return "", nil, false
}

// lacking are the versions of a library that the program asks for and that are not offered, the newest of each family first.
func lacking(id *binary.Identity, library string, offered []string) []string {
	var out []string
	for _, need := range binary.Newest(id.Needs) {
		if need.Library == library && len(offered) > 0 && !slices.Contains(offered, need.Version) {
			out = append(out, need.Version)
		}
	}
	return out
}

// newest names the newest version of the family that is offered.
func newest(offered []string, version string) string {
	var needs []binary.Need
	for _, v := range offered {
		needs = append(needs, binary.Need{Version: v})
	}
	family := version[:strings.LastIndexByte(version, '_')+1]
	for _, n := range binary.Newest(needs) {
		if strings.HasPrefix(n.Version, family) && strings.LastIndexByte(n.Version, '_') == len(family)-1 {
			return n.Version + " at most"
		}
	}
	return fmt.Sprintf("none of %d versions of that name", len(offered))
}
