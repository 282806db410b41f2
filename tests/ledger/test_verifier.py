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

from tests.readers.runs import flip, put_checkpoint, put_ledger, read_lines, rewritten
from tests.support.engine import loom
from weft.ledger import merkle
from weft.wiring import run as wiring

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


check = load().check


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
    """Run the script as a program, where nothing of ours can be imported."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(SCRIPT), str(run), *words], capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def head_of(lines: list[bytes]) -> tuple[int, bytes]:
    return len(lines), merkle.root([merkle.leaf_hash(line.rstrip(b"\n")) for line in lines])


def note(lines: list[bytes], origin: str) -> str:
    size, root = head_of(lines)
    return f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n"


def require_found(variants: Iterator[bytes], checkpoint: str, heads: tuple[Any, ...] = ()) -> int:
    count = 0
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
        code, said = call(run)
        size, root = head_of(read_lines(run))
        assert (code, said) == (0, f"{size} {root.hex()} finished\n")


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


def test_random_bits_of_a_longer_ledger_are_found(finished: Path) -> None:
    data, rng = b"".join(read_lines(finished)), random.Random(SEED)
    checkpoint = (finished / "checkpoint").read_text()
    places = [(rng.randrange(len(data)), rng.randrange(8)) for _ in range(200)]
    assert require_found((flip(data, *place) for place in places), checkpoint) == 200


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
    code, said = call(run, str(size), root.hex())
    assert code == 1
    assert said.startswith("damaged: the root over")


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
    code, said = call(finished, *words)
    assert (code, said.count("\n")) == (1, 1)
    assert said.startswith("usage: ")
