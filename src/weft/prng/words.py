"""What is said of an answer: a verdict for everybody, a table for experts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weft.prng.families import family_named
from weft.prng.statistics import probability_text

SHOWN_DRAWS = 20
SHOWN_FINDS = 5


def verdict_lines(answer: Mapping[str, Any], draws: int) -> Iterator[str]:
    """Say in plain words what was found, or that nothing was and what that means."""
    if answer["verdict"] == "signal":
        yield from _signal(answer, draws)
    else:
        yield from _no_signal(answer, draws)


def _signal(answer: Mapping[str, Any], draws: int) -> Iterator[str]:
    best = answer["found"][0]
    got, hypothesis = best["score"], best["hypothesis"]
    title = family_named(hypothesis["family"]).title
    yield f"SIGNAL: these {draws:,} draws come from {title}."
    yield (
        f"It explains {got['hits']:,} of {got['compared']:,} draws it was fitted to, and"
        f" {got['held_hits']} of {got['held']} it had not seen. The odds of that by accident,"
        f" after all that was tried: {probability_text(got['evidence'])} and"
        f" {probability_text(got['held_evidence'])}."
    )
    yield f"  {hypothesis_text(hypothesis)}"
    if best["stream"]:
        yield f"  in the draws of session {best['stream']!r} alone"
    yield ""
    yield from _coming(best["next"], got)


def _coming(coming: Sequence[int], got: Mapping[str, Any]) -> Iterator[str]:
    if not coming:
        yield "The skips vary, so the next draws cannot be foretold one by one."
        return
    share = 100 * got["held_hits"] // max(1, got["held"])
    yield f"The next draws, if it goes on so ({share} % of the unseen ones were right):"
    yield "  " + " ".join(str(draw) for draw in coming[:SHOWN_DRAWS])
    if len(coming) > SHOWN_DRAWS:
        yield f"  … {len(coming) - SHOWN_DRAWS} more with --json"


def _no_signal(answer: Mapping[str, Any], draws: int) -> Iterator[str]:
    if answer["verdict"] == "structure":
        yield f"NO GENERATOR FOUND, but these {draws:,} draws are not random:"
        yield from (f"  {hint['text']}" for hint in answer["hints"])
    else:
        yield f"NO SIGNAL: nothing tells these {draws:,} draws from random ones."
    for one in answer["found"][:SHOWN_FINDS]:
        got = one["score"]
        yield (
            f"  not confirmed: {hypothesis_text(one['hypothesis'])}; p"
            f" {probability_text(got['evidence'])} in training,"
            f" {probability_text(got['held_evidence'])} in the holdout"
        )
    yield ""
    yield "Any of these would have been found:"
    yield from (f"  {line}" for line in covered_lines(answer["covered"]))
    yield "Not covered:"
    yield from (f"  {line}" for line in left_lines(answer))


def covered_lines(covered: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say what was covered, one line for each family and kind of coverage."""
    return _grouped([(one["family"], one["output"], one["covers"]) for one in covered])


def left_lines(answer: Mapping[str, Any]) -> list[str]:
    """Say what was not covered: attacks that could not be used, or ended for their cost."""
    gaps = [(gap["family"], gap["output"], gap["why"]) for gap in answer["gaps"]]
    cut = [(one["family"], one["output"], _in_part(one)) for one in answer["in_part"]]
    left = [(o["family"], o["output"], f"not tried: {o['covers']}") for o in answer["not_tried"]]
    more = ["--effort all does not stop for the cost"] if cut or left else []
    return [*_grouped([*gaps, *cut, *left]), *more]


def _in_part(one: Mapping[str, Any]) -> str:
    return f"the rest after {one['done']} of {one['units']} parts of: {one['covers']}"


def _grouped(items: Sequence[tuple[str, str, str]]) -> list[str]:
    """Join output maps of one family, and families with the same words."""
    outputs: dict[tuple[str, str], list[str]] = {}
    for family, output, words in items:
        outputs.setdefault((family, words), [])
        if output not in outputs[family, words]:
            outputs[family, words].append(output)
    return [f"{family} ({', '.join(maps)}): {words}" for (family, words), maps in outputs.items()]


def hypothesis_text(raw: Mapping[str, Any]) -> str:
    """Write a hypothesis in one line."""
    least, most = raw["skips"]["between"]
    skips = f"skip {least}" if least == most else f"skips {least} to {most}"
    state = raw["state"]
    source = f"seed {raw['seed']}" if state is None else f"state 0x{_short(state)}"
    call = f"{raw['family']}.{raw['output']}({raw['modulus']})"
    return f"{call}, {source}, {skips}, start {raw['start']}"


def _short(state: str) -> str:
    return state if len(state) <= 64 else f"{state[:24]}…{state[-8:]} ({len(state) // 2} bytes)"


def table_rows(answer: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the finds as rows: rank, hypothesis, hits, p, holdout, its p."""
    rows: list[tuple[str, ...]] = [("rank", "hits", "p", "holdout", "p", "hypothesis")]
    for rank, one in enumerate(answer["found"][:SHOWN_FINDS], 1):
        got = one["score"]
        rows.append((
            str(rank),
            f"{got['hits']}/{got['compared']}",
            probability_text(got["evidence"]),
            f"{got['held_hits']}/{got['held']}",
            probability_text(got["held_evidence"]),
            hypothesis_text(one["hypothesis"]),
        ))  # fmt: skip
    return rows
