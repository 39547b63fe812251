// Package evidencetest makes evidence of runs that went as they should, for tests to bend.
package evidencetest

import (
	"bytes"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

// Reference is what the samples heard.
const Reference = "And so my fellow Americans ask not what your country can do for you, ask what you can do for your country."

const (
	model = `whisper_init_from_file_with_params_no_state: loading model from 'ggml-model.bin'
whisper_model_load: n_mels        = 80
whisper_model_load: type          = 1 (tiny)
`
	loading = `whisper_init_state: loading Core ML model from 'ggml-model-encoder.mlmodelc'
whisper_init_state: first run on a device may take a while ...
`
	failed = `coreml_double: version 2, protocol 1, fault none
coreml_double: cannot load 'ggml-model-encoder.mlmodelc': no such file or directory
whisper_init_state: failed to load Core ML model from 'ggml-model-encoder.mlmodelc'
error: failed to initialize whisper context
`
	loaded = `coreml_double: version 2, protocol 1, fault none
whisper_init_state: Core ML model loaded
`
	// count ends a run of the double that made one prediction.
	count  = "coreml_double: 1 predictions, 0 failed\n"
	conv   = "whisper_init_state: compute buffer (conv)   =    4.85 MB\n"
	encode = "whisper_init_state: compute buffer (encode) =   17.72 MB\n"
	decode = `whisper_init_state: compute buffer (cross)  =    3.89 MB
whisper_init_state: compute buffer (decode) =   95.91 MB

`
	info = `system_info: n_threads = 2 / 10 | WHISPER : COREML = %d | OPENVINO = 0 | CPU : SSE3 = 1 | AVX = 1 | 

main: processing 'audio.wav' (176000 samples, 11.0 sec), 2 threads, 1 processors, 5 beams + best of 5, lang = en, task = transcribe, timestamps = 0 ...

whisper_print_timings:     load time =    88.40 ms
whisper_print_timings:     fallbacks =   0 p /   0 h
whisper_print_timings:      mel time =    10.15 ms
whisper_print_timings:   sample time =    45.70 ms /   125 runs (     0.37 ms per run)
whisper_print_timings:   encode time =   812.22 ms /     1 runs (   812.22 ms per run)
whisper_print_timings:   decode time =     0.00 ms /     1 runs (     0.00 ms per run)
whisper_print_timings:   batchd time =   221.87 ms /   122 runs (     1.82 ms per run)
whisper_print_timings:   prompt time =     0.00 ms /     1 runs (     0.00 ms per run)
whisper_print_timings:    total time =  1203.11 ms
`
)

// Stderr is the raw log of a run of this kind.
func Stderr(kind evidence.Kind) string {
	switch kind {
	case evidence.KindCanary:
		return model + loading + failed
	case evidence.KindContrast:
		return model + conv + encode + decode + strings.Replace(info, "%d", "0", 1)
	}
	return model + loading + loaded + conv + decode + strings.Replace(info, "%d", "1", 1) + count
}

// Sample is the evidence of a public, emulated run that went as it should.
func Sample(kind evidence.Kind) *evidence.Evidence {
	sum := func(c string) string { return strings.Repeat(c, 64) }
	evaluator := sum("d")
	heapFill := 0
	e := &evidence.Evidence{
		Schema: evidence.Schema, Kind: kind, Lane: evidence.LaneEmulated,
		LaneIdentity: map[string]string{
			"lane": "emulated", "core_ml": evidence.CoreMLDouble, "bridge": "double", "version": "2", "protocol": "1", "evaluator": "tools/encoder/mil/eval",
			"baseline": "x86-64 with AVX2 and FMA", "instruction_set": "avx2",
		},
		Flavour: "coreml",
		Pin: pin.Identity{
			Name: "97c56f1d", Commit: "97c56f1dc1d1100a9d859c865a20c82d22f823ed", Tree: "57f199d2d972c1943abad6e81e9e0accae66b156", Supported: true,
			ManifestSHA256: "ae668b88707425f0c859f94a98f86b5b43a60bded743f770a0a0c7ca562e742a",
			Patch:          pin.PatchRef{Label: "//patches:whisper_batch_zero_init.patch", SHA256: "99bf1e4a9f768745bbaad61d4d131e5360c2f240e2fa577ce64726d9c67bfcef"},
			PatchedFile:    pin.FileRef{Path: "src/whisper.cpp", SHA256: "05dff881869ed5c6d5890fd48d82b388af89cd84ec5d9b739e58b2766467762c"},
		},
		Argv:          []string{"whisper-cli", "-m", "ggml-model.bin", "-f", "audio.wav", "-l", "en", "-t", "2", "--no-timestamps", "--temperature", "0", "--temperature-inc", "0"},
		Fault:         "none",
		Public:        true,
		Digests:       evidence.Digests{CLI: sum("a"), Model: sum("b"), Audio: sum("c"), Evaluator: &evaluator},
		Defines:       []string{"NDEBUG", "WHISPER_USE_COREML"},
		EncoderPath:   evidence.EncoderPath{Derived: "ggml-model-encoder.mlmodelc"},
		Attempts:      1,
		Exit:          evidence.Exit{Kind: evidence.ExitCode},
		Normalisation: evidence.NormalisationVersion,
	}
	stdout, evaluator := "\n "+Reference+"\n", sum("d")
	switch kind {
	case evidence.KindCoreML:
		encoder := sum("e")
		e.Digests.Evaluator = &evaluator
		e.Digests.Encoder = &encoder
		e.EncoderPath.Before, e.EncoderPath.After = true, true
	case evidence.KindCanary:
		e.Exit.Code = 3
		e.Digests.Evaluator = &evaluator
		stdout = ""
		heapFill = 0xaa
	case evidence.KindContrast:
		e.Flavour = "ggml"
		e.Digests.CLI = sum("f")
		e.Defines = []string{"NDEBUG"}
	}
	e.Environment = evidence.Environment(func(name string) string { return "$STAGE/" + name }, heapFill, true, e.Fault)
	SetStreams(e, Stderr(kind), stdout)
	return e
}

// SetStreams gives e these raw streams.
func SetStreams(e *evidence.Evidence, stderr, stdout string) {
	n := evidence.Normaliser{Stage: []string{"/tmp/stage"}}
	e.Stderr = n.Stream([]byte(stderr), false, e.Public, evidence.Recognise)
	e.Stdout = n.Stream([]byte(stdout), false, e.Public, func(string) bool { return false })
}

// Edit replaces text in e's stderr and makes the stream's digest fit again.
func Edit(e *evidence.Evidence, from, to string) *evidence.Evidence {
	stderr := bytes.ReplaceAll([]byte(strings.Join(e.Stderr.Lines, "\n")+"\n"), []byte(from), []byte(to))
	e.Stderr = evidence.Normaliser{}.Stream(stderr, e.Stderr.Truncated, e.Public, evidence.Recognise)
	return e
}
