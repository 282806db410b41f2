"""F27: random damage to every file of a run: bits, bytes, ranges, truncations, insertions.

Readers refuse the run with a reason or give the same answer as before; they never fail in
another way and never give another answer.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import weft
from tests.inspect.runs import heads, put
from tests.support.engine import loom
from tests.support.figures import Part, print_figures
from weft.errors import WeftError
from weft.inspect.status import status
from weft.inspect.verify import verify

SEED = 2727
FILES = ("run.toml", "ledger.jsonl", "checkpoint", "manifest.sqlite", "objects")
EVIDENCE = ("ledger.jsonl", "checkpoint", "objects")
"""Files in which every changed byte must be detected."""
Damage = Callable[[bytes, random.Random], bytes]


def flip(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]


def overwrite(data: bytes, draw: random.Random) -> bytes:
    at, length = draw.randrange(len(data)), draw.randint(1, 64)
    return (data[:at] + draw.randbytes(length) + data[at + length :])[: len(data)]


def zero(data: bytes, draw: random.Random) -> bytes:
    at, length = draw.randrange(len(data)), draw.randint(1, 4096)
    return (data[:at] + bytes(length) + data[at + length :])[: len(data)]


def cut(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data))]


def insert(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.randbytes(draw.randint(1, 64)) + data[at:]


def repeat(data: bytes, draw: random.Random) -> bytes:
    at, length = draw.randrange(len(data)), draw.randint(1, 512)
    return data[: at + length] + data[at : at + length] + data[at + length :]


DAMAGES: tuple[Damage, ...] = (flip, overwrite, zero, cut, insert, repeat)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sound") / "run"
    weft.run(loom(size=6, lazy_size=6, pause_ms=0), out=out, workers=1, progress=False)
    return out


def seen(run: Path) -> object:
    """The readers' view of a run: its head, its answer, its results, its counts."""
    verdict = verify(run, heads())
    loaded = weft.load(run)
    values = [(row.key, row.value if row.ok else row.error) for row in loaded.results()]
    return verdict.root, loaded.answer, loaded.head, values, status(run).counts


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("count", [30, pytest.param(10_000, marks=pytest.mark.slow)])
def test_damaged_file_is_refused_or_changes_nothing(
    name: str, count: int, sound: Path, tmp_path: Path
) -> None:
    numbers = Part.asked().of(range(count))
    refusals, violations = damage_each(name, numbers, sound, tmp_path / "run")
    figures = {"damages": len(numbers), "refused": refusals, "violations": len(violations)}
    print_figures("F27", file=name, **figures)
    assert violations == []
    assert refusals > 0


def damage_each(name: str, numbers: Sequence[int], sound: Path, run: Path) -> tuple[int, list[str]]:
    """Damage a file once per number; return how often it was refused, and the violations."""
    shutil.copytree(sound, run)
    path = next(p for p in sorted(run.rglob("*")) if p.is_file() and name in str(p))
    data, before, refusals, violations = path.read_bytes(), seen(run), 0, []
    for number in numbers:
        draw = random.Random(SEED + number)
        damaged = draw.choice(DAMAGES)(data, draw)
        put(path, damaged)
        try:
            after = seen(run)
        except WeftError:
            refusals += 1
            continue
        except Exception as error:  # any other exception is a violation
            violations.append(f"{name} {number}: {type(error).__name__}: {error}")
            continue
        if after != before:
            violations.append(f"{name} {number}: another answer")
        elif damaged != data and name in EVIDENCE:
            violations.append(f"{name} {number}: not noticed")
    return refusals, violations


def test_reader_that_fails_in_another_way_is_noticed(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted bug: damage that verification finds is not reported as such."""

    real = verify

    def confused(run: Path, known: object) -> object:
        try:
            return real(run, known)
        except WeftError as error:
            raise KeyError(str(error)) from None

    monkeypatch.setattr(f"{__name__}.verify", confused)
    _, violations = damage_each("checkpoint", range(20), sound, tmp_path / "run")
    assert any("KeyError" in text for text in violations)
