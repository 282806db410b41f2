"""A signed run and its keys, for tests that tamper with what a signature covers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import weft
from tests.support.engine import loom

MINE = Ed25519PrivateKey.from_private_bytes(bytes([1] * 32))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes([2] * 32))


@dataclass(frozen=True)
class SignedRun:
    """A finished run signed by `MINE`, and the key files."""

    run: Path
    sign_key: Path
    public_key: Path
    other_key: Path
    """Someone else's public key."""


def signed_loom(base: Path) -> SignedRun:
    """A small run of the engine example, signed."""
    signed = write_keys(base)
    weft.run(loom(size=2, lazy_size=1), out=signed.run, sign_key=signed.sign_key)
    return signed


def write_keys(base: Path) -> SignedRun:
    """Write the key files; the run folder is not created yet."""
    (base / "mine.pem").write_bytes(private_pem(MINE))
    (base / "mine.pub").write_bytes(public_pem(MINE))
    (base / "other.pub").write_bytes(public_pem(OTHER))
    return SignedRun(base / "run", base / "mine.pem", base / "mine.pub", base / "other.pub")


def private_pem(key: Ed25519PrivateKey) -> bytes:
    plain = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)


def public_pem(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
