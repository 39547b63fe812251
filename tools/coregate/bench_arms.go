package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/artifact"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/ceiling"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/session"
)

// ggmlArm is what an arm is called that has no encoder of its own.
const ggmlArm = "ggml"

// sources reads each arm's artifact and program.
func (b *benchFlags) sources() ([]session.Source, error) {
	var out []session.Source
	for _, arm := range b.arms {
		name, path, ok := strings.Cut(arm, "=")
		if !ok || name == "" || path == "" {
			return nil, fmt.Errorf("--arm %s: expected NAME=ENCODER.mlmodelc or NAME=%s", arm, ggmlArm)
		}
		src, err := b.source(name, path)
		if err != nil {
			return nil, fmt.Errorf("arm %s: %w", name, err)
		}
		out = append(out, *src)
	}
	return out, nil
}

func (b *benchFlags) source(name, path string) (*session.Source, error) {
	src := &session.Source{Name: name, CLI: b.cli, Encoder: path}
	defines, flavour := b.defines, "coreml"
	if path == ggmlArm {
		src.CLI, src.Encoder, defines, flavour = b.ggmlCLI, "", b.ggmlDefines, ggmlArm
	}
	var err error
	if src.Program, err = session.Describe(src.CLI, defines, flavour); err != nil {
		return nil, err
	}
	if flavour == "coreml" {
		if src.Program.Evaluator, err = session.Digest(b.evaluator); err != nil {
			return nil, fmt.Errorf("evaluator: %w", err)
		}
	}
	if b.identity != "" {
		if src.Program.Xcode, err = xcodeBuild(b.identity); err != nil {
			return nil, err
		}
	}
	if src.Artifact, err = describeArtifact(b.model, src.Encoder, b.units); err != nil {
		return nil, err
	}
	return src, nil
}

// describeArtifact reads what is run: digests, precision, scheme, and the work of one encode. An encoder that is not this
// model's is refused: what it costs says nothing.
func describeArtifact(model, encoder, units string) (measure.Artifact, error) {
	a := measure.Artifact{Compression: []measure.Scheme{}}
	var err error
	if a.ModelSHA256, err = session.Digest(model); err != nil {
		return a, err
	}
	m, err := ggml.Open(model)
	if err != nil {
		return a, err
	}
	defer m.Close()
	flop := encodeFLOP(m.Hyperparameters)
	a.FLOP = &flop
	if encoder == "" {
		a.Weights, a.Compute, a.Units, a.Producer = m.Hyperparameters.FType.String(), "ggml", "cpu", "whisper.cpp"
		return a, nil
	}
	r, err := artifact.Inspect(model, encoder, artifact.Options{ContentsOnly: true})
	if err != nil {
		return a, err
	}
	if r.Encoder == nil || r.Encoder.Precision == nil || r.Encoder.Form != "mlmodelc" {
		return a, fmt.Errorf("%s: expected a compiled encoder that can be read (coregate inspect says what is wrong)", encoder)
	}
	for _, bad := range r.Reasons {
		if d, ok := reason.Lookup(bad.Code); !ok || d.Class == reason.Fail || d.Class == reason.Refuse {
			return a, &reason.Error{Reason: bad}
		}
	}
	e := r.Encoder
	if a.EncoderDigest, err = tree.Digest(encoder); err != nil {
		return a, err
	}
	a.EncoderBytes, a.Weights, a.Compute, a.Units = e.Bytes, e.Precision.Weights, e.Precision.Compute, units
	a.Producer = producer(e.Producer)
	a.Bytes = &a.EncoderBytes
	for _, s := range e.Precision.Compression {
		a.Compression = append(a.Compression, measure.Scheme{Kind: s.Kind, Bits: s.Bits, Type: s.Type, Granularity: s.Granularity, Values: s.Values})
	}
	return a, nil
}

// xcodeBuild reads the build of Xcode from what the toolchain says about itself, or "unknown".
func xcodeBuild(path string) (string, error) {
	data, err := regular.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("lane identity: %w", err)
	}
	var id map[string]string
	if err := json.Unmarshal(data, &id); err != nil {
		return "", fmt.Errorf("lane identity %s: expected one object of strings: %w", path, err)
	}
	if id["xcode_build"] == "" {
		return environment.Unknown, nil
	}
	return id["xcode_build"], nil
}

// producer names what converted and compiled an encoder.
func producer(p artifact.Producer) string {
	if !p.Known {
		return environment.Unknown
	}
	named := []string{strings.TrimSpace(p.Converter + " " + p.ConverterVersion), strings.TrimSpace(p.Compiler + " " + p.CompilerVersion), p.Source}
	// What a converter gives is of the system that it ran on, but for our own.
	if !p.Portable() || p.System != "" {
		named = append(named, "exported on "+cmp.Or(p.System, "an "+environment.Unknown+" system"))
	}
	return strings.Join(slices.DeleteFunc(named, func(s string) bool { return s == "" }), ", ")
}

// encodeFLOP counts the operations of one encode, a multiplication and an addition each: two convolutions, and in each layer
// four projections, scores, their sum, and the two matrices of the feed-forward part.
func encodeFLOP(h ggml.Hyperparameters) float64 {
	ctx, d, mels := float64(h.AudioCtx), float64(h.AudioState), float64(h.Mels)
	convolutions := 2*3*mels*d*2*ctx + 2*3*d*d*ctx
	layer := 4*2*ctx*d*d + 2*2*ctx*ctx*d + 2*2*ctx*d*4*d
	return convolutions + float64(h.AudioLayer)*layer
}

// measureCeiling runs the machine's peak kernels: a product that stays in the caches, and reading as much as the largest
// encoder has.
func measureCeiling(p *session.Plan) ceiling.Ceiling {
	var largest int64
	for _, s := range p.Sources {
		largest = max(largest, s.Artifact.EncoderBytes)
	}
	pool := kernel.NewPool(0)
	defer pool.Release()
	defer pool.Start()()
	const n = 384
	product := &kernel.Product{M: n, N: n, K: n, A: kernel.Matrix{F32: make([]float32, n*n), Row: n, Col: 1}, B: kernel.Matrix{F32: make([]float32, n*n), Row: 1, Col: n},
		Out: make([]float32, n*n), Stride: n}
	return ceiling.Measure(kernel.Path(), pool.Threads(), func() float64 {
		pool.Multiply(product)
		return 2 * n * n * n
	}, largest)
}
