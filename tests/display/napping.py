"""A script as users write it, run by tests: `python napping.py TASKS OUT [--quiet|--caught]`.

Its tasks wait while a file `hold` exists beside it, so that a test decides when they continue.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import weft

HOLD = Path(__file__).with_name("hold")
FREE = 5


@weft.task
def nap(x: int) -> int:
    """Return at once, or when the file `hold` is gone."""
    while x >= FREE and HOLD.exists():
        time.sleep(0.01)
    return x


@weft.search(version=1)
def naps(n: int) -> Generator[Any, Any, int]:
    """Take n naps."""
    yield weft.Plan(total=n, unit="naps", best="max")
    results = yield [nap(i) for i in range(n)]
    return len(results)


def main(tasks: int, out: str, how: str) -> None:
    """Run the search; with --caught, catch the interrupt as any script may."""
    try:
        run = weft.run(naps(tasks), out=out, workers=2, progress=how != "--quiet")
    except KeyboardInterrupt as interrupt:
        if how != "--caught":
            raise
        print(f"caught {type(interrupt).__name__}")
        return
    print(run.answer, run.head)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "")
