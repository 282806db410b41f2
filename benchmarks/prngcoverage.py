"""Count the planted histories of each call that are found, the data of `families --coverage`.

    python -m benchmarks prngcoverage    writes src/weft/searches/prng/coverage.json
    python -m benchmarks prngcoverage --calls java.long,java.abs    updates these and keeps others

For every known call, histories are generated from random seeds; every other one has wrong rows. The
attack that tries all seeds runs on the part that contains the seed (the other parts are the same
work on other seeds); an attack on states runs as a whole. A history counts as found if the draws
that follow are predicted.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path

from weft.searches.prng import coverage
from weft.searches.prng.apis import declared_apis
from weft.searches.prng.attack import AttackPlan, Case, Units
from weft.searches.prng.attacks import ALL as ATTACKS
from weft.searches.prng.attacks import attack_named, brute
from weft.searches.prng.families import family_named
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.rowmaps import is_row_map, row_length
from weft.searches.prng.search import VERSION

RECORD = Path(coverage.__file__).with_name("coverage.json")
PLANTED = 8
DRAWS, NEXT = 100, 50
WRONG_PERCENT = 5


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser("prngcoverage")
    parser.add_argument("--calls", default="", help="only these, as FAMILY.MAP,FAMILY.MAP")
    chosen = [name for name in parser.parse_args(argv or []).calls.split(",") if name]
    earlier = coverage.recorded().planted if chosen else {}
    planted = {}
    for family, output in declared_apis():
        if chosen and f"{family}.{output}" not in chosen:
            planted[f"{family}.{output}"] = list(earlier[f"{family}.{output}"])
            continue
        source = random.Random(f"{family}.{output}")
        bits = min(32, family_named(family).seed_bits)
        seeds = [source.getrandbits(bits) for _ in range(PLANTED)]
        wrong = [0 if number % 2 else WRONG_PERCENT for number in range(PLANTED)]
        count = sum(is_found(family, output, *each) for each in zip(seeds, wrong, strict=True))
        planted[f"{family}.{output}"] = [PLANTED, count]
        print(f"{family}.{output}: {count} of {PLANTED}", flush=True)
    body = {
        "command": "python -m benchmarks prngcoverage",
        "date": time.strftime("%Y-%m-%d"),
        "version": coverage.recorded().version if chosen else VERSION,  # of the oldest figure
        "draws": DRAWS,
        "wrong_percent": WRONG_PERCENT,
        "planted": planted,
    }
    RECORD.write_text(json.dumps(body, indent=1) + "\n", encoding="ascii")


def is_found(family: str, output: str, seed: int, wrong_percent: int) -> bool:
    """Whether an attack predicts the draws that follow a history of this seed.

    In histories of rows the first row stays right, since their sieve requires it.
    """
    modulus = coverage.modulus_of(output)
    truth = generate(Hypothesis(family, output, modulus, seed=seed), DRAWS + NEXT)
    draws, source = truth[:DRAWS], random.Random(seed)
    maps = (output,) if is_row_map(output) else ()
    first = row_length(output, modulus) if maps else 0
    for at in source.sample(range(first, DRAWS), (DRAWS - first) * wrong_percent // 100):
        draws[at] = source.randrange(modulus)
    case = Case(tuple(draws), modulus, (0, 0), (0, 0), 2 * wrong_percent, families=(family,),
                row_maps=maps)  # fmt: skip
    for plan in plans_for(case, family, output):
        units = units_with(case, plan, seed)
        for match in attack_named(plan.attack).run(case, plan, units):
            if generate(match.hypothesis, DRAWS + NEXT) == truth:
                return True
    return False


def plans_for(case: Case, family: str, output: str) -> list[AttackPlan]:
    """Return the plans for a call that need no luck, cheapest first; those by seed last."""
    plans = [item for attack in ATTACKS if not attack.needs_luck for item in attack.plan(case)]
    fitting = [
        plan
        for plan in plans
        if isinstance(plan, AttackPlan) and coverage.is_about(plan, family, output)
    ]
    return sorted(fitting, key=lambda plan: (plan.attack == brute.NAME, plan.cost_ms))


def units_with(case: Case, plan: AttackPlan, seed: int) -> Units:
    """Return the part of a plan that tries a seed; for an attack on states, the whole plan."""
    if plan.attack != brute.NAME:
        return Units(0, plan.units)
    bits = brute.seed_bits(family_named(plan.family))
    for unit in range(plan.units):
        ((_, first, end),) = brute.joined(case, bits, unit, unit + 1)
        if first <= seed < end:
            return Units(unit, unit + 1)
    raise AssertionError(f"no part of {plan.covers} has seed {seed}")


if __name__ == "__main__":
    main()
