"""Stand-in for @apple_support//xcode:providers.bzl, as far as Bazel 7 has it."""

XcodeVersionInfo = apple_common.XcodeVersionConfig
