"""An answer in words: a verdict for everybody, a table for experts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.searches.prng.answer import STRUCTURE, AnalyseAnswer, Coverage, ScoredCandidate
from weft.searches.prng.families import family_named
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.statistics import probability_text

SHOWN_DRAWS = 20
SHOWN_CANDIDATES = 5


def verdict_lines(answer: AnalyseAnswer, draws: int) -> Iterator[str]:
    """Say in plain words what was found, or that nothing was and what that means."""
    yield from (_signal(answer, draws) if answer.is_signal else _no_signal(answer, draws))


def _signal(answer: AnalyseAnswer, draws: int) -> Iterator[str]:
    best = answer.found[0]
    score, hypothesis = best.score, best.hypothesis
    title = family_named(hypothesis.family).title
    yield f"SIGNAL: these {draws:,} draws come from {title}."
    yield (
        f"It explains {score.hits:,} of {score.compared:,} draws it was fitted to, and"
        f" {score.held_hits} of {score.held} it had not seen. The odds of that by accident,"
        f" after all that was tried: {probability_text(score.evidence)} and"
        f" {probability_text(score.held_evidence)}."
    )
    yield f"  {hypothesis_text(hypothesis)}"
    if best.stream:
        yield f"  in the draws of session {best.stream!r} alone"
    yield ""
    yield from _predictions(best)


def _predictions(best: ScoredCandidate) -> Iterator[str]:
    if not best.next:
        yield "The skips vary, so the next draws cannot be predicted one by one."
        return
    share = 100 * best.score.held_hits // max(1, best.score.held)
    yield f"The next draws, if it goes on so ({share} % of the unseen ones were right):"
    yield "  " + " ".join(str(draw) for draw in best.next[:SHOWN_DRAWS])
    if len(best.next) > SHOWN_DRAWS:
        yield f"  … {len(best.next) - SHOWN_DRAWS} more with --json"


def _no_signal(answer: AnalyseAnswer, draws: int) -> Iterator[str]:
    if answer.verdict == STRUCTURE:
        yield f"NO GENERATOR FOUND, but these {draws:,} draws are not random:"
        yield from (f"  {hint.text}" for hint in answer.hints)
    else:
        yield f"NO SIGNAL: nothing distinguishes these {draws:,} draws from random ones."
    for scored in answer.found[:SHOWN_CANDIDATES]:
        yield (
            f"  not confirmed: {hypothesis_text(scored.hypothesis)}; p"
            f" {probability_text(scored.score.evidence)} in training,"
            f" {probability_text(scored.score.held_evidence)} in the holdout"
        )
    yield ""
    yield "Any of these would have been found:"
    yield from (f"  {line}" for line in covered_lines(answer.covered))
    yield "Not covered:"
    yield from (f"  {line}" for line in uncovered_lines(answer))


def covered_lines(covered: Sequence[Coverage]) -> list[str]:
    """Say what was covered, one line for each family and kind of coverage."""
    return _grouped([(item.family, item.output, item.covers) for item in covered])


def uncovered_lines(answer: AnalyseAnswer) -> list[str]:
    """Say what was not covered: attacks that could not be used, or ended for their cost."""
    gaps = [(gap.family, gap.output, gap.why) for gap in answer.gaps]
    cut = [(item.family, item.output, _in_part(item)) for item in answer.in_part]
    left = [(item.family, item.output, f"not tried: {item.covers}") for item in answer.not_tried]
    more = ["--effort all does not stop for the cost"] if cut or left else []
    return [*_grouped([*gaps, *cut, *left]), *more]


def _in_part(item: Coverage) -> str:
    return f"the rest after {item.done} of {item.units} parts of: {item.covers}"


def _grouped(items: Sequence[tuple[str, str, str]]) -> list[str]:
    """Join output maps of one family, and families with the same words."""
    outputs: dict[tuple[str, str], list[str]] = {}
    for family, output, words in items:
        outputs.setdefault((family, words), [])
        if output not in outputs[family, words]:
            outputs[family, words].append(output)
    return [f"{family} ({', '.join(maps)}): {words}" for (family, words), maps in outputs.items()]


def hypothesis_text(hypothesis: Hypothesis) -> str:
    """Write a hypothesis in one line."""
    least, most = hypothesis.skips.between
    skips = f"skip {least}" if least == most else f"skips {least} to {most}"
    state = hypothesis.state
    source = f"seed {hypothesis.seed}" if state is None else f"state 0x{_short(state)}"
    call = f"{hypothesis.family}.{hypothesis.output}({hypothesis.modulus})"
    return f"{call}, {source}, {skips}, start {hypothesis.start}"


def _short(state: str) -> str:
    return state if len(state) <= 64 else f"{state[:24]}…{state[-8:]} ({len(state) // 2} bytes)"


def table_rows(answer: AnalyseAnswer) -> list[tuple[str, ...]]:
    """Return the candidates as rows: rank, hits, p, holdout, its p, hypothesis."""
    rows: list[tuple[str, ...]] = [("rank", "hits", "p", "holdout", "p", "hypothesis")]
    for rank, scored in enumerate(answer.found[:SHOWN_CANDIDATES], 1):
        score = scored.score
        rows.append((
            str(rank),
            f"{score.hits}/{score.compared}",
            probability_text(score.evidence),
            f"{score.held_hits}/{score.held}",
            probability_text(score.held_evidence),
            hypothesis_text(scored.hypothesis),
        ))  # fmt: skip
    return rows
