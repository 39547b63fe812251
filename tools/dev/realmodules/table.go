package main

import (
	"fmt"
	"slices"
	"strings"
)

// upstream is what CMake gives to one of its targets at the supported pin, as its CMakeLists.txt say: Release, static, on macOS arm64,
// with WHISPER_COREML=1 and GGML_METAL_EMBED_LIBRARY at its default.
type upstream struct {
	// ours are the names of our targets, as many as CMake's one is of.
	ours []string
	// name is CMake's target.
	name    string
	defines []string
	flags   []string
}

// What all of ggml gets (ggml/src/CMakeLists.txt, lines 4, 148 and 166).
var ggml = []string{"GGML_SCHED_MAX_COPIES=4", "_DARWIN_C_SOURCE", "_XOPEN_SOURCE=600"}

var cmake = []upstream{
	{[]string{"ggml_base"}, "ggml-base", append(slices.Clone(ggml), "GGML_COMMIT", "GGML_VERSION"), []string{"-O3"}},
	{[]string{"ggml_cpu"}, "ggml-cpu", append(slices.Clone(ggml), "ACCELERATE_LAPACK_ILP64", "ACCELERATE_NEW_LAPACK", "GGML_USE_ACCELERATE", "GGML_USE_CPU_REPACK"), []string{"-O3", "-mcpu=native"}},
	{[]string{"ggml_blas"}, "ggml-blas", append(slices.Clone(ggml), "ACCELERATE_LAPACK_ILP64", "ACCELERATE_NEW_LAPACK", "GGML_BLAS_USE_ACCELERATE"), []string{"-O3"}},
	{[]string{"ggml_metal"}, "ggml-metal, C++", append(slices.Clone(ggml), "GGML_METAL_EMBED_LIBRARY"), []string{"-O3"}},
	{[]string{"ggml_metal_objc"}, "ggml-metal, Objective-C", append(slices.Clone(ggml), "GGML_METAL_EMBED_LIBRARY"), []string{"-O3"}},
	{[]string{"ggml"}, "ggml", append(slices.Clone(ggml), "GGML_USE_BLAS", "GGML_USE_CPU", "GGML_USE_METAL"), []string{"-O3"}},
	{[]string{"coreml_bridge"}, "whisper.coreml", nil, []string{"-O3", "-fobjc-arc"}},
	{[]string{"whisper_coreml"}, "whisper", []string{"GGML_USE_BLAS", "GGML_USE_CPU", "GGML_USE_METAL", "WHISPER_USE_COREML", "WHISPER_VERSION", "_DARWIN_C_SOURCE"}, []string{"-O3"}},
	{[]string{"common"}, "common", []string{"GGML_USE_BLAS", "GGML_USE_CPU", "GGML_USE_METAL", "_DARWIN_C_SOURCE"}, []string{"-O3"}},
	{[]string{"cli_main"}, "whisper-cli", []string{"GGML_USE_BLAS", "GGML_USE_CPU", "GGML_USE_METAL", "_DARWIN_C_SOURCE"}, []string{"-O3"}},
}

// toolchain are macros that Bazel's toolchain adds to every file, and CMake's Release the one of them.
var toolchain = []string{"NDEBUG", "NS_BLOCK_ASSERTIONS", "OS_MACOSX", "_FORTIFY_SOURCE", "__DATE__", "__TIMESTAMP__", "__TIME__"}

// defines are the names of a command's macros, with the values of those that CMake gives a number.
func (c command) defines() []string {
	var out []string
	for _, a := range c.arguments {
		define, ok := strings.CutPrefix(a, "-D")
		name, value, _ := strings.Cut(define, "=")
		if !ok || slices.Contains(toolchain, name) {
			continue
		}
		if value != "" && !strings.HasPrefix(value, `"`) {
			name += "=" + value
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// flags are those that decide what the code does.
func (c command) flags() []string {
	out := []string{c.last("-O")}
	for _, a := range c.arguments {
		if a == "-fobjc-arc" || strings.HasPrefix(a, "-mcpu=") || strings.HasPrefix(a, "-march=") {
			out = append(out, a)
		}
	}
	return out
}

// table is upstream's and our flags, side by side.
func table(commands []command) string {
	var out strings.Builder
	out.WriteString("| CMake's target | macros in both | CMake alone | ours alone | CMake's flags | ours |\n|---|---|---|---|---|---|\n")
	for _, u := range cmake {
		i := slices.IndexFunc(commands, func(c command) bool { return slices.Contains(u.ours, c.target) && c.mnemonic != "CppLink" })
		if i < 0 {
			fmt.Fprintf(&out, "| %s | | | no action | | |\n", u.name)
			continue
		}
		ours := commands[i].defines()
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s |\n", u.name,
			code(common(u.defines, ours, true)), code(common(u.defines, ours, false)), code(common(ours, u.defines, false)), code(u.flags), code(commands[i].flags()))
	}
	return out.String()
}

// common are the members of a that are in b, or that are not.
func common(a, b []string, in bool) []string {
	var out []string
	for _, x := range a {
		if slices.Contains(b, x) == in {
			out = append(out, x)
		}
	}
	slices.Sort(out)
	return out
}

func code(words []string) string {
	if len(words) == 0 {
		return "–"
	}
	return "`" + strings.Join(words, "` `") + "`"
}
