"""From what the attacks found to a verdict: signal, structure, or no signal.

Pure: integers in, plain values out. *Signal* needs corrected evidence in training and in the
holdout, which no attack has seen. Otherwise there are no predictions, and the answer says what
would have been found and what was not covered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from weft.searches.prng import scoring
from weft.searches.prng.answer import (
    NO_SIGNAL,
    SIGNAL,
    STRUCTURE,
    AnalyseAnswer,
    Coverage,
    ScoredCandidate,
    StreamCandidate,
)
from weft.searches.prng.attack import Gap
from weft.searches.prng.attacks.detectors import Detection
from weft.searches.prng.attacks.varying import extend_skips
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.planning import Range, StreamPlan
from weft.searches.prng.request import AnalyseRequest

MAX_SHOWN = 20


def score_all(
    candidates: Sequence[StreamCandidate],
    streams: Mapping[str, tuple[int, ...]],
    request: AnalyseRequest,
) -> list[ScoredCandidate]:
    """Score every candidate on its stream, best first; equal hypotheses are one."""
    unique = {candidate.identity(): candidate for candidate in candidates}
    ranked = [
        _scored(candidate, streams[candidate.stream], request, len(unique))
        for candidate in unique.values()
    ]
    ranked.sort(key=_rank)
    return ranked[:MAX_SHOWN]


def _scored(
    candidate: StreamCandidate, draws: tuple[int, ...], request: AnalyseRequest, survivors: int
) -> ScoredCandidate:
    hypothesis = extend_skips(candidate.hypothesis, draws)
    score = scoring.score(hypothesis, draws, request.modulus, candidate.tried, survivors)
    predictions = _predictions(hypothesis, len(draws), request.predict)
    return ScoredCandidate(candidate.stream, hypothesis, candidate.tried, score, predictions)


def _predictions(hypothesis: Hypothesis, draws: int, most: int) -> tuple[int, ...]:
    """Return the draws after the last one, as far as the skips are known."""
    count = scoring.known(hypothesis, draws + most)
    return tuple(generate(hypothesis, count)[draws:])


def _rank(scored: ScoredCandidate) -> tuple[int, int, int, str]:
    """Most evidence first, then the plainest skips, then by text."""
    score, skips = scored.score, scored.hypothesis.skips
    evidence = score.evidence + score.held_evidence
    return -evidence, skips.between[1], -score.hits, scored.identity()


def is_signal(ranked: Sequence[ScoredCandidate], alpha_evidence: int) -> bool:
    """Whether the evidence for the best candidate suffices, in training and in the holdout."""
    return bool(ranked) and ranked[0].is_confirmed(alpha_evidence)


def conclude(
    request: AnalyseRequest,
    plans: Sequence[StreamPlan],
    covered: Sequence[Range],
    gaps: Sequence[Gap],
    ranked: Sequence[ScoredCandidate],
    hints: Sequence[Detection],
) -> AnalyseAnswer:
    """Assemble the answer; predictions are in it only with a signal."""
    alpha = request.alpha_evidence
    signal = is_signal(ranked, alpha)
    shown = (
        [scored for scored in ranked if scored.is_confirmed(alpha)]
        if signal
        else [replace(scored, next=()) for scored in ranked]
    )
    coverage = [Coverage.of(plan, _units(covered, number)) for number, plan in enumerate(plans)]
    return AnalyseAnswer(
        SIGNAL if signal else STRUCTURE if hints else NO_SIGNAL,
        request.modulus,
        tuple(shown),
        tuple(hints),
        tuple(item for item in coverage if item.done == item.units),
        tuple(item for item in coverage if 0 < item.done < item.units),
        tuple(item for item in coverage if item.done == 0),
        tuple(gaps),
    )


def _units(covered: Sequence[Range], plan: int) -> int:
    """Return how many units of a plan were covered; ranges never overlap."""
    return sum(hi - lo for number, lo, hi in covered if number == plan)
