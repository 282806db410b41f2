"""Inputs that fuzzing found worth keeping: `corpus/READER.json`, a character a byte.

    python -m tests.faults.corpus [READER…]     take over what build/fuzzing has, reduced

Every reader is fed with them in `make test`; fuzzers begin with them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent / "corpus"
ROOT = Path(__file__).parents[2]
FOUND = ROOT / "build" / "fuzzing"
"""What fuzzers found on this machine, a folder a reader; later runs go on from there."""
MOST_INPUTS = 100
MOST_BYTES = 400
"""Kept of each reader: the shortest inputs, and none that is longer."""


def stored(reader: str) -> list[bytes]:
    """The inputs kept for a reader."""
    path = HERE / f"{reader}.json"
    texts: list[str] = json.loads(path.read_text("utf-8")) if path.exists() else []
    return [text.encode("latin-1") for text in texts]


def keep(reader: str) -> int:
    """Reduce what was found to inputs that reach something of their own; return how many."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["-m", "tests.faults.fuzzing", reader, folder, str(FOUND / reader), "-merge=1"]
        subprocess.run([sys.executable, *words], cwd=ROOT, check=True, capture_output=True)
        found = sorted((path.read_bytes() for path in Path(folder).iterdir()), key=order)
    kept = [data.decode("latin-1") for data in found if len(data) <= MOST_BYTES][:MOST_INPUTS]
    HERE.mkdir(exist_ok=True)
    (HERE / f"{reader}.json").write_text(json.dumps(kept, indent=0) + "\n", "utf-8")
    return len(kept)


def order(data: bytes) -> tuple[int, bytes]:
    """The shortest first."""
    return len(data), data


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.name for path in FOUND.iterdir()):
        print(f"{name}: {keep(name)} inputs")
