"""The tasks of `weft hello`, run by workers: pure functions of their arguments and seed."""

import random

import weft

ALPHABET = "abcdefghijklmnopqrstuvwxyz ,.!?'-"
ERRORS_PER_100 = 8


def matches(text: str, target: str) -> int:
    """Count the matching letters."""
    return sum(a == b for a, b in zip(text, target, strict=True))


@weft.task(name="hello.breed")
def breed(
    parent: str, target: str, children: int, *, seed: int = weft.SEED
) -> dict[str, str | int]:
    """Copy the parent with random errors; return the best copy, or the parent if none is better."""
    draws = random.Random(seed)
    copies = [_copy(parent, draws) for _ in range(children)]
    best = max([parent, *copies], key=lambda text: matches(text, target))
    return {"text": best, "letters": matches(best, target)}


def _copy(text: str, draws: random.Random) -> str:
    # Only random() gives the same numbers in every version of Python; choice() may not.
    return "".join(
        ALPHABET[int(draws.random() * len(ALPHABET))]
        if draws.random() * 100 < ERRORS_PER_100
        else letter
        for letter in text
    )
