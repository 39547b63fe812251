#!/usr/bin/env python3
"""receipts signed here verify with securesystemslib, and the other way round"""
# requirements: receipts
# ours: ./tools/coregate
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils
from google.protobuf import json_format
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey

COREGATE = os.environ["PEER_OURS"]
PAYLOAD_TYPE = "application/vnd.in-toto+json"
checks = 0


def check(condition, what):
    global checks
    if not condition:
        sys.exit("peer disagrees: " + what)
    checks += 1


def coregate(*args):
    done = subprocess.run([COREGATE, *map(str, args)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def low_s(private, signature):
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    return not isinstance(private, ec.EllipticCurvePrivateKey) or utils.decode_dss_signature(signature)[1] <= order // 2


def verify(public, signed):
    """Our verdict: exit code and the codes of the reasons."""
    code, out, err = coregate("verify", "--json", "--allow-unsupported-pin", "--key", public, signed)
    if code == 2:
        sys.exit("coregate could not verify: " + err)
    return code, [r["code"] for r in json.loads(out)["reasons"]]


def key_id(public):
    """A key's id as ours: SHA-256 of its SubjectPublicKeyInfo."""
    digest = hashes.Hash(hashes.SHA256())
    digest.update(public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo))
    return digest.finalize().hex()


def main(folder, receipt):
    payload = receipt.read_bytes()

    # Their reading of the statement itself.
    message = statement_pb2.Statement()
    json_format.Parse(payload, message)
    Statement.copy_from_pb(message).validate()
    check([s.name for s in message.subject] == ["whisper-cli", "ggml-model.bin", "ggml-model-encoder.mlmodelc"], "subjects")
    check(message.predicate["verdict"] == json.loads(payload)["predicate"]["verdict"], "verdict")

    for name, private in (("ed25519", ed25519.Ed25519PrivateKey.generate()), ("p256", ec.generate_private_key(ec.SECP256R1()))):
        k, p = folder / (name + ".pem"), folder / (name + ".pub.pem")
        k.write_bytes(private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        p.write_bytes(private.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
        theirs = SSlibKey.from_crypto(private.public_key(), keyid=key_id(private.public_key()))

        # Ours, opened by them.
        code, signed, err = coregate("sign", "--key", k, receipt)
        check(code == 0, name + ": coregate sign: " + err)
        envelope = Envelope.from_dict(json.loads(signed))
        check(envelope.payload == payload and envelope.payload_type == PAYLOAD_TYPE, name + ": payload")
        check(theirs.keyid in envelope.verify([theirs], 1), name + ": our signature")
        bent = Envelope.from_dict(json.loads(signed))
        bent.payload = payload.replace(b'"pass"', b'"fail"', 1)
        try:
            bent.verify([theirs], 1)
            check(False, name + ": a changed payload verifies with them")
        except VerificationError:
            check(True, "")

        # Theirs, opened by us.
        def sign(keyid, content=payload, payload_type=PAYLOAD_TYPE):
            # Of the two values of s that verify, ours takes the smaller; theirs signs with either.
            low = False
            while not low:
                e = Envelope(content, payload_type, {})
                e.sign(CryptoSigner(private, SSlibKey.from_crypto(private.public_key(), keyid=keyid)))
                low = all(low_s(private, bytes.fromhex(s.signature)) for s in e.signatures.values())
            path = folder / "theirs.json"
            path.write_text(json.dumps(e.to_dict(), indent=1))
            return path

        check(verify(p, sign(theirs.keyid)) == (0, []), name + ": their signature with our key id")
        check(verify(p, sign(None)) == (1, ["KEY_ID_MISMATCH"]), name + ": their signature with a key id of theirs")
        check(verify(p, sign(theirs.keyid, payload_type="text/plain")) == (1, ["PAYLOAD_TYPE"]), name + ": another payload type")
        check(verify(p, sign(theirs.keyid, payload + b"\n"))[0] == 1, name + ": a statement in another form")
        changed = folder / "changed.json"
        data = json.loads(sign(theirs.keyid).read_text())
        del data["signatures"][0]["keyid"]
        changed.write_text(json.dumps(data))
        check(verify(p, changed) == (0, []), name + ": their signature without a key id")
        data = json.loads(sign(theirs.keyid).read_text())
        data["payload"] = data["payload"][:-8] + data["payload"][-4:] + data["payload"][-8:-4]
        changed.write_text(json.dumps(data))
        check(verify(p, changed)[0] == 1, name + ": a changed payload")
        data = json.loads(sign(theirs.keyid).read_text())
        data["payload"] = data["payload"].replace("+", "-").replace("/", "_")
        data["signatures"][0]["sig"] = data["signatures"][0]["sig"].replace("+", "-").replace("/", "_")
        changed.write_text(json.dumps(data))
        check(verify(p, changed) == (0, []), name + ": the URL alphabet")
    print(f"{checks} agreements")


with tempfile.TemporaryDirectory() as scratch:
    main(pathlib.Path(scratch), pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "tools/receipt/statement/testdata/receipt.json").resolve())
