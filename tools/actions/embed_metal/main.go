// Command embed_metal is the build action that turns ggml's Metal library into assembly.
//
//	embed_metal --library=ggml-metal.metal --common=ggml-common.h --impl=ggml-metal-impl.h --out=OUT.s
//
// It does what upstream's CMake does with sed: the line `__embed_ggml-common.h__` becomes the text of
// ggml-common.h, then the line `#include "ggml-metal-impl.h"` becomes the text of that file. The result
// stands as bytes between the symbols that ggml-metal-device.m looks for, so no path enters the object.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

const (
	commonLine = "__embed_ggml-common.h__\n"
	implLine   = "#include \"ggml-metal-impl.h\"\n"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("embed_metal", flag.ContinueOnError)
	flags.SetOutput(stderr)
	library := flags.String("library", "", "ggml-metal.metal")
	common := flags.String("common", "", "ggml-common.h")
	impl := flags.String("impl", "", "ggml-metal-impl.h")
	out := flags.String("out", "", "where the assembly goes")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := embed(*library, *common, *impl, *out); err != nil {
		fmt.Fprintf(stderr, "embed_metal: %s\n", reason.Visible(err.Error()))
		return 1
	}
	return 0
}

func embed(library, common, impl, out string) error {
	var texts [3][]byte
	for i, name := range []string{library, common, impl} {
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read source: %w", err)
		}
		texts[i] = text
	}
	merged, err := merge(texts[0], texts[1], texts[2])
	if err != nil {
		return fmt.Errorf("%s: %w", library, err)
	}
	if err := os.WriteFile(out, assembly(merged), 0o644); err != nil {
		return fmt.Errorf("write assembly: %w", err)
	}
	return nil
}

// merge puts the headers' texts where the library asks for them, each exactly once.
func merge(library, common, impl []byte) ([]byte, error) {
	text := library
	for _, step := range []struct {
		line string
		with []byte
	}{{commonLine, common}, {implLine, impl}} {
		if n := bytes.Count(text, []byte(step.line)); n != 1 {
			return nil, fmt.Errorf("expected the line %q once, found it %d times: upstream embeds its library in another way now", step.line, n)
		}
		text = bytes.Replace(text, []byte(step.line), step.with, 1)
	}
	return text, nil
}

// assembly is what CMake's generated file says, with bytes in place of .incbin.
func assembly(data []byte) []byte {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	fmt.Fprint(w, ".section __DATA,__ggml_metallib\n.globl _ggml_metallib_start\n_ggml_metallib_start:\n")
	for len(data) > 0 {
		line := data[:min(32, len(data))]
		data = data[len(line):]
		fmt.Fprint(w, ".byte ")
		for i, c := range line {
			if i > 0 {
				fmt.Fprint(w, ",")
			}
			fmt.Fprintf(w, "%d", c)
		}
		fmt.Fprint(w, "\n")
	}
	fmt.Fprint(w, ".globl _ggml_metallib_end\n_ggml_metallib_end:\n")
	_ = w.Flush() // into memory
	return b.Bytes()
}
