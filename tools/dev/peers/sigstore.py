#!/usr/bin/env python3
"""bundles signed here verify with sigstore-go, and changed ones do not"""
# requirements: receipts
# ours: ./tools/coregate
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

COREGATE = os.environ["PEER_OURS"]
checks = 0


def check(condition, what):
    global checks
    if not condition:
        sys.exit("peer disagrees: " + what)
    checks += 1


def main(folder, receipt):
    peer = folder / "sigstore"
    subprocess.run(["go", "build", "-o", peer, "."], cwd="tools/dev/peers/sigstore", check=True)
    subjects = [f"{s['name']} {s['digest']['sha256']}" for s in json.loads(receipt.read_bytes())["subject"]]
    for name, private in (("ed25519", ed25519.Ed25519PrivateKey.generate()), ("p256", ec.generate_private_key(ec.SECP256R1()))):
        k, p = folder / (name + ".pem"), folder / (name + ".pub.pem")
        k.write_bytes(private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        p.write_bytes(private.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
        bundle = folder / (name + ".bundle.json")
        bundle.write_bytes(subprocess.run([COREGATE, "sign", "--bundle", "--key", k, receipt], capture_output=True, check=True).stdout)

        done = subprocess.run([peer, p, bundle], capture_output=True, text=True)
        check(done.returncode == 0, name + ": " + done.stderr)
        check(done.stdout.splitlines()[1:] == subjects, name + ": subjects as sigstore-go reads them")
        ours = subprocess.run([COREGATE, "verify", "--allow-unsupported-pin", "--key", p, bundle], capture_output=True, text=True)
        check(ours.returncode == 0, name + ": ours on the same bundle: " + ours.stdout)

        data = json.loads(bundle.read_text())
        payload = data["dsseEnvelope"]["payload"]
        data["dsseEnvelope"]["payload"] = payload[:-8] + payload[-4:] + payload[-8:-4]
        bundle.write_text(json.dumps(data))
        check(subprocess.run([peer, p, bundle], capture_output=True).returncode == 1, name + ": sigstore-go takes a changed payload")
        check(subprocess.run([COREGATE, "verify", "--key", p, bundle], capture_output=True).returncode == 1, name + ": ours takes a changed payload")
    print(f"{checks} agreements")


with tempfile.TemporaryDirectory() as scratch:
    main(pathlib.Path(scratch), pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "tools/receipt/statement/testdata/receipt.json").resolve())
