"""Print vectors of CPython's random, by seed and by state: python make_cpython.py"""

import json
import random

SEEDS = (0, 1, 42, 2**32 - 1, 2**32, 2**63 + 12345)
MODULI = (7, 1000, 1024, 1610612736)


def calls(modulus):
    return {
        "bounded": lambda: random.randrange(modulus),
        "scaled": lambda: int(random.random() * modulus),
        "mod": lambda: random.getrandbits(32) % modulus,
    }


def line(about, call):
    values = [call() for _ in range(1006)]
    print(json.dumps({"family": "cpython", **about, "first": values[:6], "later": values[1000:]}))


def state_hex():
    return b"".join(word.to_bytes(4, "big") for word in random.getstate()[1]).hex()


for seed in SEEDS:
    random.seed(seed)
    line({"output": "raw", "seed": seed, "modulus": 1000}, lambda: random.getrandbits(32))
    for modulus in MODULI:
        for output, call in calls(modulus).items():
            random.seed(seed)
            line({"output": output, "seed": seed, "modulus": modulus}, call)
random.seed(7)
for _ in range(1000):
    random.random()
line({"output": "bounded", "state": state_hex(), "modulus": 1000}, lambda: random.randrange(1000))
