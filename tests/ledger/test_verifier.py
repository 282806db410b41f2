"""docs/verify_ledger.py accepts every good ledger and finds each damage of F7, without Weft."""

from __future__ import annotations

import ast
import base64
import importlib.util
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.inspect.runs import flip, put_checkpoint, put_ledger, read_lines, rewritten
from tests.inspect.signed import MINE, OTHER, public_pem
from tests.support.engine import loom
from tests.support.untraced import untraced
from weft.ledger import merkle
from weft.runs import run as wiring
from weft.signing import sign_checkpoint

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "docs" / "verify_ledger.py"
GOLDEN = ROOT / "tests" / "golden" / "engine-v1"
SEED = 20251115
FOUND = (ValueError, KeyError, TypeError, IndexError)


def load() -> Any:
    spec = importlib.util.spec_from_file_location("verify_ledger", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


verifier = load()
check = verifier.check


@pytest.fixture(scope="module")
def vectors() -> tuple[list[bytes], str]:
    """The ten lines of docs/ledger-format.md, and their checkpoint."""
    raw = json.loads((ROOT / "tests" / "ledger" / "vectors.json").read_text("utf-8"))
    lines = [line.encode() + b"\n" for line in raw["lines"]]
    return lines, raw["checkpoint"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("verifier") / "run"
    wiring.run(loom(size=6, lazy_size=12, pause_ms=0), out=run)
    return run


def call(run: Path, *words: str) -> tuple[int, str]:
    """Run the script as a program in which none of our code can be imported."""
    result = subprocess.run(
        [sys.executable, "-I", "-S", str(SCRIPT), str(run), *words], capture_output=True, text=True
    )
    return result.returncode, result.stdout + result.stderr


def head_of(lines: list[bytes]) -> tuple[int, bytes]:
    return len(lines), merkle.root([merkle.leaf_hash(line.rstrip(b"\n")) for line in lines])


def note(lines: list[bytes], origin: str) -> str:
    size, root = head_of(lines)
    return f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n"


def require_found(variants: Iterator[bytes], checkpoint: str, heads: tuple[Any, ...] = ()) -> int:
    count = 0
    with untraced():
        for data in variants:
            with pytest.raises(FOUND):
                check(data, checkpoint, heads)
            count += 1
    return count


def test_script_is_short_and_imports_nothing_of_ours() -> None:
    text = SCRIPT.read_text("utf-8")
    names = {
        name.name if isinstance(node, ast.Import) else str(node.module)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    assert names <= {"base64", "hashlib", "json", "sys", "pathlib"}
    assert len(text.splitlines()) <= 200
    assert "assert" not in text, "python -O would leave it out"


def test_good_ledgers_are_accepted(vectors: tuple[list[bytes], str], finished: Path) -> None:
    lines, checkpoint = vectors
    size, root = head_of(lines)
    assert check(b"".join(lines), checkpoint, [(size, root)]) == f"{size} {root.hex()} finished"
    for run in (GOLDEN, finished):
        code, output = call(run)
        size, root = head_of(read_lines(run))
        assert (code, output) == (0, f"{size} {root.hex()} finished\n")


def test_ledger_of_an_unfinished_run_is_accepted_at_every_record(
    vectors: tuple[list[bytes], str],
) -> None:
    lines, checkpoint = vectors
    origin = checkpoint.split("\n")[0]
    for count in range(1, len(lines)):
        torn = b"".join(lines[:count]) + lines[count][:20]
        assert "unfinished" in check(torn, note(lines[:count], origin), [])
        assert "unfinished" in check(b"".join(lines[:count]), note(lines[:1], origin), [])


def test_every_flipped_bit_is_found(vectors: tuple[list[bytes], str]) -> None:
    lines, checkpoint = vectors
    data = b"".join(lines)
    variants = (flip(data, place, place % 8) for place in range(len(data)))
    assert require_found(variants, checkpoint) == len(data)
    rng = random.Random(SEED)
    places = [(rng.randrange(len(data)), rng.randrange(8)) for _ in range(1000)]
    assert require_found((flip(data, *place) for place in places), checkpoint) == 1000


def test_random_bits_of_a_longer_ledger_are_found(finished: Path, chaos: bool) -> None:
    data, rng = b"".join(read_lines(finished)), random.Random(SEED)
    checkpoint = (finished / "checkpoint").read_text()
    count = 1000 if chaos else 100
    places = [(rng.randrange(len(data)), rng.randrange(8)) for _ in range(count)]
    assert require_found((flip(data, *place) for place in places), checkpoint) == count


def test_every_cut_is_found(vectors: tuple[list[bytes], str]) -> None:
    lines, checkpoint = vectors
    data = b"".join(lines)
    assert require_found((data[:cut] for cut in range(len(data))), checkpoint) == len(data)


def test_swaps_deletions_and_doubles_are_found(vectors: tuple[list[bytes], str]) -> None:
    lines, checkpoint = vectors
    count = len(lines)
    deleted = (b"".join(lines[:i] + lines[i + 1 :]) for i in range(count))
    doubled = (b"".join(lines[: i + 1] + lines[i:]) for i in range(count))
    assert require_found(deleted, checkpoint) == count
    assert require_found(doubled, checkpoint) == count
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    assert require_found((_swapped(lines, a, b) for a, b in pairs), checkpoint) == len(pairs)
    assert require_found(iter([b"".join(lines) + b"more"]), checkpoint) == 1


def _swapped(lines: list[bytes], a: int, b: int) -> bytes:
    changed = lines.copy()
    changed[a], changed[b] = lines[b], lines[a]
    return b"".join(changed)


def test_rewritten_ledger_is_found_by_an_outside_head(finished: Path, tmp_path: Path) -> None:
    lines = read_lines(finished)
    size, root = head_of(lines)
    forged = rewritten(lines, 3, lambda body: body.update(value=0))
    run = tmp_path / "run"
    run.mkdir()
    for name in ("ledger.jsonl", "checkpoint"):
        (run / name).write_bytes((finished / name).read_bytes())
    put_ledger(run, b"".join(forged))
    assert call(run)[0] == 1, "the old checkpoint gives it away"
    put_checkpoint(run, forged)
    assert call(run)[0] == 0, "alone it is flawless"
    code, output = call(run, str(size), root.hex())
    assert code == 1
    assert output.startswith("damaged: the root over")


def test_roll_back_is_found_by_an_outside_head(finished: Path) -> None:
    lines, origin = read_lines(finished), (finished / "checkpoint").read_text().split("\n")[0]
    for count in (1, 10, len(lines) - 1):
        older, data = lines[:count], b"".join(lines[:count])
        assert "unfinished" in check(data, note(older, origin), [])
        assert require_found(iter([data]), note(older, origin), (head_of(lines),)) == 1


@pytest.mark.parametrize(
    "line",
    [b'{"a":1.5}', b'{"a":1,"a":2}', b"[]", b"null", b"", b'{"a":"\\ud800"}', b"\xff", b"[" * 5000],
)
def test_lines_that_are_no_records_are_found(vectors: tuple[list[bytes], str], line: bytes) -> None:
    lines, checkpoint = vectors
    with pytest.raises((*FOUND, RecursionError)):
        check(lines[0] + line + b"\n" + b"".join(lines[1:]), checkpoint, [])


@pytest.mark.parametrize("words", [("5",), ("five", "00"), ("5", "zz")])
def test_head_that_is_none_is_told_in_one_line(finished: Path, words: tuple[str, ...]) -> None:
    code, output = call(finished, *words)
    assert (code, output.count("\n")) == (1, 1)
    assert output.startswith("usage: ")


# -- signatures ------------------------------------------------------------------------------

# RFC 8032 §7.1, tests 1 to 3: public key, message, signature.
RFC_8032 = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e3970"
        "1cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613"
        "d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760"
        "984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


def holds(signature: bytes, text: bytes, key: bytes) -> bool:
    try:
        return bool(verifier.holds(signature, text, key))
    except ValueError:  # not a point on the curve
        return False


@pytest.mark.parametrize(("key", "message", "signature"), RFC_8032)
def test_published_signatures_hold(key: str, message: str, signature: str) -> None:
    signed = bytes.fromhex(signature)
    assert holds(signed, bytes.fromhex(message), bytes.fromhex(key))
    assert not holds(signed, bytes.fromhex(message) + b"x", bytes.fromhex(key))
    assert not holds(signed[:-1], bytes.fromhex(message), bytes.fromhex(key))
    assert not holds(signed + b"\0", bytes.fromhex(message), bytes.fromhex(key))


def test_signature_written_in_a_second_way_does_not_hold() -> None:
    """RFC 8032 §5.1.7 requires S below the group order; otherwise each signature has twins."""
    key, message, signature = (bytes.fromhex(text) for text in RFC_8032[2])
    s = int.from_bytes(signature[32:], "little") + verifier.L
    assert not holds(signature[:32] + s.to_bytes(32, "little"), message, key)


def test_signatures_hold_and_fail_as_with_a_known_implementation() -> None:
    rng = random.Random(SEED)
    for _ in range(20):
        key = Ed25519PrivateKey.from_private_bytes(rng.randbytes(32))
        text = rng.randbytes(rng.randrange(200))
        raw, signature = key.public_key().public_bytes_raw(), key.sign(text)
        assert holds(signature, text, raw)
        for _ in range(8):
            bad = flip(signature, rng.randrange(64), rng.randrange(8))
            with pytest.raises(InvalidSignature):
                key.public_key().verify(bad, text)
            assert not holds(bad, text, raw)


def test_every_changed_byte_of_a_signed_note_is_found(vectors: tuple[list[bytes], str]) -> None:
    lines, checkpoint = vectors
    key, data = MINE.public_key().public_bytes_raw(), b"".join(lines)
    note = sign_checkpoint(checkpoint, "example.org/weft", MINE).encode()
    verdict = verifier.check_signed(data, checkpoint, [], note.decode(), key)
    assert verdict == f"10 {head_of(lines)[1].hex()} finished, signed"
    for place in range(len(note)):
        bad = flip(note, place, place % 7).decode("utf-8", "surrogateescape")
        with pytest.raises(FOUND):
            verifier.check_signed(data, checkpoint, [], bad, key)


def test_script_checks_a_signature_with_nothing_but_python(finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for name in ("ledger.jsonl", "checkpoint"):
        (run / name).write_bytes((finished / name).read_bytes())
    for name, key in (("mine", MINE), ("other", OTHER)):
        (tmp_path / name).write_bytes(public_pem(key))
    mine, other = (("--public-key", str(tmp_path / name)) for name in ("mine", "other"))
    assert call(run, *mine) == (1, "damaged: not signed: there is no checkpoint.sig\n")
    text = (run / "checkpoint").read_text()
    (run / "checkpoint.sig").write_text(sign_checkpoint(text, "example.org/weft", MINE))
    size, root = head_of(read_lines(run))
    assert call(run, *mine) == (0, f"{size} {root.hex()} finished, signed\n")
    assert call(run, str(size), root.hex(), *mine)[0] == 0
    assert call(run)[1] == f"{size} {root.hex()} finished\n"
    code, output = call(run, *other)
    assert (code, output.startswith("damaged: not signed: ")) == (1, True)


@pytest.mark.parametrize("text", [b"", b"hello", b"-----BEGIN PUBLIC KEY-----\nAAAA\n", b"\xff"])
def test_key_that_is_none_is_reported_in_one_line(
    finished: Path, tmp_path: Path, text: bytes
) -> None:
    (tmp_path / "key").write_bytes(text)
    for words in (("--public-key", str(tmp_path / "key")), ("--public-key",)):
        code, output = call(finished, *words)
        assert (code, output.count("\n")) == (1, 1)
        assert output.startswith("usage: ")
