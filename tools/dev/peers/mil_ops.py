#!/usr/bin/env python3
"""operations of MIL answered by coremltools' own value inference, held against our evaluator's corpus"""
# requirements: coremltools
#
#   tools/dev/peers/run mil-ops           compares the checked-in corpus with what coremltools answers today
#   tools/dev/peers/run mil-ops write     writes the corpus
#
# coremltools cannot predict on Linux, but its converter computes constant operations with NumPy while it builds a program.
# The corpus, tools/encoder/mil/eval/testdata/ops.json, holds for each case the program text, the inputs and those answers; a Go test
# evaluates each program. Convolutions, which coremltools does not compute, are answered by the definition, in float64.
import json
import logging
import pathlib
import sys

sys.path[:] = [p for p in sys.path if pathlib.Path(p or ".").resolve() != pathlib.Path(__file__).resolve().parent]
logging.disable(logging.WARNING)
import coremltools as ct
import numpy as np
from coremltools.converters.mil.mil import Builder as mb

np.seterr(all="ignore")
CORPUS = pathlib.Path(__file__).resolve().parents[2] / "encoder/mil/eval/testdata/ops.json"
NAMES = {"float16": "fp16", "float32": "fp32", "int32": "int32", "bool": "bool", "int8": "int8", "uint8": "uint8", "int16": "int16", "uint16": "uint16"}
cases = []
rng = np.random.default_rng(7)


def type_text(a):
    return f"tensor<{NAMES[str(a.dtype)]}, [{', '.join(map(str, a.shape))}]>"


def literal(a):
    if a.ndim == 0:
        if a.dtype == bool:
            return "true" if a else "false"
        if a.dtype.kind == "f":
            return float(a).hex() if np.isfinite(a) else str(a)
        return str(int(a))
    return "[" + ", ".join(literal(x) for x in a) + "]"


def constant(v):
    if isinstance(v, str):
        return f'string("{v}")'
    if isinstance(v, (list, tuple)):
        v = np.array(v, np.int32 if not v or not isinstance(v[0], bool) else bool)
    elif not isinstance(v, np.ndarray):
        v = np.array(v, bool if isinstance(v, bool) else np.int32 if isinstance(v, int) else np.float32)
    t = type_text(v)
    return f"{t}({literal(v)})"


def tensor(a):
    a = np.asarray(a)
    return {"dtype": NAMES[str(a.dtype)], "shape": list(a.shape), "hex": np.ascontiguousarray(a).tobytes().hex()}


def infer(op, opset, args):
    """What coremltools computes for the operation on constants."""
    got = []

    @mb.program(input_specs=[], opset_version=opset)
    def prog():
        made = {k: [mb.const(val=x) for x in v] if k == "values" else mb.const(val=v) if isinstance(v, np.ndarray) else v for k, v in args.items()}
        out = getattr(mb, op)(**made)
        got.extend(out if isinstance(out, (tuple, list)) else [out])
        return out
    return [np.asarray(o.val) for o in got]


def case(op, runtime, fixed=None, *, opset="ios18", answers=None, ulp=0.0, abs=0.0, note=""):
    """runtime arguments become inputs of the program, fixed ones constants. Answers come from coremltools unless given."""
    fixed = fixed or {}
    if answers is None:
        target = {"ios15": ct.target.iOS15, "ios16": ct.target.iOS16, "ios17": ct.target.iOS17, "ios18": ct.target.iOS18}[opset]
        answers = infer(op, target, {**runtime, **fixed})
        if any(a.dtype == object for a in answers):
            answers = [defined(op, runtime, fixed)]
    params, binds, inputs = [], [], {}
    for k, v in runtime.items():
        many = v if k == "values" else [v]
        names = [f"{k}_{i}" for i in range(len(many))]
        for n, a in zip(names, many):
            params.append(f"{type_text(a)} {n}")
            inputs[n] = tensor(a)
        binds.append(f"{k} = ({', '.join(names)})" if k == "values" else f"{k} = {names[0]}")
    binds += [f"{k} = {constant(v)}" for k, v in fixed.items()]
    outs = [f"out_{i}" for i in range(len(answers))]
    results = ", ".join(f"{type_text(a)} {n}" for a, n in zip(answers, outs))
    text = f"program(1.3)\n{{\n    func main<{opset}>({', '.join(params)}) {{\n        {results} = {op}({', '.join(binds)})[name = string(\"it\")];\n    }} -> ({', '.join(outs)});\n}}\n"
    cases.append({"name": f"{op} {len(cases)}" + (f": {note}" if note else ""), "program": text, "inputs": inputs,
                  "outputs": {n: tensor(a) for n, a in zip(outs, answers)}, "ulp": ulp, "abs": abs})


