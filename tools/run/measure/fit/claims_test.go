package fit

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write gate/private/memory.bzl in place of comparing it")

// published are the sizes in which Whisper is published: state, heads and layers.
var published = []struct {
	name                string
	state, head, layers int64
	mels                int64
}{{"tiny", 384, 6, 4, 80}, {"base", 512, 8, 6, 80}, {"small", 768, 12, 12, 80}, {"medium", 1024, 16, 24, 80}, {"large", 1280, 20, 32, 128}}

// TestClaims compares the rules' table with the estimate.
func TestClaims(t *testing.T) {
	const path = "../../../../gate/private/memory.bzl"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(data), "MODEL_MEMORY_MIB = {")
	if !ok {
		t.Fatalf("%s has no table", path)
	}
	var b strings.Builder
	b.WriteString(head + "MODEL_MEMORY_MIB = {\n")
	for _, m := range published {
		h := Header{Vocab: 51866, AudioCtx: 1500, AudioState: m.state, AudioLayer: m.layers, TextCtx: 448, TextState: m.state, TextHead: m.head, TextLayer: m.layers, Mels: m.mels, FType: 1}
		fmt.Fprintf(&b, "    %q: %d,\n", m.name, (Claim(h)+mib-1)/mib)
	}
	b.WriteString("}\n")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b.String() != string(data) {
		t.Errorf("%s is stale, run this test with -update; want\n%s", path, b.String())
	}
}
