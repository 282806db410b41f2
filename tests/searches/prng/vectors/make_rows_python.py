"""python make_rows_python.py > rows_python.jsonl: rows of CPython's random and of NumPy."""

import json
import random
from math import comb

import numpy as np

SIZES = [(49, 6), (50, 5), (20, 7), (90, 5), (60, 12)]


def rank(row: list[int]) -> int:
    return sum(comb(element, at) for at, element in enumerate(sorted(row), 1))


def line(family: str, output: str, modulus: int, seed: int, first: list[int]) -> None:
    about = {"family": family, "output": output, "modulus": modulus, "seed": seed}
    print(json.dumps({**about, "first": [int(value) for value in first]}))


def flat(rows: list[list[int]]) -> list[int]:
    return [element for row in rows for element in row]


def shuffled(total: int) -> list[int]:
    deck = list(range(total))
    random.shuffle(deck)
    return deck


for seed in (0, 1234, 20240229, 4294967295, 2**40 + 7):
    for total in (10, 52, 100):
        random.seed(seed)
        line("cpython_rows", "shuffle", total, seed, [x for _ in range(3) for x in shuffled(total)])
    for total, length in SIZES:
        random.seed(seed)
        rows = [random.sample(range(total), length) for _ in range(6)]
        line("cpython_rows", f"sample{length}", total, seed, flat(rows))
        if comb(total, length) <= 2**32:
            ways = comb(total, length)
            line("cpython_rows", f"sorted_sample{length}", ways, seed, list(map(rank, rows)))
        random.seed(seed)
        rows = [shuffled(total)[:length] for _ in range(6)]
        line("cpython_rows", f"deal{length}", total, seed, flat(rows))
    if seed >= 2**32:
        continue
    for total in (10, 52, 100):
        legacy = np.random.RandomState(seed)
        rows = [legacy.permutation(total).tolist() for _ in range(3)]
        line("mt19937_rows", "shuffle", total, seed, flat(rows))
    for total, length in SIZES:
        legacy = np.random.RandomState(seed)
        rows = [legacy.choice(total, length, replace=False).tolist() for _ in range(6)]
        line("mt19937_rows", f"deal{length}", total, seed, flat(rows))
