#!/usr/bin/env python3
"""every form in which converters write a Whisper encoder, made by coremltools from real weights, against float64"""
# requirements: coremltools
# ours: ./tools/dev/peers/encodeours
#
#   tools/dev/peers/run encoder-forms [MODEL.bin]      default: $WHISPER_MODELS_DIR/ggml-tiny.en.bin
#
# coremltools writes the encoder in the plain form, in whisper.cpp's form for the Neural Engine (rank 4, 1x1 convolutions, heads
# by split and einsum, norms over channels), in the same with the norms spelled out as older converters do, and with
# scaled_dot_product_attention; in float32 and float16; and compresses the plain one in its own ways. Our evaluator computes each
# package on one mel. The table says how far each is from the float64 reference. Exits 1 when a float32 form is below 100 dB, a
# float16 one below fp16_v1's limit, or a form cannot be evaluated. The last line is the figure.
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile

import protocol
from ggml_encoder import read_ggml

# coremltools.py beside this file is not the library.
sys.path[:] = [p for p in sys.path if pathlib.Path(p or ".").resolve() != pathlib.Path(__file__).resolve().parent]
logging.disable(logging.WARNING)
os.environ["TQDM_DISABLE"] = "1"
import coremltools as ct
import coremltools.optimize.coreml as cto
import numpy as np
from coremltools.converters.mil.mil import Builder as mb

OURS = os.environ["PEER_OURS"]
POLICIES = pathlib.Path(__file__).resolve().parents[3] / "gate/policy"
EPS = 1e-5


class Writer:
    """The encoder in one of its forms."""

    def __init__(self, model):
        h, self.t = read_ggml(model)
        self.ctx, self.d, self.heads, self.layers, self.mels = h[2], h[3], h[4], h[5], h[10]
        self.size = self.d // self.heads

    def bias(self, name):
        return self.t.get(name + ".bias", np.zeros(self.t[name + ".weight"].shape[0], np.float32)).reshape(-1)

    def front(self, x):
        for name, stride in (("conv1", 1), ("conv2", 2)):
            x = mb.conv(x=x, weight=self.t[name + ".weight"], bias=self.bias(name), strides=[stride], pad_type="custom", pad=[1, 1])
            x = mb.gelu(x=x, mode="EXACT")
        return x

    def plain(self, x, fused=False):
        """As a trace of openai-whisper or of Hugging Face gives it."""
        norm = lambda x, n: mb.layer_norm(x=x, axes=[-1], gamma=self.t[n + ".weight"], beta=self.t[n + ".bias"], epsilon=EPS)
        linear = lambda x, n: mb.linear(x=x, weight=self.t[n + ".weight"], bias=self.bias(n))
        x = mb.add(x=mb.transpose(x=self.front(x), perm=[0, 2, 1]), y=self.t["positional_embedding"])
        scale = np.float32(self.size ** -0.25)
        for i in range(self.layers):
            b = f"blocks.{i}."
            y = norm(x, b + "attn_ln")
            q, k, v = (mb.transpose(x=mb.reshape(x=linear(y, b + "attn." + n), shape=[1, self.ctx, self.heads, -1]), perm=[0, 2, 1, 3])
                       for n in ("query", "key", "value"))
            if fused:
                a = mb.scaled_dot_product_attention(query=q, key=k, value=v)
            else:
                w = mb.softmax(x=mb.matmul(x=mb.mul(x=q, y=scale), y=mb.mul(x=k, y=scale), transpose_y=True), axis=-1)
                a = mb.matmul(x=w, y=v)
            a = mb.reshape(x=mb.transpose(x=a, perm=[0, 2, 1, 3]), shape=[1, self.ctx, self.d])
            x = mb.add(x=x, y=linear(a, b + "attn.out"))
            x = mb.add(x=x, y=linear(mb.gelu(x=linear(norm(x, b + "mlp_ln"), b + "mlp.0"), mode="EXACT"), b + "mlp.2"))
        return norm(x, "ln_post")

    def engine(self, x, spelled=False):
        """As whisper.cpp's converter gives it with --optimize-ane: channels second, rank 4."""
        def norm(x, n):
            if not spelled:
                return mb.layer_norm(x=x, axes=[1], gamma=self.t[n + ".weight"], beta=self.t[n + ".bias"], epsilon=EPS)
            # The norm of ane_transformers adds the bias before it scales, so its bias is beta/gamma.
            centred = mb.sub(x=x, y=mb.reduce_mean(x=x, axes=[1], keep_dims=True))
            variance = mb.reduce_mean(x=mb.mul(x=centred, y=centred), axes=[1], keep_dims=True)
            out = mb.mul(x=centred, y=mb.rsqrt(x=mb.add(x=variance, y=np.float32(EPS)), epsilon=np.float32(1e-12)))
            gamma, beta = self.t[n + ".weight"].reshape(1, -1, 1, 1), self.t[n + ".bias"].reshape(1, -1, 1, 1)
            return mb.mul(x=mb.add(x=out, y=(beta / gamma).astype(np.float32)), y=gamma)

        def conv(x, n):
            return mb.conv(x=x, weight=self.t[n + ".weight"][:, :, None, None], bias=self.bias(n))

        x = mb.add(x=self.front(x), y=self.t["positional_embedding"].T[None])
        x = mb.expand_dims(x=x, axes=[2])
        scale = np.float32(self.size ** -0.5)
        sizes = [self.size] * self.heads
        for i in range(self.layers):
            b = f"blocks.{i}."
            y = norm(x, b + "attn_ln")
            q, k, v = (conv(y, b + "attn." + n) for n in ("query", "key", "value"))
            q, v = mb.split(x=q, split_sizes=sizes, axis=1), mb.split(x=v, split_sizes=sizes, axis=1)
            k = mb.split(x=mb.transpose(x=k, perm=[0, 3, 2, 1]), split_sizes=sizes, axis=3)
            a = []
            for qi, ki, vi in zip(q, k, v):
                w = mb.softmax(x=mb.mul(x=mb.einsum(values=(ki, qi), equation="bkhc,bchq->bkhq"), y=scale), axis=1)
                a.append(mb.einsum(values=(vi, w), equation="bchk,bkhq->bchq"))
            x = mb.add(x=x, y=conv(mb.concat(values=a, axis=1), b + "attn.out"))
            x = mb.add(x=x, y=conv(mb.gelu(x=conv(norm(x, b + "mlp_ln"), b + "mlp.0"), mode="EXACT"), b + "mlp.2"))
        return mb.transpose(x=mb.squeeze(x=norm(x, "ln_post"), axes=[2]), perm=[0, 2, 1])

    def package(self, body, target, precision):
        @mb.program(input_specs=[mb.TensorSpec(shape=(1, self.mels, 2 * self.ctx))], opset_version=target)
        def prog(logmel_data):
            return mb.identity(x=body(logmel_data), name="output")
        return ct.convert(prog, convert_to="mlprogram", minimum_deployment_target=target, compute_precision=precision, skip_model_load=True)


