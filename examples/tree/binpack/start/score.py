"""Count the bins for fixed lists of items. Protected: an idea may not change it."""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = True

from pack import pack  # noqa: E402


def items(seed, count):
    """Sizes from 20 to 100, from a generator that is the same everywhere."""
    state, found = seed, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        found.append(20 + (state >> 33) % 81)
    return found


train = [pack(items(seed, 150)) for seed in (1, 2, 3, 4)]
held = [pack(items(seed, 150)) for seed in (91, 92)]
result = {
    "score": sum(train),
    "holdout": sum(held),
    "rows": {"ok": len(train), "expected": 4},
    "metrics": {"per_list": train},
}
Path(os.environ["WEFT_RESULT_FILE"]).write_text(json.dumps(result))
