"""The rows of the encoder-name table, in Starlark. tools/encoder/artifact holds Go to upstream's own function."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load("//gate/private:derive.bzl", "derived_encoder_name")

visibility("//gate/private/tests")

_ROWS = {
    "ggml-base.en-Q5_0.bin": "ggml-base.en-Q5_0-encoder",
    "ggml-base.en-f16.bin": "ggml-base.en-f16-encoder",
    "ggml-base.en-q4_K.bin": "ggml-base.en-encoder",
    "ggml-base.en-q4_K_M.bin": "ggml-base.en-q4_K_M-encoder",
    "ggml-base.en-q5_0.bin": "ggml-base.en-encoder",
    "ggml-base.en.bin": "ggml-base.en-encoder",
    "ggml-model-q8_0.bin": "ggml-model-encoder",
    "ggml-tune-q1_5.bin": "ggml-tune-encoder",
    "my.model.v2.bin": "my.model.v2-encoder",
}

def _derive_test_impl(ctx):
    env = unittest.begin(ctx)
    for model, encoder in _ROWS.items():
        asserts.equals(env, encoder, derived_encoder_name(model))
    return unittest.end(env)

derive_test = unittest.make(_derive_test_impl)
