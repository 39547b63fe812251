"""The providers of rules_coreml_gate, for rules of your own."""

load("//gate/private/providers:core_ml_toolchain_info.bzl", _CoreMLToolchainInfo = "CoreMLToolchainInfo")
load("//gate/private/providers:coreml_encoder_info.bzl", _CoreMLEncoderInfo = "CoreMLEncoderInfo")
load("//gate/private/providers:gate_receipt_info.bzl", _GateReceiptInfo = "GateReceiptInfo")
load("//gate/private/providers:pin_info.bzl", _PinInfo = "PinInfo")
load("//gate/private/providers:whisper_cli_info.bzl", _WhisperCliInfo = "WhisperCliInfo")
load("//gate/private/providers:whisper_run_info.bzl", _WhisperRunInfo = "WhisperRunInfo")

CoreMLEncoderInfo = _CoreMLEncoderInfo
CoreMLToolchainInfo = _CoreMLToolchainInfo
GateReceiptInfo = _GateReceiptInfo
PinInfo = _PinInfo
WhisperCliInfo = _WhisperCliInfo
WhisperRunInfo = _WhisperRunInfo
