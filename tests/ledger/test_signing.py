"""Signed notes: ours hold, a published one holds, damaged ones and wrong keys do not."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from weft.errors import FileInvalid, LedgerDamaged, UsageError
from weft.ledger.checkpoint import Checkpoint
from weft.signing import (
    check_signed_note,
    key_hash,
    load_private_key,
    load_public_key,
    sign_checkpoint,
)

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
TEXT = Checkpoint("weft/climb:climb", 3, bytes(32)).to_text()
NOTE = sign_checkpoint(TEXT, "example.org/weft", KEY)

# The example in the documentation of Go's golang.org/x/mod/sumdb/note.
GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_TEXT = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
)
GO_NOTE = (
    f"{GO_TEXT}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXg"
    "KvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)


def test_published_note_and_key_hash_hold() -> None:
    name, hash_hex, encoded = GO_KEY.split("+", 2)
    public = Ed25519PublicKey.from_public_bytes(base64.b64decode(encoded)[1:])
    assert key_hash(name, public).hex() == hash_hex
    assert check_signed_note(GO_NOTE, public) == GO_TEXT


def test_signed_checkpoint_gives_its_text_back() -> None:
    assert check_signed_note(NOTE, KEY.public_key()) == TEXT
    assert NOTE.startswith(f"{TEXT}\n— example.org/weft ")


def test_every_bit_flip_of_a_note_is_refused() -> None:
    data = NOTE.encode()
    for bit in range(len(data) * 8):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(LedgerDamaged):
            check_signed_note(flipped.decode("utf-8", "surrogateescape"), KEY.public_key())


def test_wrong_key_is_refused() -> None:
    with pytest.raises(LedgerDamaged, match="no signature of this key"):
        check_signed_note(NOTE, OTHER.public_key())


def test_signature_of_another_text_is_refused() -> None:
    signature = sign_checkpoint("other\n", "example.org/weft", KEY).partition("\n\n")[2]
    with pytest.raises(LedgerDamaged, match="does not match"):
        check_signed_note(f"{TEXT}\n{signature}", KEY.public_key())


def test_signatures_of_others_are_passed_over_and_a_false_one_of_ours_is_not() -> None:
    foreign = sign_checkpoint(TEXT, "example.org/other", OTHER).partition("\n\n")[2]
    both = NOTE + foreign
    assert check_signed_note(both, KEY.public_key()) == TEXT
    assert check_signed_note(both, OTHER.public_key()) == TEXT
    false = sign_checkpoint("other\n", "example.org/weft", KEY).partition("\n\n")[2]
    with pytest.raises(LedgerDamaged):
        check_signed_note(NOTE + false, KEY.public_key())


@pytest.mark.parametrize(
    "note",
    ["", "\n", "\n\n", TEXT, TEXT + "\n", NOTE[:-1], NOTE + "\n", NOTE.replace("— ", "- ")],
)
def test_note_of_other_form_is_refused(note: str) -> None:
    with pytest.raises(LedgerDamaged):
        check_signed_note(note, KEY.public_key())


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb", "a\u00a0b", " a"])
def test_sign_with_an_impossible_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        sign_checkpoint(TEXT, name, KEY)


def private_pem(
    key: Ed25519PrivateKey | ec.EllipticCurvePrivateKey, password: bytes = b""
) -> bytes:
    lock = (
        serialization.BestAvailableEncryption(password)
        if password
        else serialization.NoEncryption()
    )
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock)


def public_pem(key: Ed25519PrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def test_keys_from_pem_files_sign_and_check(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(private_pem(KEY))
    (tmp_path / "pub.pem").write_bytes(public_pem(KEY))
    note = sign_checkpoint(TEXT, "example.org/weft", load_private_key(tmp_path / "key.pem"))
    assert note == NOTE
    assert check_signed_note(note, load_public_key(str(tmp_path / "pub.pem"))) == TEXT


def test_key_files_that_are_no_key_are_refused_in_one_line(tmp_path: Path) -> None:
    elliptic = ec.derive_private_key(7, ec.SECP256R1())
    broken = {
        "text": b"hello",
        "empty": b"",
        "cut": private_pem(KEY)[:60],
        "cut public": public_pem(KEY)[:40],
        "locked": private_pem(KEY, b"secret"),
        "other kind": private_pem(elliptic),
        "other kind public": public_pem(elliptic),
    }
    for name, data in broken.items():
        path = tmp_path / name
        path.write_bytes(data)
        for load in (load_private_key, load_public_key):
            with pytest.raises(FileInvalid, match="not an Ed25519 p") as caught:
                load(path)
            assert str(caught.value).isprintable()


def test_key_file_missing_or_a_folder_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "absent", tmp_path):
        for load in (load_private_key, load_public_key):
            with pytest.raises(FileInvalid, match="key file"):
                load(path)
