"""Renders an answer as text: a verdict for everybody, a table for experts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.searches.prng.answer import (
    PARTIAL,
    STRUCTURE,
    AnalyseAnswer,
    Coverage,
    ScoredCandidate,
)
from weft.searches.prng.apis import call_text, rarity
from weft.searches.prng.attacks.brute import NAME_FEWER
from weft.searches.prng.blocks import block_size, draws_to_block_end
from weft.searches.prng.deals import rest_of_deck
from weft.searches.prng.drawforms import CARDS
from weft.searches.prng.families import family_named
from weft.searches.prng.family import EXOTIC
from weft.searches.prng.history import History
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.statistics import probability_text

LIKELY = ("likely", "dates", "varying")
"""Attacks that try only some of the seeds."""
NEVER_COVERED = (
    "states of Math.random() of Firefox",
    "sorted rows where there are more than 2^32 of them",
    "cryptographic generators",
)
"""Common calls that no option covers."""
SHOWN_DRAWS = 20
SHOWN_CANDIDATES = 5


def verdict_lines(answer: AnalyseAnswer, history: History) -> Iterator[str]:
    """Describe the verdict and, without a signal, what was and was not covered."""
    if not answer.is_signal:
        yield from _no_signal(answer, len(history))
        return
    yield from signal_lines(answer, history)
    yield ""
    yield from _rest_of_deck(answer.found[0], history)
    yield from _predictions(answer.found[0], history)
    yield from block_lines(answer.found[0], history)


def signal_lines(answer: AnalyseAnswer, history: History) -> Iterator[str]:
    """Describe the generator, the evidence for it, and its origins."""
    best, draws = answer.found[0], len(history)
    score, hypothesis = best.score, best.hypothesis
    title = family_named(hypothesis.family).title
    if answer.verdict == PARTIAL:
        share = 100 * score.held_hits // max(1, score.held)
        yield (
            f"PARTIAL SIGNAL: {title} explains {share} % of the held-out draws; the rest of these"
            f" {draws:,} draws is not explained."
        )
    else:
        yield f"SIGNAL: these {draws:,} draws come from {title}."
    yield (
        f"It explains {score.hits:,} of {score.compared:,} training draws and {score.held_hits} of"
        f" {score.held} held-out draws. By chance, corrected for everything tried:"
        f" p = {probability_text(score.evidence)} and {probability_text(score.held_evidence)}."
    )
    yield f"  {hypothesis_text(hypothesis)}"
    if history.form is not None and history.form.low:
        low = history.form.low
        yield f"  draws of the generator begin with 0, these with {low}: {low} is added to each"
    yield from _origins(best)
    if best.stream:
        yield f"  in the draws of session {best.stream!r} alone"


def _rest_of_deck(best: ScoredCandidate, history: History) -> Iterator[str]:
    """List the cards left in the deck of the last deal."""
    if cards := cards_left(best, history):
        yield f"What is left of the last deck after its deal, in order ({len(cards)}):"
        yield "  " + in_line(cards)


def cards_left(best: ScoredCandidate, history: History) -> list[str]:
    """Return the cards left in the deck of the last deal; empty without next draws.

    Empty also for other rows: the numbers that a lottery did not draw are of no interest.
    """
    if not best.next or history.form is None or history.form.name != CARDS:
        return []
    return history.texts(rest_of_deck(best.hypothesis, len(history.streams()[best.stream])))


def block_lines(best: ScoredCandidate, history: History) -> Iterator[str]:
    """Explain why the next draws end with a block, if the draws do not reveal its end."""
    draws = len(history.streams()[best.stream])
    remaining = draws_to_block_end(best.hypothesis, draws)
    if remaining is not None:
        size = block_size(best.hypothesis)
        yield (
            f"  It makes {size} numbers ahead, and {draws} draws do not show how many of those are"
            " left:"
        )
        yield (
            f"  the prediction holds until they are used up, in {remaining} draws at the latest."
            f" {size} draws in a row show it."
        )


def _origins(best: ScoredCandidate) -> Iterator[str]:
    """List the seeds that the draws may come from, and equivalent calls."""
    for origin in best.origins:
        kind = f" ({origin.kind})" if origin.kind else ""
        if kind or best.hypothesis.seed is None:
            yield f"  seed {origin.seed}{kind}, {origin.start} calls before the first draw"
    if best.equivalents:
        yield f"  the same draws come from {', '.join(best.equivalents)}"


def _predictions(best: ScoredCandidate, history: History) -> Iterator[str]:
    if not best.next:
        reason = "predicted too few of the last draws" if best.tail else "has no draws to predict"
        if not best.hypothesis.skips.is_constant:
            reason = "does not know how many calls are skipped next"
        yield f"No next draws: it {reason} ({best.tail_hits} of {best.tail} right)."
        return
    yield (
        f"The next draws, if this continues (it predicted {best.tail_hits} of the last"
        f" {best.tail} draws unseen):"
    )
    texts = history.texts(best.next)
    yield "  " + in_line(texts[:SHOWN_DRAWS])
    if len(texts) > SHOWN_DRAWS:
        yield f"  … {len(texts) - SHOWN_DRAWS} more with --json"


def in_line(texts: Sequence[str]) -> str:
    """Join draws with blanks, or rows of several numbers with bars."""
    return (" | " if any(" " in text for text in texts) else " ").join(texts)


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


def estimate_text(seconds: int) -> str:
    """Describe the maximum cost of an analysis, before it starts."""
    cost = f"{-(-seconds // 60):,} minutes" if seconds > 120 else f"{seconds} seconds"
    return f"planned: at most about {cost} of one core, the likeliest first"


def covered_lines(covered: Sequence[Coverage]) -> list[str]:
    """Describe what was covered, with one line per family and kind of coverage."""
    return _grouped([(item.family, item.output, item.covers) for item in covered])


def uncovered_lines(answer: AnalyseAnswer) -> list[str]:
    """List calls that were not covered, with the reason or the option that would cover them."""
    lines, exotic = [], 0
    for family, output in _calls(answer):
        line = _uncovered_call(answer, family, output)
        if line and rarity(family, output) < EXOTIC:
            lines.append(line)
        exotic += bool(line) and rarity(family, output) >= EXOTIC
    if exotic:
        lines.append(f"{exotic} output maps that no library offers: --effort all")
    reasons = dict.fromkeys(gap.why for gap in answer.gaps if NAME_FEWER in gap.why)
    lines += [f"every call: {why}" for why in reasons]
    lines.append(f"whatever the options: {', '.join(NEVER_COVERED)}")
    if answer.in_part or answer.not_tried:
        lines.append("--effort all does not stop for the cost; --after RUN repeats nothing of RUN")
    return lines


def _calls(answer: AnalyseAnswer) -> list[tuple[str, str]]:
    """Return all calls mentioned in an answer, the most common first."""
    items = (*answer.covered, *answer.in_part, *answer.not_tried)
    names = [(item.family, item.output) for item in items]
    names += [(gap.family, gap.output) for gap in answer.gaps]
    return sorted(dict.fromkeys(names), key=lambda call: rarity(*call))


def _uncovered_call(answer: AnalyseAnswer, family: str, output: str) -> str:
    """Describe what of a call is not excluded; empty if all its seeds or states are."""
    call = (family, output)
    if any((i.family, i.output) == call and i.attack not in LIKELY for i in answer.covered):
        return ""
    items = [i for i in (*answer.in_part, *answer.not_tried) if (i.family, i.output) == call]
    text = call_text(family, output)
    for item in items:
        if item.attack == "brute":
            share, option = 100 * item.done // item.units, f"--families {family} --outputs {output}"
            return f"{text}: {share} % of the seeds were tried; {option} tries all"
    for item in items:
        if item.attack not in LIKELY:
            return f"{text}: {_in_part(item)}"
    whys = [gap.why for gap in answer.gaps if (gap.family, gap.output) == call]
    why = next((why for why in whys if NAME_FEWER not in why), "no attack tries them")
    return f"{text}: seeds that are not likely ones: {why}"


def _in_part(item: Coverage) -> str:
    return f"the rest after {item.done} of {item.units} parts of: {item.covers}"


def _grouped(items: Sequence[tuple[str, str, str]]) -> list[str]:
    """Join the output maps of a family that have the same coverage into one line."""
    outputs: dict[tuple[str, str], list[str]] = {}
    for family, output, words in items:
        outputs.setdefault((family, words), [])
        if output not in outputs[family, words]:
            outputs[family, words].append(output)
    return [f"{family} ({', '.join(maps)}): {words}" for (family, words), maps in outputs.items()]


def hypothesis_text(hypothesis: Hypothesis) -> str:
    """Format a hypothesis on one line."""
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
