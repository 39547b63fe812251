// Command encodeours is our side of the peer "encode".
//
//	encodeours mel MODEL.bin AUDIO.wav OUT      writes the mel as raw float32; "-" is the built-in sound
//	encodeours reference MODEL.bin MEL OUT      writes the float64 reference as raw float64
//	encodeours write MODEL.bin OUT.mlmodelc     writes the float32 encoder
//	encodeours predict MODEL.bin ENCODER MEL OUT
//	    evaluates once, writes the output as raw float32, and what the evaluator flags
//	encodeours serve MODEL.bin ENCODER MEL OUT THREADS
//	    loads the encoder, writes "ready", and for each line read evaluates once and
//	    writes the nanoseconds that it took; the last output is written to OUT
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggmlsource"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/encoder"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/evaluation"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/reference"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if err := dispatch(args, stdin, stdout); err != nil {
		fmt.Fprintln(stderr, "encodeours:", err)
		return 1
	}
	return 0
}

func dispatch(args []string, stdin io.Reader, stdout io.Writer) error {
	want := map[string]int{"mel": 4, "reference": 4, "write": 3, "predict": 5, "serve": 6}
	if len(args) == 0 || len(args) != want[args[0]] {
		return fmt.Errorf("expected mel, reference, write, predict or serve with their arguments, found %q", args)
	}
	m, err := ggml.Open(args[1])
	if err != nil {
		return err
	}
	defer m.Close()
	switch args[0] {
	case "mel":
		audio := args[2]
		if audio == "-" {
			audio = ""
		}
		v, _, err := evaluation.ReadMel(m, audio, "")
		if err != nil {
			return err
		}
		return os.WriteFile(args[3], raw(v), 0o644)
	case "reference":
		mel, err := readMel(args[2])
		if err != nil {
			return err
		}
		e, err := reference.New(m)
		if err != nil {
			return err
		}
		v, err := e.Encode(context.Background(), mel)
		if err != nil {
			return err
		}
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		return os.WriteFile(args[3], b, 0o644)
	case "write":
		return write(m, args[2])
	case "predict":
		return predict(m, args[2:], stdout)
	}
	return serve(m, args[2:], stdin, stdout)
}

func raw(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func readMel(path string) ([]float32, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v, nil
}

func write(m *ggml.Model, out string) error {
	pkg := filepath.Join(filepath.Dir(out), "written.mlpackage")
	if err := encoder.WritePackage(pkg, ggmlsource.Of(m), encoder.Float32); err != nil {
		return err
	}
	a, err := bundle.Open(pkg)
	if err != nil {
		return err
	}
	defer a.Close()
	return bundle.Compile(a, out)
}

func predict(m *ggml.Model, args []string, stdout io.Writer) error {
	mel, err := readMel(args[1])
	if err != nil {
		return err
	}
	e, err := evaluation.Load(args[0], 0)
	if err != nil {
		return err
	}
	defer e.Close()
	for _, w := range e.Warnings() {
		fmt.Fprintln(stdout, w)
	}
	h := m.Hyperparameters
	out, err := e.Output(context.Background(), mel, h.Mels, h.MelFrames())
	if err != nil {
		return err
	}
	return os.WriteFile(args[2], out, 0o644)
}

func serve(m *ggml.Model, args []string, stdin io.Reader, stdout io.Writer) error {
	threads, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	mel, err := readMel(args[1])
	if err != nil {
		return err
	}
	e, err := evaluation.Load(args[0], threads)
	if err != nil {
		return err
	}
	defer e.Close()
	fmt.Fprintln(stdout, "ready")
	h := m.Hyperparameters
	var last []byte
	for lines := bufio.NewScanner(stdin); lines.Scan(); {
		start := time.Now()
		out, err := e.Output(context.Background(), mel, h.Mels, h.MelFrames())
		if err != nil {
			return err
		}
		fmt.Fprintln(stdout, time.Since(start).Nanoseconds())
		last = out
	}
	return os.WriteFile(args[2], last, 0o644)
}
