// Command probecompile compiles coremlprobe on a host without Core ML and runs it against a stand-in for the framework.
//
//	go run ./tools/dev/probecompile        needs clang and GNUstep's Foundation (Debian: clang, libgnustep-base-dev)
//
// The syntax is checked twice, with automatic reference counting, as Bazel compiles it on a Mac, and without; then the
// program is linked with testdata/stand_in and must report each of the stand-in's faults, under the reason that
// package parity gives it. It ends with the number of cases, and exits 1 if one went wrong. This shows that the probe says
// what it saw; that Apple's framework behaves as the stand-in does, nothing here can show.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
)

func main() { os.Exit(run(context.Background(), "tools/encoder/coremlprobe", os.Stdout, os.Stderr)) }

func run(ctx context.Context, folder string, stdout, stderr io.Writer) int {
	scratch, err := os.MkdirTemp("", "coremlprobe-check-")
	if err == nil {
		defer os.RemoveAll(scratch)
		err = check(ctx, folder, scratch, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "coremlprobe check:", err)
		return 1
	}
	return 0
}

func check(ctx context.Context, folder, scratch string, stdout io.Writer) error {
	c, err := newCompiler(folder)
	if err != nil {
		return err
	}
	source := filepath.Join(folder, "coremlprobe.mm")
	if err := c.counted(source); err != nil {
		return err
	}
	// The check above must be able to fail.
	wrong := filepath.Join(scratch, "wrong.mm")
	if err := os.WriteFile(wrong, []byte("#import <CoreML/CoreML.h>\nid f(id x) { return [x retain]; }\n"), 0o600); err != nil {
		return err
	}
	if c.counted(wrong) == nil {
		return errors.New("code that counts references by hand passes with automatic reference counting")
	}
	program := filepath.Join(scratch, "coremlprobe")
	if err := c.link(program, source, filepath.Join(folder, "testdata/stand_in/stand_in.mm")); err != nil {
		return err
	}
	failed := 0
	for _, one := range cases {
		if err := one.try(ctx, program, scratch); err != nil {
			failed++
			fmt.Fprintf(stdout, "%s: %v\n", one.name, err)
		}
	}
	fmt.Fprintf(stdout, "%d cases of coremlprobe against the stand-in, %d failed\n", len(cases), failed)
	if failed > 0 {
		return errors.New("the probe does not report what the stand-in did")
	}
	return nil
}

// compiler is clang with GNUstep's Foundation on the older runtime of GCC.
type compiler struct {
	flags     []string
	libraries string
}

func newCompiler(folder string) (*compiler, error) {
	if _, err := exec.LookPath("clang++"); err != nil {
		return nil, fmt.Errorf("%w: install clang and libgnustep-base-dev", err)
	}
	out, err := exec.Command("clang++", "-print-file-name=libobjc.so").Output()
	if err != nil {
		return nil, err
	}
	objc := filepath.Dir(strings.TrimSpace(string(out)))
	if !filepath.IsAbs(objc) {
		return nil, errors.New("expected GCC's Objective-C runtime, found none: install libgnustep-base-dev")
	}
	return &compiler{[]string{
		"-x", "objective-c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", filepath.Join(folder, "testdata/stand_in"),
		"-isystem", "/usr/include/GNUstep", "-isystem", filepath.Join(objc, "include"),
		"-DGNUSTEP", "-DGNUSTEP_BASE_LIBRARY=1", "-DGNU_RUNTIME=1", "-fexceptions", "-fobjc-exceptions", "-fconstant-string-class=NSConstantString",
	}, objc}, nil
}

// counted checks a source with automatic reference counting. GNUstep's own headers were not written for that, so only
// what is said about the source counts.
func (c *compiler) counted(source string) error {
	out, err := exec.Command("clang++", append(c.flags, "-fobjc-runtime=gnustep-1.9", "-fobjc-arc", "-fsyntax-only", "-ferror-limit=0", source)...).CombinedOutput()
	if err != nil && strings.Contains(string(out), "fatal error") {
		return fmt.Errorf("clang: %s", out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, source+":") && (strings.Contains(line, " error: ") || strings.Contains(line, " warning: ")) {
			return fmt.Errorf("with automatic reference counting: %s", strings.TrimSpace(line))
		}
	}
	return nil
}

