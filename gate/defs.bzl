"""The rules of rules_coreml_gate.

Most users need one macro, `coreml_encoder_gate`: it makes the encoder, three runs of
whisper-cli, the tests that judge them and the receipt. The rules it is made of are here too.
"""

load("//gate/private:artifact_contract.bzl", _artifact_contract = "artifact_contract")
load("//gate/private:core_ml_worker.bzl", _core_ml_worker = "core_ml_worker")
load("//gate/private:coreml_archive.bzl", _coreml_archive = "coreml_archive")
load("//gate/private:coreml_compile.bzl", _coreml_compile = "coreml_compile")
load("//gate/private:coreml_encoder.bzl", _coreml_encoder = "coreml_encoder")
load("//gate/private:coreml_encoder_gate.bzl", _coreml_encoder_gate = "coreml_encoder_gate")
load("//gate/private:encoder_bench.bzl", _encoder_bench = "encoder_bench")
load("//gate/private:encoder_parity.bzl", _encoder_parity = "encoder_parity")
load("//gate/private:encoder_placement.bzl", _encoder_placement = "encoder_placement")
load("//gate/private:gate_judge.bzl", _gate_judge = "gate_judge")
load("//gate/private:gate_receipt.bzl", _gate_receipt = "gate_receipt")
load("//gate/private:gate_release.bzl", _gate_release = "gate_release")
load("//gate/private:gate_test.bzl", _gate_test = "gate_test")
load("//gate/private:patch_ab_report.bzl", _patch_ab_report = "patch_ab_report")
load("//gate/private:receipt_on.bzl", _receipt_on = "receipt_on")
load("//gate/private:recording.bzl", _recording = "recording")
load("//gate/private:two_lane_release.bzl", _two_lane_release = "two_lane_release")
load("//gate/private:upstream_sources.bzl", _upstream_sources = "upstream_sources")
load("//gate/private:whisper_cli.bzl", _whisper_cli = "whisper_cli")
load("//gate/private:whisper_run.bzl", _whisper_run = "whisper_run")
load("//gate/private:whisper_words.bzl", _whisper_words = "whisper_words")

artifact_contract = _artifact_contract
core_ml_worker = _core_ml_worker
coreml_archive = _coreml_archive
coreml_compile = _coreml_compile
coreml_encoder = _coreml_encoder
coreml_encoder_gate = _coreml_encoder_gate
encoder_bench = _encoder_bench
encoder_parity = _encoder_parity
encoder_placement = _encoder_placement
gate_judge = _gate_judge
gate_receipt = _gate_receipt
gate_release = _gate_release
gate_test = _gate_test
patch_ab_report = _patch_ab_report
receipt_on = _receipt_on
recording = _recording
two_lane_release = _two_lane_release
upstream_sources = _upstream_sources
whisper_cli = _whisper_cli
whisper_run = _whisper_run
whisper_words = _whisper_words
