#!/usr/bin/env python3
"""artifacts of Apple's converter read by ours, equal value for value; ours loaded by it"""
# requirements: coremltools
# ours: ./tools/dev/peers/coremltoolsours
#
#   tools/dev/peers/run coremltools [MODEL.bin]      default: $WHISPER_MODELS_DIR/ggml-tiny.en.bin
#
# Our writer makes the encoder of a real model; coremltools loads it, converts it for iOS 15 to 18 in both precisions and
# compresses it in every way it knows; float offsets, which no compression writes, are added. Ours must read each package with
# every constant equal to what coremltools itself decompresses, carry it through text and compiling unchanged, and write it
# again so that coremltools sees no difference.
# Other kinds of models (networks, pipelines, several functions, states, flexible shapes) must be recognised.
# Exits 1 on any difference. The last line is the figure.
import hashlib
import inspect
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile

# The file is called like the package that it uses.
sys.path[:] = [p for p in sys.path if pathlib.Path(p or ".").resolve() != pathlib.Path(__file__).resolve().parent]
logging.disable(logging.WARNING)  # no predictor on Linux: known
os.environ["TQDM_DISABLE"] = "1"
import coremltools as ct
import numpy as np
from coremltools.converters.mil import mil
from coremltools.converters.mil.frontend.milproto import load as milproto
from coremltools.converters.mil.mil import Builder as mb
from coremltools.converters.mil.mil import types
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder
import coremltools.optimize as cto

OURS = os.environ["PEER_OURS"]
figures = {"packages": 0, "constants": 0, "compressed": 0, "elements": 0, "kinds": 0, "ours loaded": 0}
faults = []


def ours(*args):
    return subprocess.run([OURS, *map(str, args)], check=True, stdout=subprocess.PIPE).stdout


def fault(what):
    faults.append(what)
    print("DIFFERENCE", what)


def load(path):
    """A package as coremltools' own in-memory program."""
    model = ct.models.MLModel(str(path), skip_model_load=True)
    spec = model.get_spec()
    return milproto.load(spec, specification_version=spec.specificationVersion, file_weights_dir=model.weights_dir), model


def element_bytes(value, dtype):
    """Elements as ours hashes them: little-endian, one byte for bools and for integers below eight bits."""
    array = np.asarray(value)
    if types.is_bool(dtype):
        array = array.astype(np.uint8)
    elif types.is_sub_byte(dtype):
        array = array.astype(np.uint8 if dtype.is_unsigned() else np.int8)
    else:
        array = array.astype(types.nptype_from_builtin(dtype))
    return np.ascontiguousarray(array).tobytes(), array.size


def decompressed(op):
    """The results of a constexpr operation by coremltools' own decompress function; its operands may be results of others."""
    def value(var):
        if var is None or var.val is not None or not var.op.op_type.startswith("constexpr_"):
            return None if var is None else var.val
        return decompressed(var.op)[var.op.outputs.index(var)]

    if hasattr(op, "decompress"):
        result = op.decompress(**{name: value(op.inputs.get(name)) for name in inspect.signature(op.decompress).parameters})
    else:
        result = op.materialized_val_inference()
    return list(result) if isinstance(result, tuple) else [result]


def their_constants(prog, spec):
    """(function, name) -> kind, strings or digest, elements; constexpr operations as coremltools decompresses them."""
    found = {}
    for fname, function in prog.functions.items():
        stored = spec.mlProgram.functions[fname]
        names = {o.name for op in stored.block_specializations[stored.opset].operations for o in op.outputs}
        for op in function.operations:
            if op.op_type == "const":
                values = [op.outputs[0].val]
            elif op.op_type.startswith("constexpr_"):
                values = decompressed(op)
            else:
                continue
            for var, value in zip(op.outputs, values):
                if var.name not in names:
                    continue  # loading turns attributes into constants of their own
                if types.is_str(var.dtype):
                    found[fname, var.name] = op.op_type, [str(s) for s in np.asarray(value).reshape(-1)], 0
                else:
                    data, count = element_bytes(value, var.dtype)
                    found[fname, var.name] = op.op_type, hashlib.sha256(data).hexdigest(), count
    return found


