"""What actions that run a model claim of a machine."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load("//gate/private:resources.bzl", "model_memory", "whisper_resources")

def _file(name):
    return struct(basename = name)

def _resources_test_impl(ctx):
    env = unittest.begin(ctx)
    for threads, name, runs, want in [
        (1, "ggml-tiny.en.bin", 1, {"cpu": 1, "memory": 512}),
        (2, "ggml-tiny.en.bin", 1, {"cpu": 2, "memory": 512}),
        (3, "ggml-base.bin", 1, {"cpu": 4, "memory": 1024}),
        (2, "ggml-tiny.en.bin", 2, {"cpu": 4, "memory": 1024}),
        (64, "ggml-large-v3-turbo.bin", 1, {"cpu": 8, "memory": 10240}),
        (1, "meetings.bin", 1, {"cpu": 1, "memory": 2048}),
    ]:
        asserts.equals(env, want, whisper_resources(threads, _file(name), runs)("linux", 0))
    asserts.true(env, model_memory("ggml-medium.bin") > model_memory("ggml-small.bin"))
    return unittest.end(env)

resources_test = unittest.make(_resources_test_impl)