func (c *compiler) link(program string, sources ...string) error {
	args := append(append(c.flags, "-fobjc-runtime=gcc"), sources...)
	args = append(args, "-x", "none", "-L", c.libraries, "-lgnustep-base", "-lobjc", "-o", program)
	if out, err := exec.Command("clang++", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("clang: %w: %s", err, out)
	}
	return nil
}

// one is a model of the stand-in's, and what the probe must make of it.
type one struct {
	name string
	// says is stand_in.txt; without the compiled model's folder if "-", without coremldata.bin if "package".
	says string
	// code is the one reason that follows, "" for none; found must stand in it.
	code, found string
}

const refusesAll = "refuses all\nrefuses cpu_and_neural_engine\nrefuses cpu_and_gpu\nrefuses cpu_only"

var cases = []one{
	{"all units", "", "", ""},
	{"fewer units", "refuses all\nrefuses cpu_and_neural_engine", reason.LoadFallback,
		"all: com.apple.CoreML -14: Failed to build the model execution plan for all; under it com.apple.appleneuralengine 5: ANECCompile() FAILED; " +
			"cpu_and_neural_engine: com.apple.CoreML -14: Failed to build the model execution plan for cpu_and_neural_engine; under it com.apple.appleneuralengine 5: ANECCompile() FAILED; cpu_and_gpu: loaded"},
	{"no units", refusesAll, reason.LoadFailed, "for cpu_only; under it"},
	{"nothing there", "-", reason.LoadNotAsked, "nothing is there"},
	{"a package", "package", reason.LoadNotAsked, "coremldata.bin"},
	{"aborts while loading", "aborts load", reason.ProbeCrashed, "aborted while it loaded at all"},
	{"aborts while predicting", "aborts predict", reason.ProbeCrashed, "aborted while it predicted"},
	{"no prediction", "predicts nothing", reason.PredictionFailed, "MultiArray shape (1 x 80 x 1024) does not match"},
	{"another name", "predicts other", reason.PredictionFailed, "encoder_output_embeds"},
	{"float16", "type 65552", reason.ParityType, "float16"},
	{"an unknown type", "type 7", reason.ParityType, "unknown (code 7)"},
	{"padded rows", "padded", reason.ParityStrides, "shape [1 3 5] with strides [39 13 1]"},
	{"shared memory", "shares", reason.ParityAlias, "in the input's"},
	{"changes its input", "writes", reason.ParityInputChanged, "changed"},
}

func (c *one) try(ctx context.Context, program, scratch string) error {
	model := filepath.Join(scratch, strings.ReplaceAll(c.name, " ", "_")+".mlmodelc")
	if c.says != "-" {
		if err := os.Mkdir(model, 0o755); err != nil {
			return err
		}
		files := map[string]string{"stand_in.txt": c.says, "coremldata.bin": ""}
		if c.says == "package" {
			files = map[string]string{"Manifest.json": "{}"}
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(model, name), []byte(text), 0o600); err != nil {
				return err
			}
		}
	}
	var data []byte
	for i := range 15 {
		data = binary.LittleEndian.AppendUint32(data, 0x3f800000+uint32(i))
	}
	q := probe.Request{Model: model, Inputs: []probe.Input{{Name: "logmel_data", DType: "float32", Shape: []int{1, 3, 5}, Data: data}}, Outputs: []string{"output"}}
	o, err := probe.Run(ctx, program, q, time.Minute)
	if err != nil {
		return err
	}
	reasons := parity.JudgeOutcome(o, model, "output")
	switch {
	case c.code == "" && len(reasons) > 0, c.code != "" && len(reasons) != 1:
		return fmt.Errorf("expected %q alone, found %v", c.code, reasons)
	case c.code != "" && (reasons[0].Code != c.code || !strings.Contains(reasons[0].Found, c.found)):
		return fmt.Errorf("expected %s finding %q, found %v", c.code, c.found, reasons[0])
	}
	// Whatever the strides, the elements are gathered in order.
	if got, ok := o.Tensors["output"]; ok && c.code != reason.ParityType && c.says != "writes" && string(got) != string(data) {
		return fmt.Errorf("the tensor is % x, expected % x", got, data)
	}
	return nil
}
