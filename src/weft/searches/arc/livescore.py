"""The score of a bench while it runs: puzzles answered and right, read from the growing ledger.

Read-only; decides nothing. The ledger has puzzles in order, so a slow one delays the count of those
behind it.
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
        """Return the counts as text, updated with what was recorded since the last call."""
        self.update()
        return f" · {self.judged} judged: {self.answered} answered, {self.right} right"

    def update(self) -> None:
        """Read the lines added since the last call; an incomplete line is left for the next one."""
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
