"""F20: the ledger of a released format is reproduced byte for byte, and still readable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import weft
from tests.support.engine import loom
from weft.inspect.ledgercheck import check_ledger, check_ledger_file
from weft.ledger.checkpoint import parse_checkpoint

GOLDEN = Path(__file__).parents[1] / "golden" / "engine-v1"
VECTORS = Path(__file__).parents[1] / "ledger" / "vectors.json"


@pytest.mark.parametrize("workers", [1, 2])
def test_the_engine_example_writes_the_golden_ledger(tmp_path: Path, workers: int) -> None:
    call = loom(size=40, lazy_size=120, pause_ms=5)
    weft.run(call, out=tmp_path / "run", workers=workers, seed=0)
    for name in ("ledger.jsonl", "checkpoint"):
        assert (tmp_path / "run" / name).read_bytes() == (GOLDEN / name).read_bytes(), name


def test_the_golden_ledger_verifies() -> None:
    checkpoint = parse_checkpoint((GOLDEN / "checkpoint").read_text())
    facts = check_ledger_file(GOLDEN / "ledger.jsonl", checkpoint, sealed=True)
    assert (facts.size, facts.completed, facts.failed) == (261, 232, 3)
    assert facts.root == checkpoint.root


def test_the_ledger_of_the_format_page_verifies() -> None:
    vectors = json.loads(VECTORS.read_text())
    lines = [line.encode() + b"\n" for line in vectors["lines"]]
    facts = check_ledger(lines, parse_checkpoint(vectors["checkpoint"]), sealed=True)
    assert (facts.size, facts.failed, facts.timing_dependent) == (10, 1, True)
