"""Right calls: `mypy --strict` finds nothing here. Read by tests/typing/test_typing.py."""

from __future__ import annotations

from pathlib import Path

import weft
from tests.typing.declared import climb, label, score
from weft.model.tasks import SearchCall, TaskCall


def describe(out: Path) -> weft.Run:
    """Call everything in every right way."""
    calls: list[TaskCall] = [
        score(1),
        score(1, 2.0),
        score(x=1, scale=2),
        label(["a"]),
        label(("a", "b"), upper=True),
    ]
    plain: float = score.function(3)
    words: list[str] = label.function(["a"])
    search: SearchCall = climb(3)
    del calls, plain, words
    weft.run(climb(width=3, depth=len(out.parts)), out=out, workers=2, progress=False)
    return weft.run(search, out=str(out))
