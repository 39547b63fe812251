#!/usr/bin/env python3
"""an encoder's package with palettised weights, by coremltools"""
# requirements: coremltools
#
#   tools/dev/peers/run palettise IN.mlpackage OUT.mlpackage [--bits N]
#
# Uniform palettes, one for each tensor. The last line says how large the weights became.
import argparse
import pathlib
import platform
import sys

# A file called coremltools.py lies beside this one and would be imported in the package's place.
sys.path[:] = [p for p in sys.path if pathlib.Path(p or ".").resolve() != pathlib.Path(__file__).resolve().parent]


import coremltools as ct
import coremltools.optimize.coreml as cto

parser = argparse.ArgumentParser(prog="tools/dev/peers/run palettise")
parser.add_argument("package")
parser.add_argument("out")
parser.add_argument("--bits", type=int, default=8)
a = parser.parse_args()
config = cto.OptimizationConfig(global_config=cto.OpPalettizerConfig(mode="uniform", nbits=a.bits))
made = cto.palettize_weights(ct.models.MLModel(a.package, skip_model_load=True), config)
# The system is a part of what an encoder is: another one may give another file.
made.user_defined_metadata["coreml-gate.exported-on"] = platform.platform()
made.save(a.out)
size = lambda package: sum(f.stat().st_size for f in pathlib.Path(package).rglob("weight.bin"))
print(f"{size(a.package)} bytes of weights became {size(a.out)}")
