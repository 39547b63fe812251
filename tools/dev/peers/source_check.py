#!/usr/bin/env python3
"""the peer source-reference, and our float64 reference, on a checkpoint that is made from a .bin's own weights"""
# requirements: reference
# ours: ./tools/dev/peers/encodeours
#
#   tools/dev/peers/run source-check [MODEL.bin]      default: $WHISPER_MODELS_DIR/ggml-tiny.en.bin
#
# A Whisper checkpoint is written with the encoder of MODEL.bin (float16 or float32); the peer source-reference computes its output
# on the built-in sound by transformers and torch, as a process of its own; our float64 reference of the .bin must agree with
# that to 100 dB, and the sidecar must be about the files beside it. Needs some gigabytes for torch. The last line is the figure.
import hashlib
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
import transformers

from ggml_encoder import read_ggml

LIMIT = 100.0
MODULES = {
    "attn.query": "self_attn.q_proj", "attn.key": "self_attn.k_proj", "attn.value": "self_attn.v_proj", "attn.out": "self_attn.out_proj",
    "attn_ln": "self_attn_layer_norm", "mlp.0": "fc1", "mlp.2": "fc2", "mlp_ln": "final_layer_norm",
}


def there(name):
    """The name that transformers has for one of the .bin's encoder tensors."""
    module, _, kind = name.rpartition(".")
    if name == "positional_embedding":
        return "encoder.embed_positions.weight"
    if name.startswith("blocks."):
        _, layer, role = module.split(".", 2)
        return f"encoder.layers.{layer}.{MODULES[role]}.{kind}"
    return f"encoder.{'layer_norm' if module == 'ln_post' else module}.{kind}"


def checkpoint(model, folder):
    """Writes the checkpoint. Its decoder has values of chance, which no encoder's output depends on."""
    h, tensors = read_ggml(model)
    config = transformers.WhisperConfig(
        vocab_size=h[1], max_source_positions=h[2], d_model=h[3], encoder_attention_heads=h[4], encoder_layers=h[5], encoder_ffn_dim=4 * h[3],
        max_target_positions=h[6], decoder_attention_heads=h[8], decoder_layers=1, decoder_ffn_dim=4 * h[3], num_mel_bins=h[10])
    whole = transformers.WhisperModel(config)
    own = {k: v for k, v in whole.state_dict().items() if k.startswith("encoder.")}
    missing = set(own)
    for name, value in tensors.items():
        own[there(name)].copy_(torch.from_numpy(value.copy()).reshape(own[there(name)].shape))
        missing.discard(there(name))
    if missing:
        raise SystemExit(f"{model}: the .bin has no tensor for {sorted(missing)[:3]}")
    whole.save_pretrained(folder)
    return h


def main():
    model = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.environ.get("WHISPER_MODELS_DIR", ""), "ggml-tiny.en.bin"))
    ours = os.environ["PEER_OURS"]
    transformers.logging.set_verbosity_error()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as tmp:
        at = pathlib.Path(tmp)
        h = checkpoint(model, at / "checkpoint")
        subprocess.run([ours, "mel", model, "-", at / "mel"], check=True)
        subprocess.run([ours, "reference", model, at / "mel", at / "ref"], check=True)
        mel = np.fromfile(at / "mel", "<f4").reshape(h[10], -1)
        np.save(at / "mel.npy", mel)
        peer = [sys.executable, pathlib.Path(__file__).with_name("source_reference.py"), at / "checkpoint", "--revision", "made", "--mel", at / "mel.npy"]
        subprocess.run([*peer, "--out", at / "source.npy"], check=True, capture_output=True)
        theirs = np.load(at / "source.npy").astype(np.float64).reshape(-1)
        exact = np.fromfile(at / "ref", "<f8")
        said = json.loads((at / "source.npy.json").read_text())
        for what, data in (("tensor_sha256", (at / "source.npy").read_bytes()), ("mel_sha256", mel.tobytes())):
            if said[what] != hashlib.sha256(data).hexdigest():
                raise SystemExit(f"{what} of the sidecar is {said[what]}: another file's")
        # The mel of a model with other bands is refused.
        np.save(at / "mel.npy", np.zeros((208 - h[10], mel.shape[1]), np.float32))
        if subprocess.run([*peer, "--out", at / "other.npy"], capture_output=True).returncode == 0:
            raise SystemExit("the mel of another model was taken")
    if theirs.shape != exact.shape:
        raise SystemExit(f"{theirs.size} values by transformers, {exact.size} by our reference")
    snr = 10 * np.log10((exact**2).sum() / ((theirs - exact) ** 2).sum())
    print(f"{os.path.basename(model)}, {said['tool']}: our float64 reference agrees to {snr:.1f} dB")
    return int(snr < LIMIT)


if __name__ == "__main__":
    sys.exit(main())
