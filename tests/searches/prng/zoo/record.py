"""Regenerate `recorded.jsonl`: entries of the zoo with small seeds, for tests without runtimes.

python -m tests.searches.prng.zoo.record
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from tests.searches.prng.zoo.exhibits import ENTRIES, HERE, make_draws

RECORDED = HERE / "recorded.jsonl"
KEPT = (
    "php mt_rand(a,b) m=1000", "php legacy mt_rand(a,b) m=49", "python randrange(m) m=1000",
    "python RandomState.randint m=49", "python default_rng.integers m=1000", "ruby rand(m) m=6",
    "lua5.3 random(m) m=1000", "lua5.4 random(m) m=1000", "go Intn m=1000",
    "java SplittableRandom.nextInt(m) m=49", "mono Next(m) m=1000", "libc++ uniform mt19937 m=6",
    "musl rand()%m m=1000",
)  # fmt: skip
SEEDS = (1234, 998_244, 700_001, 65_537)


def main() -> None:
    """Generate every history with one of a few seeds."""
    entries = {entry.name: entry for entry in ENTRIES}
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(KEPT):
            seed = SEEDS[number % len(SEEDS)]
            draws, following = make_draws(entries[name], seed, Path(folder))
            lines.append({"entry": name, "seed": seed, "draws": draws, "next": following})
    RECORDED.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
