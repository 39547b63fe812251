"""The encoder of a ggml model file, for the peers beside this file. It shares nothing with tools/encoder/ggml, which they check."""
import struct

import numpy as np


def read_ggml(path):
    """Header (the magic and eleven hyperparameters) and the encoder's tensors by name, as float32; float16 and float32 files only."""
    with open(path, "rb") as f:
        header = struct.unpack("<12i", f.read(48))
        rows, columns = struct.unpack("<2i", f.read(8))
        f.seek(4 * rows * columns, 1)
        for _ in range(struct.unpack("<i", f.read(4))[0]):
            f.seek(struct.unpack("<i", f.read(4))[0], 1)
        tensors = {}
        while head := f.read(12):
            rank, length, kind = struct.unpack("<3i", head)
            if kind not in (0, 1):
                raise ValueError(f"{path}: a tensor of type {kind}; 0 (float32) and 1 (float16) are known here")
            shape = struct.unpack(f"<{rank}i", f.read(4 * rank))[::-1]
            name = f.read(length).decode()
            data = np.frombuffer(f.read(int(np.prod(shape)) * (2 if kind else 4)), np.float16 if kind else np.float32)
            if name.startswith("encoder."):
                tensors[name[8:]] = data.reshape(shape).astype(np.float32)
    return header, tensors
