#!/usr/bin/env python3
"""a source model's own encoder output, for `parity_reference`: Hugging Face transformers in float32 on a CPU"""
# requirements: reference
#
#   coregate mel --model MODEL.bin --out mel.npy [--audio SPEECH.wav]
#   tools/dev/peers/run source-reference CHECKPOINT --revision COMMIT --mel mel.npy --out source.npy
#
# CHECKPOINT is a folder with a Whisper checkpoint, or the name of one that transformers can fetch; --revision is its commit (or, for
# a folder, what you call its state). Writes source.npy, the output of the encoder in evaluation mode with eager attention, and
# source.npy.json, the sidecar that says so (docs/parity.md). The mel is the one of the gate: give the same file as `mel`.
# The last line is the shape of what was written.
import argparse
import hashlib
import json
import pathlib

import numpy
import torch
import transformers

MELS = (80, 128)


def read_mel(path):
    """The mel, bands by frames, and its digest: SHA-256 of the values as little-endian float32, row-major."""
    mel = numpy.load(path, allow_pickle=False)
    if mel.ndim == 3 and mel.shape[0] == 1:
        mel = mel[0]
    if mel.dtype != numpy.float32 or mel.ndim != 2 or mel.shape[0] not in MELS:
        raise SystemExit(f"{path}: expected float32 of {' or '.join(map(str, MELS))} bands by frames, found {mel.dtype} {mel.shape}: write it with coregate mel")
    values = numpy.ascontiguousarray(mel).astype("<f4")
    return values, hashlib.sha256(values.tobytes()).hexdigest()


def encode(checkpoint, revision, mel):
    """The last hidden state of the encoder, [1, positions, width]."""
    local = pathlib.Path(checkpoint).is_dir()
    where = {} if local else {"revision": revision}
    model = transformers.WhisperModel.from_pretrained(checkpoint, dtype=torch.float32, attn_implementation="eager", **where)
    model.eval()
    bands = model.config.num_mel_bins
    if bands != mel.shape[0]:
        raise SystemExit(f"{checkpoint}: it takes {bands} mel bands, found {mel.shape[0]}: this is the mel of another model")
    with torch.inference_mode():
        return model.get_encoder()(torch.from_numpy(mel)[None]).last_hidden_state.numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint")
    parser.add_argument("--revision", required=True)
    parser.add_argument("--mel", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    args = parser.parse_args()
    if args.out.suffix != ".npy":
        raise SystemExit(f"--out: expected a name that ends in .npy, found {args.out}")
    mel, digest = read_mel(args.mel)
    out = numpy.ascontiguousarray(encode(args.checkpoint, args.revision, mel)).astype("<f4")
    numpy.save(args.out, out)
    sidecar = {
        "schema": 1,
        "role": "reference",
        "model": args.checkpoint,
        "revision": args.revision,
        "tool": f"transformers {transformers.__version__}, torch {torch.__version__}",
        "dtype": "float32",
        "mode": "eval",
        "device": "cpu",
        "attention": "eager",
        "mel_sha256": digest,
        "tensor_sha256": hashlib.sha256(args.out.read_bytes()).hexdigest(),
    }
    pathlib.Path(f"{args.out}.json").write_text(json.dumps(sidecar, indent=1) + "\n")
    print(f"{args.out}: {list(out.shape)}")


if __name__ == "__main__":
    main()
