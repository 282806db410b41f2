"""python draws.py CALL SEED COUNT MODULUS: one draw per line."""

import random
import sys

import numpy as np

call, seed, count, m = sys.argv[1], *map(int, sys.argv[2:])
random.seed(seed)
legacy, generator = np.random.RandomState(seed), np.random.default_rng(seed)


def shuffled(row: list[int]) -> list[int]:
    random.shuffle(row)
    return row


draw = {
    "randrange(m)": lambda: random.randrange(m),
    "randint(a,b)": lambda: random.randint(1, m) - 1,
    "choice": lambda values=range(m): random.choice(values),
    "shuffle": lambda: shuffled(list(range(m))),
    "sample 6": lambda: random.sample(range(m), 6),
    "sorted sample 6": lambda: sorted(random.sample(range(m), 6)),
    "RandomState.permutation": lambda: legacy.permutation(m).tolist(),
    "RandomState.choice 6": lambda: legacy.choice(m, 6, replace=False).tolist(),
    "random()*m": lambda: int(random.random() * m),
    "getrandbits(32)": lambda: random.getrandbits(32),
    "RandomState.randint": lambda: int(legacy.randint(m)),
    "RandomState.rand": lambda: int(legacy.rand() * m),
    "default_rng.integers": lambda: int(generator.integers(m)),
    "default_rng.random": lambda: int(generator.random() * m),
}[call]
made: list[int] = []
while len(made) < count:
    row = draw()
    made += row if isinstance(row, list) else [row]
print(*made, sep="\n")
