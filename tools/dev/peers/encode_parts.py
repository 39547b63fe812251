#!/usr/bin/env python3
"""the kinds of work in an encoder's layer, one by one, raced against ONNX Runtime at the shapes of a published size"""
# requirements: encode
# ours: ./tools/dev/share
#
#   tools/dev/peers/run encode-parts [--size base] [--threads N] [--pairs N]
#
# Each part is a graph of standard operators with values made up here: they change no time. Both sides hold their weights ready and
# stay warm; runs are interleaved. The last line is the ratio of the part at which ours takes most of ONNX Runtime's time.
import os
import pathlib
import statistics
import sys
import tempfile

import numpy as np

import protocol
from side import Side, interleaved, serve_lines

# Mels, width and heads of the published sizes; 1500 positions each (openai/whisper, model dimensions).
SIZES = {"tiny": (80, 384, 6), "base": (80, 512, 8), "small": (80, 768, 12), "medium": (80, 1024, 16), "large-v3": (128, 1280, 20), "large-v3-turbo": (128, 1280, 20)}
PARTS = ["convolutions", "projections", "MLP, widening", "MLP, narrowing", "attention"]
CTX = 1500


def graph(part, size, path):
    """The part as an ONNX graph with one input for each of its operands that is no weight; returns their shapes."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    mels, d, heads = SIZES[size]
    rng = np.random.default_rng(1)
    weight = lambda name, *shape: numpy_helper.from_array(rng.uniform(-1, 1, shape).astype(np.float32), name)
    nodes, weights, inputs, outputs = [], [], {}, []

    def product(i, ins, outs):
        inputs.setdefault("x", (1, CTX, ins))
        weights.append(weight(f"w{i}", ins, outs))
        nodes.append(helper.make_node("MatMul", ["x", f"w{i}"], [f"y{i}"]))
        outputs.append((f"y{i}", (1, CTX, outs)))

    if part == "convolutions":
        inputs = {"a": (1, mels, 2 * CTX), "b": (1, d, 2 * CTX)}
        weights = [weight("v", d, mels, 3), weight("w", d, d, 3)]
        nodes = [helper.make_node("Conv", ["a", "v"], ["y0"], pads=[1, 1], strides=[1]), helper.make_node("Conv", ["b", "w"], ["y1"], pads=[1, 1], strides=[2])]
        outputs = [("y0", (1, d, 2 * CTX)), ("y1", (1, d, CTX))]
    elif part == "projections":
        for i in range(4):
            product(i, d, d)
    elif part == "attention":
        inputs = {"q": (1, heads, CTX, d // heads), "k": (1, heads, d // heads, CTX), "v": (1, heads, CTX, d // heads)}
        nodes = [helper.make_node("MatMul", ["q", "k"], ["s"]), helper.make_node("Softmax", ["s"], ["p"], axis=-1), helper.make_node("MatMul", ["p", "v"], ["y"])]
        outputs = [("y", inputs["q"])]
    else:
        product(0, *((d, 4 * d) if part == "MLP, widening" else (4 * d, d)))
    info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    g = helper.make_graph(nodes, "part", [info(*i) for i in inputs.items()], [info(*o) for o in outputs], weights)
    onnx.save(helper.make_model(g, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return inputs


def serve(part, size, path, threads):
    import onnxruntime
    rng = np.random.default_rng(2)
    feed = {name: rng.uniform(-1, 1, shape).astype(np.float32) for name, shape in graph(part, size, path).items()}
    o = onnxruntime.SessionOptions()
    o.intra_op_num_threads, o.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(path, o, providers=["CPUExecutionProvider"])
    serve_lines(lambda: session.run(None, feed))


def main():
    parser = protocol.parser("encode-parts", 11)
    parser.add_argument("--size", default="base", choices=SIZES)
    parser.add_argument("--threads", type=int, default=2)
    a = parser.parse_args()
    protocol.check_pairs(a.pairs)
    report = protocol.Report("encode-parts", f"{a.threads} thread(s); each side is a process that stays warm; values made up")
    report.table("parts", f"part of {a.size}", ("ours takes of ONNX Runtime 1.32.0", "", 2), ("ours", "ms", 2), ("ONNX Runtime 1.32.0", "ms", 2))
    races = {}
    with tempfile.TemporaryDirectory() as tmp:
        for part in PARTS:
            mine = Side("ours", [os.environ["PEER_OURS"], "--serve", part, "--size", a.size, "--threads", str(a.threads)])
            peer = Side("onnxruntime", [sys.executable, __file__, "serve", part, a.size, str(pathlib.Path(tmp) / "part.onnx"), str(a.threads)])
            pairs = interleaved(mine, [peer], a.pairs)[peer]
            mine.close()
            peer.close()
            races[part] = protocol.rounds(*pairs, mine.peak * 2**20, peer.peak * 2**20)
            report.row(part, races[part], *([t * 1e3 for t in s.times] for s in (mine, peer)))
    report.end()
    worst = max(races, key=lambda p: statistics.median(r["ours"] / r["theirs"] for r in races[p]["rounds"]))
    protocol.judge(f"encode-parts-{a.size}-{worst}".replace(", ", "-"), races[worst])


if sys.argv[1:2] == ["serve"]:
    serve(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
else:
    main()