def compare(label, path):
    """Ours against coremltools on one package."""
    prog, model = load(path)
    theirs = their_constants(prog, model.get_spec())
    mine = {}
    for line in ours("constants", path).splitlines():
        c = json.loads(line)
        mine[c["Function"], c["Name"]] = c["Kind"], c["SHA256"] or c.get("Strings", [])
    for key in sorted(theirs.keys() | mine.keys()):
        if key not in mine or key not in theirs:
            fault(f"{label}: {key} only in {'theirs' if key in theirs else 'ours'}")
        elif mine[key] != theirs[key][:2]:
            fault(f"{label}: {key} differs: ours {mine[key]}, theirs {theirs[key]}")
    figures["packages"] += 1
    figures["constants"] += len(theirs)
    figures["elements"] += sum(t[2] for t in theirs.values())
    compressed = sum(t[0].startswith("constexpr_") for t in theirs.values())
    figures["compressed"] += compressed
    facts_agree(label, path)
    trips(label, path, model)
    print(f"{label}: {len(theirs)} constants, {compressed} of them compressed")
    return compressed


def feature_facts(features):
    """Our facts about features, from coremltools' protobuf."""
    kinds = {"multiArrayType": "MultiArray", "imageType": "Image", "stringType": "String", "int64Type": "Int64", "doubleType": "Double",
             "dictionaryType": "Dictionary", "sequenceType": "Sequence", "stateType": "State"}
    dtypes = {65568: "Float32", 65552: "Float16", 65600: "Double", 131104: "Int32", 131080: "Int8"}
    out = []
    for f in features:
        which = f.type.WhichOneof("Type")
        fact = {"Name": f.name, "Kind": kinds[which], "DType": "", "Shape": None, "Enumerated": None, "Ranges": None, "Optional": f.type.isOptional}
        array = {"multiArrayType": f.type.multiArrayType, "stateType": f.type.stateType.arrayType}.get(which)
        if array is not None:
            fact["DType"], fact["Shape"] = dtypes[array.dataType], list(array.shape) or None
            flex = array.WhichOneof("ShapeFlexibility")
            if flex == "enumeratedShapes":
                fact["Enumerated"] = [list(s.shape) for s in array.enumeratedShapes.shapes]
            elif flex == "shapeRange":
                fact["Ranges"] = [[r.lowerBound, r.upperBound] for r in array.shapeRange.sizeRanges]
        out.append(fact)
    return out


def facts_agree(label, path):
    spec = ct.models.utils.load_spec(str(path))
    d, kind = spec.description, spec.WhichOneof("Type")
    operations = {}
    if kind == "mlProgram":
        def count(block):
            return sum(1 + sum(count(b) for b in op.blocks) for op in block.operations)
        operations = {n: count(f.block_specializations[f.opset]) for n, f in spec.mlProgram.functions.items()}
    members = []
    if kind.startswith("pipeline"):
        pipe = spec.pipeline if kind == "pipeline" else getattr(spec, kind).pipeline
        members = [m.WhichOneof("Type") for m in pipe.models]
    layers = len(getattr(spec, kind).layers) if kind.startswith("neuralNetwork") else 0
    want = {"Kind": kind, "Version": spec.specificationVersion, "Functions": operations, "Described": [f.name for f in d.functions] or None,
            "DefaultFunction": d.defaultFunctionName, "Inputs": feature_facts(d.input), "Outputs": feature_facts(d.output),
            "States": feature_facts(d.state), "Models": members or None, "Layers": layers, "Unknown": None,
            "Metadata": dict(d.metadata.userDefined) or None}
    got = json.loads(ours("facts", path))
    for key, value in want.items():
        if got[key] != value:
            fault(f"{label}: {key}: ours {got[key]}, theirs {value}")
    figures["kinds"] += 1


