package whispercpp

import "testing"

func TestEncoderPath(t *testing.T) {
	for model, want := range map[string]string{
		// The table of the contract.
		"models/ggml-base.en.bin":        "models/ggml-base.en-encoder.mlmodelc",
		"/x/ggml-model.bin":              "/x/ggml-model-encoder.mlmodelc",
		"/x/ggml-base.en-q5_0.bin":       "/x/ggml-base.en-encoder.mlmodelc",
		"/x/ggml-model-q8_0.bin":         "/x/ggml-model-encoder.mlmodelc",
		"/x/ggml-tune-q1_5.bin":          "/x/ggml-tune-encoder.mlmodelc",
		"/data/v1.4/ggml-model":          "/data/v1-encoder.mlmodelc",
		"for-tests-ggml-base.en.bin":     "for-tests-ggml-base.en-encoder.mlmodelc",
		"ggml-base.en-q4_K.bin":          "ggml-base.en-encoder.mlmodelc",
		"ggml-base.en-q4_K_M.bin":        "ggml-base.en-q4_K_M-encoder.mlmodelc",
		"ggml-base.en-Q5_0.bin":          "ggml-base.en-Q5_0-encoder.mlmodelc",
		"ggml-base.en-f16.bin":           "ggml-base.en-f16-encoder.mlmodelc",
		"my.model.v2.bin":                "my.model.v2-encoder.mlmodelc",
		"ggml-base.en":                   "ggml-base-encoder.mlmodelc",
		"d.v1/model":                     "d-encoder.mlmodelc",
		"./ggml-base":                    "-encoder.mlmodelc",
		"../ggml-base":                   ".-encoder.mlmodelc",
		"":                               "-encoder.mlmodelc",
		".":                              "-encoder.mlmodelc",
		"a-q5_0":                         "a-encoder.mlmodelc",
		"-q5_0.bin":                      "-encoder.mlmodelc",
		"a-q5_0-q5_0.bin":                "a-q5_0-encoder.mlmodelc",
		"a-q/_b.bin":                     "a-encoder.mlmodelc",
		"a-q5_/.bin":                     "a-encoder.mlmodelc",
		"a-q5_\xff.bin":                  "a-encoder.mlmodelc",
		"ggml-large-v3-turbo-q5_0.bin":   "ggml-large-v3-turbo-encoder.mlmodelc",
		"Bücher/ggml-modell-q5_0.bin":    "Bücher/ggml-modell-encoder.mlmodelc",
		"ggml-q5_0.bin.gz":               "ggml-q5_0.bin-encoder.mlmodelc",
		"m/ggml-Xft-large-v3-turbo-zh.b": "m/ggml-Xft-large-v3-turbo-zh-encoder.mlmodelc",
	} {
		if got := EncoderPath(model); got != want {
			t.Errorf("%q: expected %q, found %q", model, want, got)
		}
	}
}

func TestEncoderPackage(t *testing.T) {
	if got, want := EncoderPackage("m/ggml-base.en-q5_0.bin"), "ggml-base.en-encoder.mlpackage"; got != want {
		t.Errorf("expected %q, found %q", want, got)
	}
}

func TestEncoderPathSurprise(t *testing.T) {
	for model, surprising := range map[string]bool{
		"m/ggml-base.bin": false, "m.d/ggml-base-q5_0.bin": false, "./ggml-base.bin": false,
		"d.v1/model": true, "model": true, "./model": true, "m/ggml-base.en": true, "d-q5_/.bin": true, "d-q/_b.bin": true,
	} {
		if got := EncoderPathSurprise(model); (got != "") != surprising {
			t.Errorf("%q: expected a surprise: %v, found %q", model, surprising, got)
		}
	}
}
