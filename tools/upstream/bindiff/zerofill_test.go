package bindiff_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/bindiff"
)

// bareMachO is a Mach-O of load commands alone: a segment with a __bss of zeros, a UUID and a build version.
func bareMachO(uuid byte, sdk uint32) []byte {
	var b bytes.Buffer
	put := func(values ...uint32) { _ = binary.Write(&b, binary.LittleEndian, values) }
	name := func(text string) { b.Write(append([]byte(text), make([]byte, 16-len(text))...)) }
	put(0xfeedfacf, 0x0100000c, 0, 2, 3, 152+24+24, 0, 0)
	put(0x19, 152)
	name("__DATA")
	put(0, 0, 64, 0, 0, 0, 0, 0, 3, 3, 1, 0)
	name("__bss")
	name("__DATA")
	put(0, 0, 64, 0, 0, 4, 0, 0, 1, 0, 0, 0)
	put(0x1b, 24)
	b.Write(bytes.Repeat([]byte{uuid}, 16))
	put(0x32, 24, 1, 0x000e0000, sdk, 0)
	return b.Bytes()
}

// TestZeroFill holds that a change of load commands is not called one of a section that has no bytes in the file.
func TestZeroFill(t *testing.T) {
	for what, other := range map[string][]byte{bindiff.UUID: bareMachO(2, 15), bindiff.BuildVersion: bareMachO(1, 16)} {
		found := bindiff.Compare(bareMachO(1, 15), other)
		if len(found) != 1 || found[0].What != what {
			t.Errorf("%v, want one %s", found, what)
		}
	}
}
