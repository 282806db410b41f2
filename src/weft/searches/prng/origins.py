"""Possible origins of a stream: seeds behind a state, and generators that produce the same draws.

The state of a congruential generator is stepped backwards call by call. Seeds on the way that
people are likely to use (typed numbers, times) are reported, and the seed of the state itself.
Every origin is verified to produce the same draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from weft.searches.prng.apis import rarity
from weft.searches.prng.attacks.likely_seeds import (
    DATED_COUNT,
    TIMES,
    TYPED_COUNT,
    dated_seeds,
    typed_seeds,
)
from weft.searches.prng.families import FAMILIES, family_named
from weft.searches.prng.family import Family, State
from weft.searches.prng.forms import LcgSeeding
from weft.searches.prng.generate import MAX_BOUND, first_state, generate, greatest_modulus
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.rowmaps import elements_of

MAX_CALLS_BACK = 1000
MAX_ORIGINS = 3
CHECKED = 200
"""Maximum number of draws on which an origin or another generator must agree."""
DATED = "a date or a process id"
RARE_ENOUGH = 100
"""A seed is reported if at most one in this many searches would find one like it by chance."""


@dataclass(frozen=True, slots=True)
class SeedOrigin:
    """A seed that produces the draws after `start` calls, and the kind of number it is."""

    seed: int
    start: int
    kind: str


def origins(hypothesis: Hypothesis, draws: int) -> tuple[SeedOrigin, ...]:
    """Return the seeds that a hypothesis may come from, the most telling first."""
    if hypothesis.seed is not None:
        return (SeedOrigin(hypothesis.seed, hypothesis.start, kind_of(hypothesis.seed)),)
    count = min(draws, CHECKED)
    generated = generate(hypothesis, count)
    checked = [
        origin
        for origin in _candidates(hypothesis)
        if generate(_seeded(hypothesis, origin), count) == generated
    ]
    return tuple(checked[:MAX_ORIGINS])


def _seeded(hypothesis: Hypothesis, origin: SeedOrigin) -> Hypothesis:
    return replace(hypothesis, seed=origin.seed, state=None, start=origin.start)


def _candidates(hypothesis: Hypothesis) -> list[SeedOrigin]:
    """Return seeds that people are likely to use, nearest first, then that of the state itself."""
    family = family_named(hypothesis.family)
    state = first_state(family, hypothesis)
    plain = seed_of(family, state)
    telling = []
    for back, earlier in enumerate(_walk_back(family, state)):
        seed = seed_of(family, earlier)
        if seed is not None and _is_telling(family, seed, back):
            telling.append(SeedOrigin(seed, hypothesis.start + back, kind_of(seed)))
    first = [] if plain is None else [SeedOrigin(plain, hypothesis.start, kind_of(plain))]
    return list(dict.fromkeys([*telling, *first]))


def _walk_back(family: Family, state: State) -> Iterator[State]:
    """Yield the state and, if the generator can be stepped backwards, those before it."""
    yield state
    period = _period(family)
    if family.jump is None or period is None:
        return
    for _ in range(MAX_CALLS_BACK):
        state = list(state)
        family.jump(state, period - 1)
        yield state


def _period(family: Family) -> int | None:
    """Return the period of a congruential generator with one word of state; None for others."""
    if family.state_words != 1 or not (family.lcg_forms or family.lattice_forms):
        return None
    modulus = max(
        [1 << family.state_bits for _ in family.lcg_forms]
        + [form.modulus for form in family.lattice_forms]
    )
    return modulus if modulus & (modulus - 1) == 0 else modulus - 1


def seed_of(family: Family, state: State) -> int | None:
    """Return the seed that produces a state; None if there is none or seeding is one-way."""
    form = family.seed_form
    seed = state[0]
    if isinstance(form, LcgSeeding):
        seed = (state[0] >> form.place) ^ form.scramble
    return seed if seed >> family.seed_bits == 0 and family.seeding(seed) == state else None


def _is_telling(family: Family, seed: int, back: int) -> bool:
    """Whether a seed of its kind is unlikely to occur by chance within `back` calls."""
    kind = kind_of(seed)
    if not kind:
        return False
    sizes = {"typed": TYPED_COUNT, DATED: DATED_COUNT, "Unix time": TIMES[1] - TIMES[0]}
    size = sizes.get(kind.split(",")[0], 1000 * (TIMES[1] - TIMES[0]))
    return RARE_ENOUGH * size * (back + 1) <= 1 << min(family.seed_bits, family.state_bits)


def kind_of(seed: int) -> str:
    """Describe a seed that people are likely to use: typed, or a date or time; else empty."""
    if seed in _typed():
        return "typed"
    if seed < TIMES[0] and seed in _dated():
        return DATED
    for name, unit in (("Unix time", 1), ("milliseconds", 1000)):
        if TIMES[0] * unit <= seed < TIMES[1] * unit:
            return f"{name}, {utc_text(seed // unit)} UTC"
    return ""


@lru_cache(maxsize=1)
def _typed() -> frozenset[int]:
    return frozenset(typed_seeds())


@lru_cache(maxsize=1)
def _dated() -> frozenset[int]:
    return frozenset(dated_seeds())


def utc_text(seconds: int) -> str:
    """Format Unix seconds as date and time in UTC, by arithmetic alone.

    >>> utc_text(1_700_000_000), utc_text(951_782_400)
    ('2023-11-14 22:13:20', '2000-02-29 00:00:00')
    """
    days, rest = divmod(seconds, 86_400)
    days += 719_468  # to 0000-03-01: years that begin in March end with their leap day
    era, day_of_era = divmod(days, 146_097)
    leap_days = day_of_era // 1460 - day_of_era // 36_524 + day_of_era // 146_096
    year_of_era = (day_of_era - leap_days) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    months = (5 * day_of_year + 2) // 153
    day, month = day_of_year - (153 * months + 2) // 5 + 1, (months + 2) % 12 + 1
    year = 400 * era + year_of_era + (month <= 2)
    return f"{year:04}-{month:02}-{day:02} {rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


def equivalents(hypothesis: Hypothesis, draws: int) -> tuple[str, ...]:
    """Return other generators and output maps that produce the same draws from the same state."""
    state, count = first_state(family_named(hypothesis.family), hypothesis), min(draws, CHECKED)
    generated, equivalents = generate(hypothesis, count), []
    for family in FAMILIES:
        if family.state_words != len(state) or max(state) >> family.state_word_bits:
            continue
        same = replace(hypothesis, family=family.name, seed=None, state=family.state_text(state))
        for output in _other_maps(family, hypothesis):
            guess = replace(same, output=output)
            if generate(guess, 2) == generated[:2] and generate(guess, count) == generated:
                equivalents.append(f"{family.name}.{output}")
    return tuple(equivalents)


def most_usual(
    hypothesis: Hypothesis, names: Sequence[str], is_asked: Callable[[str, str], bool]
) -> tuple[Hypothesis, tuple[str, ...]]:
    """Return the hypothesis with the most common equivalent call, and the names of the others.

    For example, a state of drand48() is also one of java.util.Random. Only calls that `is_asked`
    accepts are considered.
    """
    own = (hypothesis.family, hypothesis.output)
    calls = [own, *((name.split(".")[0], name.split(".")[1]) for name in names)]
    chosen = min(
        (call for call in calls if call == own or is_asked(*call)), key=lambda call: rarity(*call)
    )
    if hypothesis.state is None or chosen == own:
        return hypothesis, tuple(names)
    state = first_state(family_named(hypothesis.family), hypothesis)
    text = family_named(chosen[0]).state_text(state)
    others = tuple(".".join(call) for call in calls if call != chosen)
    return replace(hypothesis, family=chosen[0], output=chosen[1], state=text), others


def _other_maps(family: Family, hypothesis: Hypothesis) -> Sequence[str]:
    """Return the maps of a family that support the modulus, except the hypothesis's own."""
    return [
        output
        for output in family.outputs
        if (family.name, output) != (hypothesis.family, hypothesis.output)
        and hypothesis.modulus <= greatest_modulus(output)
        and (family.rows is None or elements_of(output, hypothesis.modulus))
        and (output != "raw" or hypothesis.modulus > MAX_BOUND)
    ]
