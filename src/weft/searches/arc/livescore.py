"""How a bench fares while it runs: puzzles answered and right, read from the ledger as it grows.

Looks on, decides nothing. The ledger has puzzles in their order, so a slow one holds back the count
of those behind it.
"""

from __future__ import annotations

import json
from pathlib import Path

from weft.searches.arc.truth import Truth

LEDGER = "ledger.jsonl"
ANSWER = b'"kind":"answer"'


class LiveScore:
    """Counts the answers that a run has recorded so far."""

    def __init__(self, run: Path, truth: Truth) -> None:
        self._ledger = run / LEDGER
        self._expected = {name: [g.rows() for g in grids] for name, grids in truth.items()}
        self._at = 0
        self.judged = self.answered = self.right = 0

    def words(self) -> str:
        """Return the counts in words, after a look at what was recorded since the last time."""
        self.update()
        return f" · {self.judged} judged: {self.answered} answered, {self.right} right"

    def update(self) -> None:
        """Read the lines that were added; one that is not complete yet is left for later."""
        try:
            with self._ledger.open("rb") as file:
                file.seek(self._at)
                added = file.read()
        except FileNotFoundError:
            return
        whole = added[: added.rfind(b"\n") + 1]
        self._at += len(whole)
        for line in whole.splitlines():
            if ANSWER in line:
                self._count(json.loads(line)["body"])

    def _count(self, body: dict[str, object]) -> None:
        digest, value = str(body["lane"])[1:], body.get("value")
        if digest not in self._expected or not isinstance(value, dict):
            return
        self.judged += 1
        if value["outcome"] == "SOLVED":
            self.answered += 1
            self.right += value["groups"][0]["outputs"] == self._expected[digest]
