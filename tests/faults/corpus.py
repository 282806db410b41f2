"""Inputs that fuzzing found worth keeping: `corpus/READER.json`, one character per byte.

    python -m tests.faults.corpus [READER…]     import the inputs found in build/fuzzing

A fuzzer keeps an input that reaches new code. `make test` feeds these inputs to every reader;
fuzzers start from them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent / "corpus"
ROOT = Path(__file__).parents[2]
FOUND = ROOT / "build" / "fuzzing"
"""Inputs found on this machine, one folder per reader; later runs continue from there."""
MOST_INPUTS = 100
MOST_BYTES = 400
"""Limits per reader: only the shortest inputs are kept, and none longer than this."""


def stored(reader: str) -> list[bytes]:
    """The inputs kept for a reader."""
    path = HERE / f"{reader}.json"
    texts: list[str] = json.loads(path.read_text("utf-8")) if path.exists() else []
    return [text.encode("latin-1") for text in texts]


def keep(reader: str) -> int:
    """Import the inputs found for a reader; return how many were kept."""
    inputs = {path.read_bytes() for path in (FOUND / reader).iterdir()}
    shortest = [data for data in sorted(inputs, key=order) if len(data) <= MOST_BYTES][:MOST_INPUTS]
    HERE.mkdir(exist_ok=True)
    text = json.dumps([data.decode("latin-1") for data in shortest], indent=0)
    (HERE / f"{reader}.json").write_text(text + "\n", "utf-8")
    return len(shortest)


def order(data: bytes) -> tuple[int, bytes]:
    """Sort key: the shortest input first."""
    return len(data), data


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.name for path in FOUND.iterdir()):
        print(f"{name}: {keep(name)} inputs")
