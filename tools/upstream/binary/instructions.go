package binary

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// function is a function that a symbol table names: as many of its bytes as are needed to see whether it returns a constant.
type function struct {
	name string
	code []byte
}

// functionBytes is the most that [constant] reads of a function.
const functionBytes = 32

// readInstructions reads the instruction sets that ggml's own functions report. They are what whisper-cli prints as
// system_info, so a value here is the program's own word, and no guess from its code.
func (id *Identity) readInstructions(functions []function) {
	names, seen := whispercpp.Instructions[id.Arch], map[string]bool{}
	for _, f := range functions {
		suffix, ok := strings.CutPrefix(strings.TrimPrefix(f.name, "_"), whispercpp.InstructionPrefix)
		name := names[suffix]
		if !ok || name == "" || seen[name] {
			continue
		}
		value, told := constant(id.Arch, f.code)
		if !told {
			continue
		}
		seen[name] = true
		if value == 1 {
			id.Instructions = append(id.Instructions, name)
		}
	}
	id.AllInstructions = len(names) > 0 && len(seen) == len(names)
	if len(seen) > 0 {
		id.InstructionsFrom = append(id.InstructionsFrom, fmt.Sprintf("%d of ggml's %d functions %s…", len(seen), len(names), whispercpp.InstructionPrefix))
	}
}

// sortInstructions sorts what several places of a file told, each name once.
func (id *Identity) sortInstructions() {
	slices.Sort(id.Instructions)
	id.Instructions = slices.Compact(id.Instructions)
}

// constant returns the number that a function returns if it does nothing else, in the forms in which gcc and clang write
// `return 0` and `return 1`.
func constant(arch string, code []byte) (value uint32, ok bool) {
	switch arch {
	case "x86_64":
		return constantX86(code)
	case "arm64":
		return constantARM(code)
	}
	return 0, false
}

func constantX86(code []byte) (value uint32, ok bool) {
	skip := func(part string) bool {
		rest, found := bytes.CutPrefix(code, []byte(part))
		code = rest
		return found
	}
	skip("\xf3\x0f\x1e\xfa")                                       // endbr64
	framed := skip("\x55\x48\x89\xe5") || skip("\x55\x48\x8b\xec") // push rbp; mov rbp, rsp
	switch {
	case skip("\x31\xc0"), skip("\x33\xc0"): // xor eax, eax
		if skip("\xff\xc0") { // inc eax
			value = 1
		}
	case len(code) >= 5 && code[0] == 0xb8: // mov eax, imm32
		value, code = binary.LittleEndian.Uint32(code[1:]), code[5:]
	case len(code) >= 3 && code[0] == 0x6a && code[2] == 0x58: // push imm8; pop rax
		value, code = uint32(code[1]), code[3:]
	default:
		return 0, false
	}
	if framed && !skip("\x5d") { // pop rbp
		return 0, false
	}
	return value, skip("\xc3") && value <= 1 // ret
}

func constantARM(code []byte) (value uint32, ok bool) {
	next := func() uint32 {
		if len(code) < 4 {
			return 0
		}
		word := binary.LittleEndian.Uint32(code)
		code = code[4:]
		return word
	}
	word := next()
	if word == 0xd503245f { // bti c
		word = next()
	}
	switch word {
	case 0x52800000, 0x2a1f03e0: // mov w0, #0; mov w0, wzr
	case 0x52800020, 0x320003e0: // mov w0, #1, in its two forms
		value = 1
	default:
		return 0, false
	}
	return value, next() == 0xd65f03c0 // ret
}

// The property of a GNU note by which an x86-64 program says which level of the instruction set it needs (System V ABI of
// x86-64, linux ABI supplement): glibc's loader refuses a processor that has less.
const (
	noteProperty      = 5
	propertyISANeeded = 0xc0008002
)

// levels are the levels of x86-64, lowest bit first, with what each adds. The first is every processor's, and the C library's own
// objects give it to every program: it says nothing.
var levels = []struct {
	name     string
	features []string
}{
	{"x86-64-v1", nil},
	{"x86-64-v2", []string{"sse3", "ssse3", "sse4.1", "sse4.2", "popcnt"}},
	{"x86-64-v3", []string{"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "lzcnt"}},
	{"x86-64-v4", []string{"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
}

// readProperties reads the properties of a GNU note: a type, a size, and the data, padded to 8 bytes each.
func (id *Identity) readProperties(order binary.ByteOrder, part []byte) {
	for len(part) >= 8 {
		kind, size := order.Uint32(part), uint64(order.Uint32(part[4:]))
		if size > uint64(len(part)-8) {
			return
		}
		if kind == propertyISANeeded && size == 4 && id.Arch == "x86_64" {
			id.readLevel(order.Uint32(part[8:]))
		}
		part = part[min(uint64(len(part)), (8+size+7)&^7):]
	}
}

// readLevel takes the highest level that the note names, which has those below it.
func (id *Identity) readLevel(bits uint32) {
	for i := len(levels) - 1; i > 0; i-- {
		if bits>>i&1 == 0 {
			continue
		}
		for _, l := range levels[:i+1] {
			id.Instructions = append(id.Instructions, l.features...)
		}
		id.InstructionsFrom = append(id.InstructionsFrom, "the GNU note: "+levels[i].name)
		return
	}
}
