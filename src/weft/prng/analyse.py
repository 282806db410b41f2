"""`weft prng analyse` on the engine: plan, attack in waves, score what was found, conclude.

    plan ──► wave 0: the beginnings of all attacks ──► found? ──► score ──► conclude
                 │ nothing                                                  ▲
                 ▼                                                          │
             wave 1 … (dearer) ──► nothing at all ──► detectors ────────────┘

Every range of work is a task; a wave ends early with the first range that found a hypothesis
no accident explains, judged in task order. All numbers are integers, so the ledger is the same
on every machine and for CPU and GPU.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import lru_cache
from typing import Any

from weft.define import search, task
from weft.model.results import Result
from weft.model.tasks import Unknown, make_round
from weft.model.values import Object
from weft.prng import planning, verdict
from weft.prng.attack import Found, best
from weft.prng.attacks import attack_named
from weft.prng.attacks.detectors import detect
from weft.prng.history import History
from weft.prng.planning import Planned, Range, Settings
from weft.prng.statistics import corrected
from weft.worker.context import device, get, note

NAME = "weft.prng.analyse:analyse"
Steps = Generator[Any, Any, Any]


@task
def make_plan(history: Object, settings: dict[str, Any]) -> dict[str, Any]:
    """Say what will be covered, in which order, and what will not."""
    plans, gaps = planning.make_plans(_history(history), Settings.from_dict(settings))
    said = [
        {"attack": gap.attack, "family": gap.family, "output": gap.output, "why": gap.why}
        for gap in gaps
    ]
    return {"plans": [one.to_dict() for one in plans], "gaps": said}


@task
def cover(
    history: Object, settings: dict[str, Any], planned: dict[str, Any], lo: int, hi: int, plans: int
) -> dict[str, Any]:
    """Carry out one range of one plan; `strong` if a find is beyond accident."""
    wanted, one = Settings.from_dict(settings), Planned.from_dict(planned)
    case = wanted.case(_history(history).streams()[one.stream])
    found = best(attack_named(one.plan.attack).run(case, one.plan, lo, hi, device()))
    tried = one.plan.tried * plans
    note(units=hi - lo)
    return {
        "covered": [lo, hi],
        "found": [_found(one.stream, f, tried) for f in found],
        "strong": any(_evidence(f, case.modulus, tried) >= STRONG for f in found),
    }


STRONG = 9000
"""Evidence at which nothing dearer is tried: one in 10^9 after correction."""


@task
def score(
    history: Object, settings: dict[str, Any], found: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Compare every find with all draws, the holdout too; best first."""
    wanted, streams = Settings.from_dict(settings), _history(history).streams()
    return verdict.score_all(found, streams, wanted)


@task
def look_for_structure(history: Object, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Run the detectors that need no generator."""
    case = Settings.from_dict(settings).case(_history(history).draws)
    return [one.to_dict() for one in detect(case)]


@search(version=1)
def analyse(settings: dict[str, Any], *, inputs: Any) -> Steps:
    """Find the generator behind the draws; Unknown when there is no signal."""
    history = inputs["history"]
    [planned] = yield [make_plan(history, settings)]
    plans = planned.value["plans"]
    ranked, covered = yield from _attack(history, settings, plans)
    hints: list[dict[str, Any]] = []
    if not verdict.is_signal(ranked, settings["alpha_evidence"]):
        [seen] = yield [look_for_structure(history, settings)]
        hints = seen.value
    answer = verdict.conclude(settings, plans, covered, planned.value["gaps"], ranked, hints)
    if answer["verdict"] == verdict.SIGNAL:
        return answer
    return Unknown("no-signal", answer)


Ranked = list[dict[str, Any]]


def _attack(
    history: Object, settings: dict[str, Any], plans: Sequence[dict[str, Any]]
) -> Generator[Any, Any, tuple[Ranked, list[Range]]]:
    """Carry out the waves until one has found the generator.

    Returns what was found, best first, and the ranges that were covered. A find that training
    takes for beyond accident and the holdout does not confirm ends nothing: the rest goes on.
    """
    known = [Planned.from_dict(one) for one in plans]
    ranked: Ranked = []
    covered: list[Range] = []
    for wave in planning.waves(known, settings["max_cost"]):
        pending = wave
        while pending:
            calls = [
                cover(history, settings, plans[n], lo, hi, len(plans)) for n, lo, hi in pending
            ]
            results = yield make_round(calls, until=_is_strong)
            covered += pending[: len(results)]
            pending = pending[len(results) :]
            found = [one for result in results for one in result.value["found"]]
            if found:
                [scored] = yield [score(history, settings, [*ranked, *found])]
                ranked = scored.value
            if verdict.is_signal(ranked, settings["alpha_evidence"]):
                return ranked, covered
    return ranked, covered


def _is_strong(result: Result) -> bool:
    return bool(result.ok and result.value["strong"])


def _found(stream: str, found: Found, tried: int) -> dict[str, Any]:
    """Return the recorded form; choices of skips that vary are the score's to count."""
    skips = found.hypothesis.skips
    tried //= skips.choices ** len(skips.listed)
    return {"stream": stream, "hypothesis": found.hypothesis.to_dict(), "tried": tried}


def _evidence(found: Found, modulus: int, tried: int) -> int:
    return corrected(found.hits, found.compared, modulus, tried)


@lru_cache(maxsize=2)
def _read(digest: str, data: bytes) -> History:  # noqa: ARG001 - the digest is the key
    return History.from_canonical(data)


def _history(reference: Object) -> History:
    return _read(reference.digest, get(reference))
