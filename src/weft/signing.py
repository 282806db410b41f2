"""Ed25519 signatures over checkpoints, as C2SP signed notes: `sign_checkpoint` and its check.

Keys are PEM files stored outside the run. The core knows nothing about this module: a signature
states who vouches for a head, not what the head is. https://c2sp.org/signed-note
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    load_pem_private_key,
    load_pem_public_key,
)

from weft.errors import FileInvalid, LedgerDamaged, SignatureMissing, UsageError
from weft.ledger.checkpoint import note_text

_ED25519 = b"\x01"  # the signature type identifier of C2SP signed-note
_KEY_HASH_BYTES = 4
_SIGNATURE_BYTES = 64
_MARK = "\u2014 "  # an em dash and a space begin every signature line


def load_private_key(path: Path | str) -> Ed25519PrivateKey:
    """Read an Ed25519 private key from a PEM file without a password; raises FileInvalid."""
    try:
        key = load_pem_private_key(_read_key(path), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise _not_a_key(path, "private") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise _not_a_key(path, "private")
    return key


def load_public_key(path: Path | str) -> Ed25519PublicKey:
    """Read an Ed25519 public key from a PEM file; raises FileInvalid."""
    try:
        key = load_pem_public_key(_read_key(path))
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise _not_a_key(path, "public") from None
    if not isinstance(key, Ed25519PublicKey):
        raise _not_a_key(path, "public")
    return key


def sign_checkpoint(text: str, name: str, key: Ed25519PrivateKey) -> str:
    """Return the note: the text, an empty line and one signature line.

    `name` labels the key in the note. Whoever holds the note can change the label and its key
    hash together; only the text is signed.
    """
    assert text.endswith("\n"), "the text of a note ends with a newline"
    if not _is_name(name):
        raise UsageError(f"key name {name!r}: empty, or with a space or a plus sign in it")
    signed = key_hash(name, key.public_key()) + key.sign(text.encode())
    return f"{text}\n{_MARK}{name} {base64.b64encode(signed).decode()}\n"


def check_signed_note(note: str, public_key: Ed25519PublicKey) -> str:
    """Return the text of a note that `public_key` has signed; raises LedgerDamaged.

    Signatures by other keys are ignored, as signed-note requires. Every signature by this key
    must be valid; raises SignatureMissing if there is none.
    """
    text, signatures = note_text(note), note.rpartition("\n\n")[2]
    signatures_of_key = [
        signed[_KEY_HASH_BYTES:]
        for name, signed in _read_signatures(signatures)
        if signed[:_KEY_HASH_BYTES] == key_hash(name, public_key)
    ]
    if not signatures_of_key:
        raise SignatureMissing("the signed note has no signature of this key")
    if not all(_holds(signature, text, public_key) for signature in signatures_of_key):
        raise LedgerDamaged("the signature does not match the text of the note")
    return text


def key_hash(name: str, public_key: Ed25519PublicKey) -> bytes:
    """Return the four bytes by which a note refers to a key and its name."""
    named_key = name.encode() + b"\n" + _ED25519 + public_key.public_bytes_raw()
    return hashlib.sha256(named_key).digest()[:_KEY_HASH_BYTES]


def _read_signatures(lines: str) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes (key hash, then signature) of each signature line."""
    for line in lines[:-1].split("\n"):
        name, space, encoded = line.removeprefix(_MARK).partition(" ")
        try:
            signed = base64.b64decode(encoded, validate=True)
        except (ValueError, binascii.Error):
            signed = b""
        written_back = f"{_MARK}{name}{space}{base64.b64encode(signed).decode()}"
        if not _is_name(name) or len(signed) <= _KEY_HASH_BYTES or written_back != line:
            raise LedgerDamaged(f"the signed note has a damaged signature line {line!r:.80}")
        yield name, signed


def _holds(signature: bytes, text: str, public_key: Ed25519PublicKey) -> bool:
    if len(signature) != _SIGNATURE_BYTES:
        return False
    try:
        public_key.verify(signature, text.encode())
    except (InvalidSignature, UnicodeEncodeError):
        return False
    return True


def _is_name(name: str) -> bool:
    return bool(name) and name.isprintable() and name.split() == [name] and "+" not in name


def _read_key(path: Path | str) -> bytes:
    try:
        if Path(path).exists() and not Path(path).is_file():  # reading a pipe would wait for ever
            raise FileInvalid(f"key file {path}: not a regular file")
        return Path(path).read_bytes()
    except OSError as error:
        raise FileInvalid(f"key file {path}: {error.strerror or error}") from None


def _not_a_key(path: Path | str, half: str) -> FileInvalid:
    make = {
        "private": "openssl genpkey -algorithm ed25519 -out key.pem",
        "public": "openssl pkey -in key.pem -pubout -out key.pub.pem",
    }
    return FileInvalid(
        f"key file {path}: not an Ed25519 {half} key in PEM without a password",
        hint=f"make one with `{make[half]}`",
    )
