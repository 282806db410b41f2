"""Each search that ships reports its progress in its own units."""

from __future__ import annotations

from weft.model.plan import Plan
from weft.model.values import Object
from weft.searches.arc.search import solve
from weft.searches.jobs.search import jobs
from weft.searches.prng.attack import AttackPlan
from weft.searches.prng.planning import StreamPlan
from weft.searches.prng.search import _expected

DIGEST = "0" * 64


def test_arc_counts_puzzles_by_outcome() -> None:
    body = solve([DIGEST], {}).start({"inputs": {DIGEST: Object(DIGEST)}})
    assert next(body) == Plan(lanes="puzzles", tally="outcome")


def test_jobs_counts_jobs() -> None:
    assert next(jobs([]).start({})) == Plan(total=0, unit="jobs")


def test_prng_counts_ranges_and_excluded_families() -> None:
    """A family is excluded once everything planned for it is covered."""
    plans = [
        StreamPlan("", AttackPlan("brute", family, "high", 2, 1, 10, 5, ""))
        for family in ("lcg", "lcg", "mt")
    ]
    waves = [[(0, 0, 1), (2, 0, 2)], [(0, 1, 2), (1, 0, 2)]]
    notes = [
        _expected(plans, waves, covered).note
        for covered in ([], waves[0], [*waves[0], (0, 1, 2)], [*waves[0], *waves[1]])
    ]
    assert [note.split()[0] for note in notes] == ["0", "1", "1", "2"]
    assert notes[1] == "1 of 2 calls excluded; at most 1 min of one core left"
    assert _expected(plans, waves, []).total == 4 + 2