def compressions():
    linear = lambda **c: lambda m: cto.linear_quantize_weights(m, cto.OptimizationConfig(global_config=cto.OpLinearQuantizerConfig(**c)))
    palette = lambda **c: lambda m: cto.palettize_weights(m, cto.OptimizationConfig(global_config=cto.OpPalettizerConfig(**c)))
    yield "int8 per channel", linear(mode="linear_symmetric")
    yield "int4 in blocks of 32", linear(mode="linear_symmetric", dtype="int4", granularity="per_block", block_size=32)
    yield "palettes of 8 bits", palette(mode="uniform", nbits=8)
    yield "palettes of 4 bits", palette(mode="uniform", nbits=4)
    yield "palettes of 4 bits, grouped", palette(mode="uniform", nbits=4, granularity="per_grouped_channel", group_size=16)
    yield "pruned by half", lambda m: cto.prune_weights(m, cto.OptimizationConfig(global_config=cto.OpMagnitudePrunerConfig(target_sparsity=0.5)))


def main():
    model = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.environ.get("WHISPER_MODELS_DIR", ""), "ggml-tiny.en.bin"))
    limits = {"float32": 100.0, "float16": json.loads((POLICIES / "fp16_v1.json").read_text())["thresholds"]["snr_db_min"]}
    w = Writer(model)
    forms = [("plain", lambda x: w.plain(x), ct.target.iOS15), ("attention as one operation", lambda x: w.plain(x, fused=True), ct.target.iOS18),
             ("Neural Engine", lambda x: w.engine(x), ct.target.iOS15), ("Neural Engine, norms spelled out", lambda x: w.engine(x, spelled=True), ct.target.iOS15)]
    bad, lowest, values = [], 1e9, {}
    report = protocol.Report("encoder-forms", f"{os.path.basename(model)}, the built-in sound; the numbers do not depend on the machine's load")
    with tempfile.TemporaryDirectory() as tmp:
        mel, ref, out = (os.path.join(tmp, n) for n in ("mel", "ref", "out"))
        subprocess.run([OURS, "mel", model, "-", mel], check=True)
        subprocess.run([OURS, "reference", model, mel, ref], check=True)
        exact = np.fromfile(ref, np.float64)

        def measure(label, package, limit):
            nonlocal lowest
            path = os.path.join(tmp, "p.mlpackage")
            package.save(path)
            r = subprocess.run([OURS, "predict", model, path, mel, out], stderr=subprocess.PIPE, text=True)
            if r.returncode:
                bad.append(label)
                print(f"{label}: not evaluated: {r.stderr.strip()}")
                return
            y = np.fromfile(out, np.float32).astype(np.float64)
            snr = 10 * np.log10((exact**2).sum() / ((y - exact) ** 2).sum())
            cosine = (y @ exact) / np.sqrt((y @ y) * (exact @ exact))
            print(f"{label}: {snr:.2f} dB, cosine {cosine:.8f}", flush=True)
            values[label] = snr, cosine
            if limit is not None and not snr >= limit:
                bad.append(label)
            if limit == 100:
                lowest = min(lowest, snr)

        for name, body, target in forms:
            for precision in (ct.precision.FLOAT32, ct.precision.FLOAT16):
                p = "float32" if precision == ct.precision.FLOAT32 else "float16"
                measure(f"{name}, {p}", w.package(body, target, precision), limits[p])
        base = w.package(lambda x: w.plain(x), ct.target.iOS18, ct.precision.FLOAT16)
        for name, compress in compressions():
            measure(f"plain, float16, {name}", compress(base), None)
    of = lambda label: values.get(label, (None, None))
    report.table("forms", "form", ("float32", "dB", 1), ("float16", "dB", 1))
    for name, _, _ in forms:
        report.row(name, of(f"{name}, float32")[0], of(f"{name}, float16")[0])
    report.table("compressed", "compression of the plain float16 form", ("against float64", "dB", 1), ("cosine", "", 4))
    for name, _ in compressions():
        report.row(name, *of(f"plain, float16, {name}"))
    report.end()
    if bad:
        sys.exit("DIFFERENCE: " + "; ".join(bad))
    print(f"lowest float32 form {lowest:.1f} dB")


main()
