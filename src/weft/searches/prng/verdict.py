"""From the attacks' candidates to a verdict: signal, partial signal, structure, or no signal.

Pure functions over integers. *Signal* requires corrected evidence in training and in the holdout,
which no attack has seen, and no more wrong draws than tolerated; with more, it is a *partial
signal*. Only a candidate that predicted the last draws (`backtest`) predicts the next ones. The
answer also states what was covered and what was not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from weft.searches.prng import scoring
from weft.searches.prng.answer import (
    NO_SIGNAL,
    PARTIAL,
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
from weft.searches.prng.backtest import backtest, steadied
from weft.searches.prng.blocks import draws_to_block_end
from weft.searches.prng.origins import equivalents, most_usual, origins
from weft.searches.prng.planning import Range, StreamPlan
from weft.searches.prng.request import AnalyseRequest

MAX_SHOWN = 20
MAX_DESCRIBED = 4
"""Number of best candidates whose predictions and origins are computed."""


def score_all(
    candidates: Sequence[StreamCandidate],
    streams: Mapping[str, tuple[int, ...]],
    request: AnalyseRequest,
    described: int = MAX_DESCRIBED,
) -> list[ScoredCandidate]:
    """Score every candidate on its stream, best first; equal hypotheses are merged.

    Predictions and origins are computed for the first `described` candidates.
    """
    both = [item for candidate in candidates for item in _with_steady(candidate, streams)]
    unique = {(candidate.stream, candidate.hypothesis): candidate for candidate in both}
    ranked = [
        _scored(candidate, streams[candidate.stream], request, len(unique))
        for candidate in unique.values()
    ]
    return [
        _described(scored, streams[scored.stream], request) if place < described else scored
        for place, scored in enumerate(_ordered(ranked)[:MAX_SHOWN])
    ]


def _with_steady(
    candidate: StreamCandidate, streams: Mapping[str, tuple[int, ...]]
) -> list[StreamCandidate]:
    """Return a candidate and, if its skips hardly vary, the same with a constant skip."""
    extended = extend_skips(candidate.hypothesis, streams[candidate.stream])
    steady = steadied(extended)
    plain = StreamCandidate(candidate.stream, candidate.hypothesis, candidate.tried)
    if steady is None:
        return [plain]
    tried = candidate.tried * candidate.hypothesis.skips.choices
    return [plain, StreamCandidate(candidate.stream, steady, tried)]


def _scored(
    candidate: StreamCandidate, draws: tuple[int, ...], request: AnalyseRequest, survivors: int
) -> ScoredCandidate:
    hypothesis = extend_skips(candidate.hypothesis, draws)
    score = scoring.score(hypothesis, draws, request.modulus, candidate.tried, survivors)
    return ScoredCandidate(candidate.stream, hypothesis, candidate.tried, score, ())


def _described(
    scored: ScoredCandidate, draws: tuple[int, ...], request: AnalyseRequest
) -> ScoredCandidate:
    """Add predictions, possible seeds and equivalent calls to a confirmed candidate."""
    if not scored.is_confirmed(request.alpha_evidence):
        return scored
    count = scoring.known(scored.hypothesis, len(draws))
    alike = equivalents(scored.hypothesis, count)
    hypothesis, others = most_usual(scored.hypothesis, alike, request.includes)
    tested = backtest(hypothesis, draws, request.predict)
    return replace(
        scored,
        hypothesis=hypothesis,
        next=tested.next[: draws_to_block_end(hypothesis, len(draws))],
        tail_hits=tested.hits,
        tail=tested.compared,
        origins=origins(hypothesis, count),
        equivalents=others,
    )


def _ordered(candidates: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """Sort best first; ties are broken by identity, computed only then because it is slow."""
    groups = [list(group) for _, group in groupby(sorted(candidates, key=_rank), _rank)]
    for group in groups:
        if len(group) > 1:
            group.sort(key=ScoredCandidate.identity)
    return [candidate for group in groups for candidate in group]


def _rank(scored: ScoredCandidate) -> tuple[int, int, int, int]:
    """Return the sort key: most evidence, smallest skips, most hits, earliest start."""
    score, skips = scored.score, scored.hypothesis.skips
    evidence = score.evidence + score.held_evidence
    return -evidence, skips.between[1], -score.hits, scored.hypothesis.start


def is_confirmed(ranked: Sequence[ScoredCandidate], request: AnalyseRequest) -> bool:
    """Whether the best candidate has sufficient evidence in training and in the holdout."""
    return bool(ranked) and ranked[0].is_confirmed(request.alpha_evidence)


def is_certain(ranked: Sequence[ScoredCandidate], request: AnalyseRequest) -> bool:
    """Whether the best candidate is confirmed and leaves nothing but wrong rows to explain."""
    return is_confirmed(ranked, request) and ranked[0].explains(request.corrupt_percent)


def conclude(
    request: AnalyseRequest,
    plans: Sequence[StreamPlan],
    covered: Sequence[Range],
    gaps: Sequence[Gap],
    ranked: Sequence[ScoredCandidate],
    hints: Sequence[Detection],
) -> AnalyseAnswer:
    """Assemble the answer from coverage, gaps, candidates and hints."""
    alpha = request.alpha_evidence
    signal = is_confirmed(ranked, request)
    certain = is_certain(ranked, request)
    reported = [s for s in ranked if not signal or s.is_confirmed(alpha)]
    coverage = [
        item
        for number, plan in enumerate(plans)
        for item in Coverage.of(plan, plan.done + _units(covered, number))
    ]
    return AnalyseAnswer(
        SIGNAL if certain else PARTIAL if signal else STRUCTURE if hints else NO_SIGNAL,
        request.modulus,
        tuple(reported),
        tuple(hints),
        tuple(item for item in coverage if item.done == item.units),
        tuple(item for item in coverage if 0 < item.done < item.units),
        tuple(item for item in coverage if item.done == 0),
        tuple(gaps),
    )


def _units(covered: Sequence[Range], plan: int) -> int:
    """Return the number of covered units of a plan; ranges never overlap."""
    return sum(hi - lo for number, lo, hi in covered if number == plan)
