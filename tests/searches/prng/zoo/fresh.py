"""Histories of the zoo made afresh by their runtimes, and the search of one.

A history can be made on a machine that has the runtimes and searched on another that has the cores:

    python -m tests.searches.prng.campaign make FILE
    WEFT_PRNG_ZOO=FILE pytest --chaos tests/searches/prng/zoo
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.searches.prng.zoo.exhibits import NEXT, RUNTIMES, ZooEntry, make_draws, named_request
from weft.runs.execution import Execution
from weft.searches.prng.history import History
from weft.searches.prng.run import estimate_s, execute

HISTORIES = "WEFT_PRNG_ZOO"
"""Names the file with histories that were made elsewhere."""
SEED_BITS = 31
SECONDS_A_WORKER = 200
"""For how many planned seconds of one core a search has one process."""


@dataclass(frozen=True, slots=True)
class FreshHistory:
    """What a runtime drew with a random seed: the draws to search, and those that came next."""

    entry: str
    seed: int
    draws: tuple[int, ...]
    next: tuple[int, ...]

    def to_line(self) -> str:
        """As a line of a file of histories."""
        return json.dumps(asdict(self)) + "\n"

    @staticmethod
    def of_line(text: str) -> FreshHistory:
        """Read such a line."""
        line = json.loads(text)
        return FreshHistory(line["entry"], line["seed"], tuple(line["draws"]), tuple(line["next"]))


def make_history(entry: ZooEntry, folder: Path) -> FreshHistory:
    """Run the real thing with a random seed."""
    seed = random.SystemRandom().getrandbits(SEED_BITS)
    draws, following = make_draws(entry, seed, folder)
    return FreshHistory(entry.name, seed, draws, tuple(following))


def read_histories(path: Path) -> dict[str, FreshHistory]:
    """The histories of a file, by entry."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {history.entry: history for history in map(FreshHistory.of_line, lines)}


def fresh_history(
    entry: ZooEntry, folder: Path, require_tool: Callable[[str], str]
) -> FreshHistory:
    """The history of an entry: made here, unless a file of those made elsewhere is named."""
    if path := os.environ.get(HISTORIES):
        return read_histories(Path(path))[entry.name]
    require_tool(RUNTIMES[entry.runtime][0])
    return make_history(entry, folder)


def workers_for(entry: ZooEntry, history: FreshHistory) -> int:
    """As many processes as there are cores, fewer where little is planned."""
    planned_s = estimate_s(History(history.draws), named_request(entry))
    return min(os.cpu_count() or 1, 1 + planned_s // SECONDS_A_WORKER)


def predicted(entry: ZooEntry, history: FreshHistory, execution: Execution) -> tuple[int, ...]:
    """Search a history with the call named; return the draws that are said to come next."""
    run = execute(History(history.draws), named_request(entry), execution)
    answer = run.answer if isinstance(run.answer, dict) else {}
    candidates = answer.get("found") or [{"next": []}]
    return tuple(candidates[0]["next"][:NEXT])