def trips(label, path, model):
    """Text in both versions, the compiled form, and a package of ours that coremltools cannot tell from its own."""
    spec = model.get_spec()
    main = spec.mlProgram.functions.get("main")
    nested = any(op.blocks for f in spec.mlProgram.functions.values() for b in f.block_specializations.values() for op in b.operations)
    if not nested:
        ours("text", path)
    fixed = main is not None and not nested and not any(
        f.type.multiArrayType.WhichOneof("ShapeFlexibility") for f in spec.description.input)
    with tempfile.TemporaryDirectory() as tmp:
        if fixed and len(spec.mlProgram.functions) == 1:
            ours("compiled", path, os.path.join(tmp, "c.mlmodelc"))
        again = os.path.join(tmp, "again.mlpackage")
        ours("rewrite", path, again)
        _, rewritten = load(again)
        if rewritten.get_spec() != spec:
            fault(f"{label}: the package that ours wrote has another protobuf")
        if weight_digests(rewritten) != weight_digests(model):
            fault(f"{label}: the package that ours wrote has other weights")
        figures["ours loaded"] += 1


def weight_digests(model):
    folder = pathlib.Path(model.weights_dir) if model.weights_dir else None
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in folder.iterdir()} if folder and folder.is_dir() else {}


def convert(prog, target, precision, **more):
    return ct.convert(prog, convert_to="mlprogram", minimum_deployment_target=target, compute_precision=precision, skip_model_load=True, **more)


def compressions(target):
    """Name, function from model to compressed model."""
    def linear(joint=False, **config):
        c = cto.coreml.OptimizationConfig(global_config=cto.coreml.OpLinearQuantizerConfig(**config))
        return lambda m: cto.coreml.linear_quantize_weights(m, c, joint_compression=joint)

    def palette(joint=False, only=None, **config):
        op = cto.coreml.OpPalettizerConfig(**config)
        c = cto.coreml.OptimizationConfig(op_name_configs={only: op}) if only else cto.coreml.OptimizationConfig(global_config=op)
        return lambda m: cto.coreml.palettize_weights(m, c, joint_compression=joint)

    def prune(cls=cto.coreml.OpMagnitudePrunerConfig, **config):
        c = cto.coreml.OptimizationConfig(global_config=cls(**config))
        return lambda m: cto.coreml.prune_weights(m, c)

    yield "int8 symmetric per channel", linear(mode="linear_symmetric")
    yield "uint8 with zero points", linear(mode="linear", dtype="uint8")
    for nbits in (1, 2, 4, 6, 8):
        yield f"palette of {nbits} bits", palette(mode="uniform", nbits=nbits)
    yield "palette by k-means", palette(mode="kmeans", nbits=4, only=KMEANS_OP)
    yield "pruned by half", prune(target_sparsity=0.5)
    yield "pruned by threshold", prune(cls=cto.coreml.OpThresholdPrunerConfig, threshold=0.03, minimum_sparsity_percentile=0.1)
    yield "pruned 2 of 4", prune(n_m_ratio=(2, 4))
    if target < ct.target.iOS18:
        return
    yield "palette of 3 bits", palette(mode="uniform", nbits=3)
    yield "palettes per 16 channels", palette(mode="uniform", nbits=4, granularity="per_grouped_channel", group_size=16)
    yield "palette of vectors", palette(mode="kmeans", nbits=4, cluster_dim=4, only=KMEANS_OP)
    yield "palette with scales per channel", palette(mode="uniform", nbits=4, enable_per_channel_scale=True)
    yield "int8 per tensor", linear(mode="linear_symmetric", granularity="per_tensor")
    yield "int4 per channel", linear(mode="linear_symmetric", dtype="int4")
    yield "uint4 in blocks of 32", linear(mode="linear", dtype="uint4", granularity="per_block", block_size=32)
    yield "int4 in blocks of 64", linear(mode="linear_symmetric", dtype="int4", granularity="per_block", block_size=64)
    pruned = prune(target_sparsity=0.5)
    yield "pruned and int8", lambda m: linear(joint=True, mode="linear_symmetric")(pruned(m))
    yield "pruned and palettes", lambda m: palette(joint=True, mode="uniform", nbits=4)(pruned(m))
    palettes = palette(mode="uniform", nbits=4, granularity="per_grouped_channel", group_size=16)
    yield "palettes of int8", lambda m: linear(joint=True, mode="linear_symmetric", granularity="per_tensor")(palettes(m))


