"""Prints vectors of NumPy's RandomState (MT19937): python make_numpy.py"""

import json

import numpy as np

SEEDS = (0, 1, 42, 2**32 - 1)
MODULI = (7, 1000, 1024, 1610612736)


def line(family, output, seed, modulus, call):
    values = [int(call()) for _ in range(1006)]
    about = {"family": family, "output": output, "seed": seed, "modulus": modulus}
    print(json.dumps({**about, "first": values[:6], "later": values[1000:]}))


for seed in SEEDS:
    for modulus in MODULI:
        source = np.random.RandomState(seed)
        line("mt19937", "masked", seed, modulus, lambda: source.randint(modulus))
        source = np.random.RandomState(seed)
        line("mt19937", "scaled", seed, modulus, lambda: source.random_sample() * modulus)
