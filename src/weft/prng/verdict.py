"""From what the attacks found to a verdict: signal, structure, or no signal.

Pure: integers in, plain values out. *Signal* needs corrected evidence in training and in the
holdout, which no attack has seen. Otherwise there are no predictions, and the answer says what
would have been found and what was not covered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weft.prng import scoring
from weft.prng.attacks.varying import carried_on
from weft.prng.generate import generate
from weft.prng.hypothesis import Hypothesis
from weft.prng.planning import Range, Settings

SIGNAL = "signal"
STRUCTURE = "structure"
NO_SIGNAL = "no signal"
MAX_SHOWN = 20


def score_all(
    found: Sequence[Mapping[str, Any]], streams: Mapping[str, tuple[int, ...]], settings: Settings
) -> list[dict[str, Any]]:
    """Score every find on its stream, best first; equal hypotheses are one."""
    unique = {_identity(one): one for one in found}
    ranked = []
    for one in unique.values():
        draws = streams[one["stream"]]
        hypothesis = carried_on(Hypothesis.from_dict(one["hypothesis"]), draws)
        got = scoring.score(hypothesis, draws, settings.modulus, one["tried"], len(unique))
        coming = _coming(hypothesis, len(draws), settings.predict)
        kept = {"stream": one["stream"], "tried": one["tried"], "hypothesis": hypothesis.to_dict()}
        ranked.append({**kept, "score": got.to_dict(), "next": coming})
    ranked.sort(key=_rank)
    return ranked[:MAX_SHOWN]


def _identity(one: Mapping[str, Any]) -> str:
    return f"{one['stream']}\0{sorted(one['hypothesis'].items())}"


def _coming(hypothesis: Hypothesis, seen: int, wanted: int) -> list[int]:
    count = scoring.known(hypothesis, seen + wanted)
    return generate(hypothesis, count)[seen:]


def _rank(one: Mapping[str, Any]) -> tuple[int, int, int, str]:
    """Most evidence first, then the plainest skips, then by text."""
    got, between = one["score"], one["hypothesis"]["skips"]["between"]
    return -(got["evidence"] + got["held_evidence"]), between[1], -got["hits"], _identity(one)


def is_signal(ranked: Sequence[Mapping[str, Any]], alpha_evidence: int) -> bool:
    """Whether the evidence for the best find suffices, in training and in the holdout."""
    return bool(ranked) and _suffices(ranked[0], alpha_evidence)


def _suffices(one: Mapping[str, Any], alpha_evidence: int) -> bool:
    got = one["score"]
    return bool(min(got["evidence"], got["held_evidence"]) >= alpha_evidence)


def conclude(
    settings: Mapping[str, Any],
    plans: Sequence[Mapping[str, Any]],
    covered: Sequence[Range],
    gaps: Sequence[Mapping[str, Any]],
    ranked: Sequence[Mapping[str, Any]],
    hints: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Put the answer together; predictions are in it only with a signal."""
    alpha = settings["alpha_evidence"]
    signal = is_signal(ranked, alpha)
    found = [dict(one) for one in ranked if not signal or _suffices(one, alpha)]
    if not signal:
        found = [{**one, "next": []} for one in found]
    done = [_units(covered, number) for number in range(len(plans))]
    told = [_covered(one, units) for one, units in zip(plans, done, strict=True)]
    verdict = SIGNAL if signal else STRUCTURE if hints else NO_SIGNAL
    return {
        "verdict": verdict,
        "modulus": settings["modulus"],
        "found": found,
        "hints": [dict(hint) for hint in hints],
        "covered": [one for one in told if one["done"] == one["units"]],
        "in_part": [one for one in told if 0 < one["done"] < one["units"]],
        "not_tried": [one for one in told if one["done"] == 0],
        "gaps": [dict(gap) for gap in gaps],
    }


def _units(covered: Sequence[Range], plan: int) -> int:
    """Return how many units of a plan were covered; ranges never overlap."""
    return sum(hi - lo for number, lo, hi in covered if number == plan)


def _covered(one: Mapping[str, Any], done: int) -> dict[str, Any]:
    plan = one["plan"]
    names = ("attack", "family", "output", "covers", "units")
    return {"stream": one["stream"], "done": done, **{name: plan[name] for name in names}}