KMEANS_OP = "blocks_0_attn_query_weight_to_fp16"  # k-means takes minutes on a whole model


def encoder_cases(base, tmp):
    """The real encoder through coremltools, plain and compressed."""
    for target in (ct.target.iOS15, ct.target.iOS16, ct.target.iOS17, ct.target.iOS18):
        for precision in (ct.precision.FLOAT32, ct.precision.FLOAT16):
            label = f"{target.name} {precision.value}"
            model = convert(load(base)[0], target, precision)
            path = tmp / "plain.mlpackage"
            model.save(str(path))
            compare(label, path)
            # Compressed forms changed with iOS 16 and with iOS 18. In float32 the arithmetic differs, the layout does not.
            if target == ct.target.iOS15 or target == ct.target.iOS17:
                continue
            for name, compress in compressions(target):
                if precision == ct.precision.FLOAT32 and "blocks" not in name and "zero points" not in name and "and" not in name:
                    continue
                compress(ct.models.MLModel(str(path), skip_model_load=True)).save(str(tmp / "packed.mlpackage"))
                if compare(f"{label}, {name}", tmp / "packed.mlpackage") == 0:
                    fault(f"{label}, {name}: coremltools compressed nothing, so nothing was tested")


def float_offsets(tmp):
    """What no compression writes but the definitions allow: data and offsets that are floats, where each rounding shows."""
    rng = np.random.default_rng(1)
    path = tmp / "offsets.mlpackage"

    def numbers(dtype, *shape):
        return rng.integers(-100, 100, shape).astype(np.int8) if dtype == np.int8 else rng.uniform(-100, 100, shape).astype(dtype)

    kinds = (np.int8, np.float16, np.float32)

    @mb.program(input_specs=[mb.TensorSpec(shape=(64, 64))], opset_version=ct.target.iOS18)
    def blockwise(x):
        for data in kinds:
            for scale in (np.float16, np.float32):
                for offset in kinds:
                    if offset != np.int8 or data == np.int8:
                        w = mb.constexpr_blockwise_shift_scale(data=numbers(data, 64, 64), scale=numbers(scale, 64, 2) / 100, offset=numbers(offset, 64, 2))
                        x = mb.add(x=x, y=w if scale == np.float32 else mb.cast(x=w, dtype="fp32"))
        return mb.identity(x=x, name="output")

    @mb.program(input_specs=[mb.TensorSpec(shape=(64, 64))], opset_version=ct.target.iOS16)
    def affine(x):
        for scale in (np.float16, np.float32):
            w = mb.constexpr_affine_dequantize(quantized_data=numbers(np.int8, 64, 64), scale=numbers(scale, 64) / 100, zero_point=numbers(np.float32, 64), axis=0)
            x = mb.add(x=x, y=w if scale == np.float32 else mb.cast(x=w, dtype="fp32"))
        return mb.identity(x=x, name="output")

    for label, prog, target, want in (("blockwise", blockwise, ct.target.iOS18, 14), ("affine", affine, ct.target.iOS16, 2)):
        convert(prog, target, ct.precision.FLOAT32).save(str(path))
        if (found := compare(f"float offsets, {label}", path)) != want:
            fault(f"float offsets, {label}: {found} compressed constants, want {want}")