def defined(op, runtime, fixed):
    """What coremltools does not compute, by its documentation's formula, in float64."""
    x = next(iter(runtime.values()))
    wide = np.asarray(x[0] if isinstance(x, list) else x).astype(np.float64)
    match op:
        case "silu":
            out = wide / (1 + np.exp(-wide))
        case "real_div":
            out = wide / runtime["y"].astype(np.float64)
        case _:
            raise SystemExit(f"coremltools gives no answer for {op}, and there is no definition here")
    return out.astype(x.dtype)


def hard(dtype):
    """Zeros of both signs, subnormals, the ends of the range, infinities, NaN, and ordinary numbers."""
    tiny = {"float16": [2.0**-24, 2.0**-14, 1023 * 2.0**-24, 65504, 2049, 0.333251953125], "float32": [2.0**-149, 2.0**-126, 3.4e38, 16777217, 1 / 3, 1e-20]}[dtype]
    v = [0.0, 1, 2, 0.5, 3.75, 7, 10, 0.1, 100] + tiny + [np.inf]
    return np.array([s * x for x in v for s in (1, -1)] + [np.nan], np.float64).astype(dtype)


def normal(*shape, dtype="float32"):
    return rng.standard_normal(shape).astype(dtype)


def conv(x, w, b, strides, pads, dilations, groups):
    """A convolution by its definition, in float64."""
    x, w = x.astype(np.float64), w.astype(np.float64)
    n = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [tuple(pads[2 * i:2 * i + 2]) for i in range(n)])
    spatial = [(x.shape[2 + i] - (w.shape[2 + i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(n)]
    out = np.zeros((x.shape[0], w.shape[0], *spatial))
    per = w.shape[0] // groups
    for o in range(w.shape[0]):
        g = o // per
        for at in np.ndindex(*spatial):
            cut = tuple(slice(at[i] * strides[i], at[i] * strides[i] + (w.shape[2 + i] - 1) * dilations[i] + 1, dilations[i]) for i in range(n))
            part = x[(slice(None), slice(g * w.shape[1], (g + 1) * w.shape[1]), *cut)]
            out[(slice(None), o, *at)] = (part * w[o]).reshape(x.shape[0], -1).sum(1)
    return out if b is None else out + b.astype(np.float64).reshape(1, -1, *[1] * n)


def make():
    for d in ("float16", "float32"):
        h = hard(d)
        finite = h[np.isfinite(h)]
        one = np.array(1, d)
        for op in ("abs", "relu", "square", "ceil", "floor", "round"):
            case(op, {"x": h})
        for op in ("sigmoid", "tanh", "erf", "exp", "silu", "sin", "cos"):
            case(op, {"x": np.clip(finite, -20, 20)}, ulp=4, abs=1e-7)
        case("sqrt", {"x": np.abs(h)}, ulp=1)
        case("rsqrt", {"x": np.abs(finite) + one}, {"epsilon": np.array(1e-5, d)}, ulp=4)
        case("inverse", {"x": np.abs(finite) + one}, {"epsilon": np.array(1e-4, d)}, ulp=3)
        case("log", {"x": np.abs(finite) + one}, {"epsilon": np.array(1e-5, d)}, ulp=4, abs=1e-3 if d == "float16" else 1e-6)
        case("clip", {"x": finite}, {"alpha": np.array(-1, d), "beta": np.array(2.5, d)})
        for mode in ("EXACT", "TANH_APPROXIMATION", "SIGMOID_APPROXIMATION"):
            case("gelu", {"x": np.clip(finite, -30, 30)}, {"mode": mode}, ulp=4, abs=2e-3 if d == "float16" else 3e-6)
        a, b = h[:, None] * one, h[None, :]
        for op in ("add", "sub", "mul", "real_div", "maximum", "minimum"):
            if op in ("maximum", "minimum"):
                case(op, {"x": finite[:, None], "y": finite[None, :]})
            else:
                case(op, {"x": a, "y": b})
        case("pow", {"x": np.abs(finite[2:18]), "y": np.full(16, 2, d)}, ulp=2)
        x = normal(2, 3, 4, 5, dtype=d)
        case("add", {"x": x, "y": normal(3, 1, 5, dtype=d)}, note="broadcast")
        case("mul", {"x": normal(1, 4, 1, dtype=d), "y": x}, note="broadcast")
        case("sub", {"x": np.array(3, d), "y": x}, note="scalar")
        loose = 0.004 if d == "float16" else 3e-6
        for axes in ([-1], [1, 2], [0, 1, 2, 3], [2, 0]):
            for keep in (False, True):
                case("reduce_mean", {"x": x}, {"axes": axes, "keep_dims": keep}, ulp=2, abs=loose)
                case("reduce_max", {"x": x}, {"axes": axes, "keep_dims": keep})
        case("reduce_sum", {"x": x}, {"axes": [1], "keep_dims": True}, ulp=2, abs=loose)
        case("reduce_min", {"x": x}, {"axes": [3, 1], "keep_dims": False})
        case("reduce_sum_square", {"x": x}, {"axes": [1], "keep_dims": False}, ulp=2, abs=2 * loose)
        for axis in (-1, 0, 1, 2):
            case("softmax", {"x": 4 * x}, {"axis": axis}, ulp=16, abs=loose / 4)
        for axes in ([-1], [1], [2, 3], [1, 3], [0, 1, 2, 3]):
            part = [x.shape[i] for i in sorted(a % 4 for a in axes)]
            gamma, beta = normal(*part, dtype=d), normal(*part, dtype=d)
            wide = x.astype(np.float64)
            at = tuple(a % 4 for a in axes)
            mean, var = wide.mean(at, keepdims=True), wide.var(at, keepdims=True)
            full = [x.shape[i] if i in at else 1 for i in range(4)]
            want = (wide - mean) / np.sqrt(var + np.float64(np.array(1e-5, d))) * gamma.reshape(full).astype(np.float64) + beta.reshape(full)
            case("layer_norm", {"x": x}, {"axes": axes, "gamma": gamma, "beta": beta, "epsilon": np.array(1e-5, d)},
                 answers=[want.astype(d)], ulp=1, abs=loose / 8)
        case("layer_norm", {"x": x}, {"axes": [-1], "epsilon": np.array(0.5, d)}, ulp=4, abs=loose)
        case("linear", {"x": normal(2, 7, 5, dtype=d)}, {"weight": normal(9, 5, dtype=d), "bias": normal(9, dtype=d)}, ulp=2, abs=4 * loose)
        case("linear", {"x": normal(5, dtype=d)}, {"weight": normal(3, 5, dtype=d)}, ulp=2, abs=4 * loose, note="rank 1")
        for tx in (False, True):
            for ty in (False, True):
                p = normal(2, 1, 6, 5, dtype=d) if not tx else normal(2, 1, 5, 6, dtype=d)
                q = normal(3, 5, 7, dtype=d) if not ty else normal(3, 7, 5, dtype=d)
                case("matmul", {"x": p, "y": q}, {"transpose_x": tx, "transpose_y": ty}, ulp=2, abs=4 * loose)
        case("einsum", {"values": [normal(1, 3, 2, 4, dtype=d), normal(1, 4, 2, 5, dtype=d)]}, {"equation": "nchw,nwhu->nchu"}, ulp=2, abs=4 * loose)
        case("einsum", {"values": [normal(2, 3, 1, 4, dtype=d), normal(1, 4, 6, 5, dtype=d)]}, {"equation": "bkhc,bchq->bkhq"}, ulp=2, abs=4 * loose)
        case("einsum", {"values": [normal(3, 2, 4, dtype=d), normal(4, 2, 5, dtype=d)]}, {"equation": "chw,whr->chr"}, ulp=2, abs=4 * loose)
        q, k, v = normal(2, 3, 6, 8, dtype=d), normal(2, 3, 5, 8, dtype=d), normal(2, 3, 5, 4, dtype=d)
        case("scaled_dot_product_attention", {"query": q, "key": k, "value": v}, ulp=4, abs=loose)
        mask = normal(6, 5, dtype=d)
        case("scaled_dot_product_attention", {"query": q, "key": k, "value": v, "attn_mask": mask}, ulp=4, abs=loose)
        for xs, ws, st, pads, dil, groups in (
                ((1, 4, 11), (6, 4, 3), [1], [1, 1], [1], 1), ((2, 4, 11), (6, 4, 3), [2], [1, 1], [1], 1), ((1, 4, 11), (6, 2, 3), [1], [0, 2], [2], 2),
                ((1, 4, 1, 9), (5, 4, 1, 1), [1, 1], [0, 0, 0, 0], [1, 1], 1), ((1, 3, 6, 7), (4, 3, 3, 2), [2, 1], [1, 0, 2, 1], [1, 2], 1),
                ((1, 4, 5, 5), (4, 1, 3, 3), [1, 1], [1, 1, 1, 1], [1, 1], 4)):
            cx, cw, cb = normal(*xs, dtype=d), normal(*ws, dtype=d), normal(ws[0], dtype=d)
            case("conv", {"x": cx}, {"weight": cw, "bias": cb, "strides": st, "pad_type": "custom", "pad": pads, "dilations": dil, "groups": groups},
                 answers=[conv(cx, cw, cb, st, pads, dil, groups).astype(d)], ulp=2, abs=8 * loose)
        for kind, pads in (("same", [0, 1]), ("same_lower", [1, 0]), ("valid", [0, 0])):
            cx, cw = normal(1, 2, 10, dtype=d), normal(3, 2, 3, dtype=d)
            case("conv", {"x": cx}, {"weight": cw, "strides": [2], "pad_type": kind, "pad": [0, 0], "dilations": [1], "groups": 1},
                 answers=[conv(cx, cw, None, [2], pads, [1], 1).astype(d)], ulp=2, abs=8 * loose, note=kind)

    # Whatever only moves elements moves bits.
    for d in ("float16", "float32", "int32", "bool"):
        x = (rng.integers(0, 2, (2, 3, 4)).astype(bool) if d == "bool" else rng.integers(-9, 9, (2, 3, 4)).astype(d))
        case("transpose", {"x": x}, {"perm": [2, 0, 1]})
        case("transpose", {"x": x}, {"perm": [0, -1, 1]})
        case("reshape", {"x": x}, {"shape": [4, -1]}, opset="ios17")
        case("expand_dims", {"x": x}, {"axes": [0, -1]})
        case("squeeze", {"x": x[:1, :, :1]}, {"axes": [0, 2]})
        case("squeeze", {"x": x[:1, :, :1]})
        case("split", {"x": x}, {"axis": 1, "num_splits": 3})
        case("split", {"x": x}, {"axis": -1, "split_sizes": [1, 3]})
        case("concat", {"values": [x, x[:, :2], x[:, :1]]}, {"axis": 1, "interleave": False})
        # coremltools' inference leaves interleave out of account; its documentation's example decides.
        case("concat", {"values": [x, x[::-1].copy()]}, {"axis": -1, "interleave": True},
             answers=[np.stack([x, x[::-1]], -1).reshape(2, 3, 8)])
        case("stack", {"values": [x, x[::-1].copy()]}, {"axis": 1})
        case("slice_by_index", {"x": x}, {"begin": [0, 1, 0], "end": [2, 3, 4], "stride": [1, 1, 2]})
        case("slice_by_index", {"x": x}, {"begin": [0, -1, 3], "end": [0, 0, 0], "stride": [1, -1, -2], "end_mask": [True, True, True]})
        case("slice_by_index", {"x": x}, {"begin": [1, 0, 0], "end": [0, 0, 2], "begin_mask": [False, True, True], "end_mask": [False, True, False], "squeeze_mask": [True, False, False]})
        case("slice_by_size", {"x": x}, {"begin": [0, 1, 1], "size": [2, -1, 2]})
    case("reshape", {"x": normal(2, 3, 4)}, {"shape": [0, -1]}, opset="ios17", note="0 counts from the end")
    case("reshape", {"x": normal(2, 3, 4)}, {"shape": [0, -1, 0]}, opset="ios15", note="0 at its place")

    # Casts, each directly from its own type.
    every8 = np.arange(-128, 128)
    for d in ("float16", "float32"):
        case("cast", {"x": every8.astype(np.int8)}, {"dtype": NAMES[d]}, opset="ios17")
        case("cast", {"x": (every8 + 128).astype(np.uint8)}, {"dtype": NAMES[d]}, opset="ios17")
        case("cast", {"x": np.array([0, 1, -1, 2049, 2051, 65519, 65520, 16777217, 2147483647, -2147483648], np.int32)}, {"dtype": NAMES[d]})
        case("cast", {"x": hard(d)}, {"dtype": "fp32" if d == "float16" else "fp16"})
        case("cast", {"x": np.array([0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, 1000.75], d)}, {"dtype": "int32"})
        case("cast", {"x": np.array([0.0, -0.0, 0.5, -2, np.inf, 2.0**-14], d)}, {"dtype": "bool"})
    case("cast", {"x": np.array([True, False])}, {"dtype": "fp16"})
    ints = np.array([0, 1, -1, 7, 1000, -4096], np.int32)
    for op in ("add", "sub", "mul", "maximum", "minimum"):
        case(op, {"x": ints[:, None] * 1, "y": np.array([[3, -5, 1]], np.int32)})

    # Boolean masks: for one row and all, for each head, and of a row in which nothing takes part.
    for d in ("float16", "float32"):
        loose = 2e-3 if d == "float16" else 1e-6
        q, k, v = normal(2, 3, 6, 8, dtype=d), normal(2, 3, 5, 8, dtype=d), normal(2, 3, 5, 4, dtype=d)
        for shape in ((6, 5), (1, 5), (2, 1, 1, 5), (2, 3, 6, 5)):
            mask = rng.integers(0, 3, shape) > 0
            mask[..., 0] = True
            case("scaled_dot_product_attention", {"query": q, "key": k, "value": v, "attn_mask": mask}, ulp=4, abs=loose, note="boolean mask")
        mask = np.ones((6, 5), bool)
        mask[2], mask[4, 1:] = False, False
        case("scaled_dot_product_attention", {"query": q, "key": k, "value": v, "attn_mask": mask}, ulp=4, abs=loose, note="nothing takes part in a row")


def pooled(x, kernel, strides, pads, average, counted, ceil=False):
    """Windows by NumPy, one position at a time, in float64. counted: padding counts as zeros in an average."""
    n = x.ndim - 2
    wide = x.astype(np.float64)
    shape = []
    for i in range(n):
        size = x.shape[2 + i] + pads[2 * i] + pads[2 * i + 1] - kernel[i]
        extent = (size + (strides[i] - 1 if ceil else 0)) // strides[i] + 1
        if ceil and (extent - 1) * strides[i] >= x.shape[2 + i] + pads[2 * i] and pads[2 * i] > 0:
            extent -= 1
        shape.append(extent)
    out = np.zeros((*x.shape[:2], *shape))
    for at in np.ndindex(*shape):
        cut = tuple(slice(max(at[i] * strides[i] - pads[2 * i], 0), at[i] * strides[i] - pads[2 * i] + kernel[i]) for i in range(n))
        part = wide[(slice(None), slice(None), *cut)].reshape(*x.shape[:2], -1)
        cells = np.prod(kernel) if counted else part.shape[2]
        out[(slice(None), slice(None), *at)] = part.sum(2) / cells if average else part.max(2)
    return out


def make_beyond_whisper():
    """Operations that other public models use."""
    for d in ("float16", "float32", "int32"):
        h = np.array([-70000, -3, -1, 0, 1, 2, 5, 16777215], np.int32) if d == "int32" else hard(d)
        for op in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
            case(op, {"x": h[:, None] * np.ones((), d), "y": h[None, :]})
        case("less", {"x": h, "y": np.array(1, d)}, note="scalar")
        cond = rng.integers(0, 2, (3, 1)).astype(bool)
        case("select", {"cond": np.array([[True], [False], [True]]), "a": np.resize(h, (3, h.size)), "b": np.zeros((3, h.size), d)})
        case("select", {"cond": rng.integers(0, 2, (2, 3, 4)).astype(bool), "a": np.resize(h, (2, 3, 4)), "b": np.resize(h[::-1], (2, 3, 4))}, note="not broadcast")
        x = np.resize(h, (2, 3, 4))
        case("reverse", {"x": x}, {"axes": [0, -1]})
        case("reverse", {"x": x})
        case("tile", {"x": x}, {"reps": [2, 1, 3]})
        case("gather", {"x": x, "indices": np.array([2, 0, 0, 1], np.int32)}, {"axis": 1})
        case("gather", {"x": x, "indices": np.array([[3, 0], [1, 2]], np.int32)}, {"axis": -1})
        case("gather", {"x": x, "indices": np.array(1, np.int32)}, {"axis": 1}, note="a scalar index")
        case("gather", {"x": x, "indices": np.array([-1, 0], np.int32)}, {"axis": 1}, opset="ios16", note="from the end")
        case("gather", {"x": x, "indices": np.array([[2, 0], [1, 1]], np.int32)}, {"axis": 1, "batch_dims": 1}, note="batch")
        case("gather", {"x": x, "indices": np.array([2, 0], np.uint8)}, {"axis": 1}, note="uint8")
        case("gather_along_axis", {"x": x, "indices": rng.integers(0, 3, (2, 5, 4)).astype(np.int32)}, {"axis": 1})
        case("gather_along_axis", {"x": x, "indices": rng.integers(0, 4, (2, 3, 2)).astype(np.int32)}, {"axis": -1})
        at = np.array([[0, 2], [1, 0], [1, 1]], np.int32)
        case("gather_nd", {"x": x, "indices": at}, {"batch_dims": 0}, answers=[x[at[:, 0], at[:, 1]]])
        at = np.array([[[2, 3], [0, 1]], [[1, 1], [2, 0]]], np.int32)
        case("gather_nd", {"x": x, "indices": at}, {"batch_dims": 1}, answers=[np.stack([x[b][at[b, :, 0], at[b, :, 1]] for b in range(2)])], note="batch")
        distinct = rng.permutation(60).reshape(3, 4, 5).astype(d) - np.array(30, d)
        for axis in (-1, 0, 1):
            case("reduce_argmax", {"x": distinct}, {"axis": axis, "keep_dims": False})
            case("reduce_argmin", {"x": distinct}, {"axis": axis, "keep_dims": True})
            for ascending in (False, True):
                case("topk", {"x": distinct}, {"k": 2, "axis": axis, "ascending": ascending}, opset="ios15")
        case("topk", {"x": distinct}, {"k": 3, "axis": -1, "ascending": False, "sort": True, "return_indices": False}, opset="ios16")
        case("shape", {"x": distinct})
        case("floor_div", {"x": distinct, "y": np.array(7, d)})
        case("floor_div", {"x": distinct, "y": np.array(-4, d)})
        case("mod", {"x": distinct, "y": np.array(7, d)})
        case("mod", {"x": distinct, "y": np.array(-4, d)})
    for d in ("float16", "float32"):
        loose = 0.004 if d == "float16" else 3e-6
        case("floor_div", {"x": 10 * normal(4, 5, dtype=d), "y": normal(4, 5, dtype=d)}, ulp=1)
        case("leaky_relu", {"x": hard(d)[:-1]}, {"alpha": np.array(0.25, d)})
        x = normal(2, 3, 4, 5, dtype=d)
        for mode, pad in (("constant", [1, 0, 0, 2, 3, 1, 0, 0]), ("constant", [2, 1]), ("reflect", [3, 2, 1, 4]), ("reflect", [2, 3]), ("replicate", [4, 1, 0, 5]), ("replicate", [1, 1])):
            case("pad", {"x": x}, {"pad": pad, "mode": mode, "constant_val": np.array(-1.5, d)})
        stats = {k: normal(3, dtype=d) for k in ("mean", "gamma", "beta")} | {"variance": np.abs(normal(3, dtype=d))}
        full = {k: v.astype(np.float64).reshape(1, 3, 1, 1) for k, v in stats.items()}
        eps = np.float64(np.array(1e-3, d))
        scaled = (x - full["mean"]) / np.sqrt(full["variance"] + eps)
        case("batch_norm", {"x": x}, {**stats, "epsilon": np.array(1e-3, d)}, answers=[(scaled * full["gamma"] + full["beta"]).astype(d)], ulp=1)
        case("batch_norm", {"x": x}, {"mean": stats["mean"], "variance": stats["variance"], "epsilon": np.array(1e-3, d)}, answers=[scaled.astype(d)], ulp=1)
        case("upsample_nearest_neighbor", {"x": x}, {"scale_factor_height": 3, "scale_factor_width": 2}, answers=[x.repeat(3, 2).repeat(2, 3)])
        for kernel, strides, pads in (([2, 3], [1, 2], [0, 0, 0, 0]), ([3, 3], [2, 2], [1, 1, 1, 1]), ([2, 2], [1, 1], [1, 0, 0, 1])):
            fixed = {"kernel_sizes": kernel, "strides": strides, "pad_type": "custom", "pad": pads, "ceil_mode": False}
            case("max_pool", {"x": x}, fixed, answers=[pooled(x, kernel, strides, pads, False, False).astype(d)])
            for excluded in (False, True):
                case("avg_pool", {"x": x}, {**fixed, "exclude_padding_from_average": excluded}, answers=[pooled(x, kernel, strides, pads, True, not excluded).astype(d)], ulp=1, abs=loose / 8)
        fixed = {"kernel_sizes": [3], "strides": [2], "pad_type": "custom", "pad": [1, 1], "ceil_mode": True}
        line = normal(2, 3, 8, dtype=d)
        case("max_pool", {"x": line}, fixed, answers=[pooled(line, [3], [2], [1, 1], False, False, True).astype(d)], note="ceil_mode")
        line = normal(1, 2, 7, dtype=d)
        for kind, pads in (("valid", [0, 0]), ("same", [1, 2]), ("same_lower", [2, 1])):
            fixed = {"kernel_sizes": [4], "strides": [3], "pad_type": kind, "pad": [0, 0], "ceil_mode": False}
            pads = [0, 0] if kind == "valid" else [(6 + 4 - 7) // 2, (6 + 4 - 7 + 1) // 2][::1 if kind == "same" else -1]
            case("max_pool", {"x": line}, fixed, answers=[pooled(line, [4], [3], pads, False, False).astype(d)], note=kind)
        deep = normal(1, 2, 3, 4, 5, dtype=d)
        case("max_pool", {"x": deep}, {"kernel_sizes": [2, 2, 2], "strides": [1, 2, 3], "pad_type": "valid", "pad": [0] * 6, "ceil_mode": False},
             answers=[pooled(deep, [2, 2, 2], [1, 2, 3], [0] * 6, False, False).astype(d)], note="three dimensions")
        # The quotients are exact multiples of an eighth, so that no rounding before the last one matters.
        exact = (rng.integers(-900, 900, (2, 3, 4)) / 8).astype(d)
        for low, kind in ((-128, "int8"), (0, "uint8")):
            zero = np.array([3, 100, 7], kind)
            scale = np.array([0.5, 1, 2], d)
            want = np.clip(np.around(exact.astype(np.float64) / scale.reshape(1, 3, 1)) + zero.reshape(1, 3, 1).astype(np.float64), low, low + 255).astype(kind)
            case("quantize", {"input": exact}, {"zero_point": zero, "scale": scale, "axis": 1, "output_dtype": kind}, answers=[want], opset="ios17")
            case("quantize", {"input": exact}, {"scale": np.array(0.25, d), "output_dtype": kind}, opset="ios17",
                 answers=[np.clip(np.around(exact.astype(np.float64) * 4), low, low + 255).astype(kind)])
            whole = rng.integers(low, low + 256, (2, 3, 4)).astype(kind)
            want = ((whole.astype(np.float64) - zero.reshape(1, 3, 1)) * scale.reshape(1, 3, 1)).astype(d)
            case("dequantize", {"input": whole}, {"zero_point": zero, "scale": scale, "axis": 1}, answers=[want], opset="ios17")
            case("dequantize", {"input": whole}, {"scale": np.array(0.1, d)}, answers=[(whole.astype(np.float64) * np.float64(np.array(0.1, d))).astype(d)], opset="ios17")
        case("fill", {}, {"shape": [2, 3], "value": np.array(1.5, d)})
    a, b = np.array([[True, True, False, False]]).T, np.array([True, False])
    for op in ("logical_and", "logical_or", "logical_xor"):
        case(op, {"x": a, "y": b})
    case("logical_not", {"x": b})
    case("select", {"cond": a, "a": a, "b": ~a}, note="bool")
    case("real_div", {"x": np.array([-12, 0, 30], np.int32), "y": np.array([4, 5, -6], np.int32)}, answers=[np.array([-3, 0, -5], np.int32)], note="integers that divide")
    case("range_1d", {}, {"start": 7, "end": -3, "step": -3})
    case("range_1d", {}, {"start": 0, "end": 5, "step": 2})
    m, n = rng.integers(-128, 128, (2, 3, 7)).astype(np.int32), rng.integers(-128, 128, (7, 5)).astype(np.int32)
    case("matmul", {"x": m, "y": n}, {"transpose_x": False, "transpose_y": False}, note="int32")
    case("matmul", {"x": m, "y": n.T.copy()}, {"transpose_x": False, "transpose_y": True}, note="int32")
    case("concat", {"values": [np.array(3, np.int32), np.array(-4, np.int32)]}, {"axis": 0, "interleave": False}, note="scalars")


make()
make_beyond_whisper()
made = json.dumps(cases, indent=0, sort_keys=True) + "\n"
if sys.argv[1:] == ["write"]:
    CORPUS.parent.mkdir(exist_ok=True)
    CORPUS.write_text(made)
elif CORPUS.read_text() != made:
    print("DIFFERENCE: the corpus is not what coremltools answers; write it anew and look at the change")
    sys.exit(1)
print(f"{len(cases)} cases, {sum(len(c['outputs']) for c in cases)} outputs")
