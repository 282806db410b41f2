"""Print vectors of NumPy's RandomState (MT19937) and SFC64: python make_numpy.py"""

import json

import numpy as np

SEEDS = (0, 1, 42, 2**32 - 1)
MODULI = (7, 1000, 1024, 1610612736)


def line(family, output, seed, modulus, call):
    values = [int(call()) for _ in range(1006)]
    about = {"family": family, "output": output, "seed": seed, "modulus": modulus}
    print(json.dumps({**about, "first": values[:6], "later": values[1000:]}))


def lines(seed, modulus):
    randint = np.random.RandomState(seed).randint
    random_sample = np.random.RandomState(seed).random_sample
    line("mt19937", "masked", seed, modulus, lambda: randint(modulus))
    line("mt19937", "scaled", seed, modulus, lambda: random_sample() * modulus)


for seed in SEEDS:
    for modulus in MODULI:
        lines(seed, modulus)

for word in (1, 42, 2**64 - 1):
    words = [word, 2, 3, word]
    source = np.random.SFC64()
    source.state = {**source.state, "state": {"state": np.array(words, np.uint64)}}
    values = source.random_raw(1006).tolist()
    state = "".join(f"{part:016x}" for part in words)
    about = {"family": "sfc64", "output": "raw", "state": state, "modulus": 1000}
    print(json.dumps({**about, "first": values[:6], "later": values[1000:]}))

for seed in (*SEEDS, 2**63 + 12345):
    for modulus in MODULI:
        integers = np.random.default_rng(seed).integers
        random = np.random.default_rng(seed).random
        line("numpy_pcg64", "bounded", seed, modulus, lambda call=integers, m=modulus: call(m))
        line("numpy_pcg64", "scaled", seed, modulus, lambda call=random, m=modulus: call() * m)