def other_kinds(tmp):
    """Artifacts that are no plain encoders; each must be seen as what it is."""
    path = tmp / "other.mlpackage"

    @mb.program(input_specs=[mb.TensorSpec(shape=(1, 4, mil.get_new_symbol()))], opset_version=ct.target.iOS16)
    def open_shape(x):
        return mb.relu(x=x, name="output")

    shapes = ct.EnumeratedShapes(shapes=[[1, 4, 8], [1, 4, 16]], default=[1, 4, 8])
    for label, shape in (("enumerated shapes", shapes), ("ranged shape", (1, 4, ct.RangeDim(2, 9, default=3)))):
        convert(open_shape, ct.target.iOS16, ct.precision.FLOAT32, inputs=[ct.TensorType(name="x", shape=shape)]).save(str(path))
        compare(label, path)

    @mb.program(input_specs=[mb.TensorSpec(shape=(2,)), mb.StateTensorSpec((2,), dtype=types.fp16)], opset_version=ct.target.iOS18)
    def stateful(x, cache):
        sum_ = mb.add(x=mb.cast(x=x, dtype="fp16"), y=mb.read_state(input=cache))
        mb.coreml_update_state(state=cache, value=sum_)
        return mb.cast(x=sum_, dtype="fp32", name="output")

    convert(stateful, ct.target.iOS18, ct.precision.FLOAT16).save(str(path))
    compare("state", path)

    @mb.program(input_specs=[mb.TensorSpec(shape=(1,), dtype=types.fp32)], opset_version=ct.target.iOS15)
    def branching(x):
        return mb.cond(pred=mb.cast(x=mb.squeeze(x=x), dtype="bool"), _true_fn=lambda: mb.add(x=x, y=1.0), _false_fn=lambda: mb.mul(x=x, y=2.0),
                       name="output")

    convert(branching, ct.target.iOS15, ct.precision.FLOAT32).save(str(path))
    compare("control flow", path)

    @mb.program(input_specs=[mb.TensorSpec(shape=(1, 3, 4, 4))], opset_version=ct.target.iOS15)
    def picture(x):
        return mb.relu(x=x, name="output")

    convert(picture, ct.target.iOS15, ct.precision.FLOAT32, inputs=[ct.ImageType(name="x", shape=(1, 3, 4, 4))]).save(str(path))
    compare("image input", path)

    members = []
    for i in range(2):
        @mb.program(input_specs=[mb.TensorSpec(shape=(64, 64))], opset_version=ct.target.iOS18)
        def member(x):
            weight = np.arange(64 * 64, dtype=np.float32).reshape(64, 64) + i
            return mb.matmul(x=x, y=mb.const(val=weight, name="w"), name="output")
        members.append(tmp / f"member{i}.mlpackage")
        convert(member, ct.target.iOS18, ct.precision.FLOAT32).save(str(members[-1]))
    several = ct.utils.MultiFunctionDescriptor()
    for i, m in enumerate(members):
        several.add_function(str(m), src_function_name="main", target_function_name=f"f{i}")
    several.default_function_name = "f0"
    ct.utils.save_multifunction(several, str(path))
    compare("several functions", path)

    builder = NeuralNetworkBuilder([("x", datatypes.Array(4))], [("output", datatypes.Array(4))], disable_rank5_shape_mapping=True)
    builder.add_activation("relu", "RELU", "x", "middle")
    builder.add_activation("tanh", "TANH", "middle", "output")
    network = tmp / "network.mlmodel"
    ct.models.utils.save_spec(builder.spec, str(network))
    facts_agree("neural network", network)
    pipe = ct.models.pipeline.Pipeline([("x", datatypes.Array(4))], [("output", datatypes.Array(4))])
    pipe.add_model(builder.spec)
    pipe.spec.specificationVersion = 4
    line = tmp / "pipeline.mlmodel"
    ct.models.utils.save_spec(pipe.spec, str(line))
    facts_agree("pipeline", line)


def main():
    model = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.environ.get("WHISPER_MODELS_DIR", "."), "ggml-tiny.en.bin")
    if not os.path.isfile(model):
        sys.exit(f"no model at {model}: give one, or set WHISPER_MODELS_DIR to the folder of ggml-tiny.en.bin")
    with tempfile.TemporaryDirectory() as folder:
        tmp = pathlib.Path(folder)
        for precision in ("float16", "float32"):
            base = tmp / f"{precision}.mlpackage"
            subprocess.run(["go", "run", "./tools/actions/gate_encoder", "package", f"--model={model}", f"--precision={precision}", f"--out={base}"], check=True)
            compare(f"ours {precision}", base)
            # What coremltools checks of a program when it builds its own: types and shapes of every operation.
            prog, _ = load(base)
            prog.validate(check_essential_scope=False)
        encoder_cases(base, tmp)
        float_offsets(tmp)
        other_kinds(tmp)
    if faults:
        sys.exit(f"{len(faults)} differences")
    print(", ".join(f"{v} {k}" for k, v in figures.items()) + ", 0 differences")


if __name__ == "__main__":
    main()
