"""Wait until a person has decided: `python -I approval.py DECISION_FILE`.

`weft tree approve` writes the decision atomically. This script needs only the standard library and
polls for the file twice a second.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

POLL_S = 0.5


def main(decision: str) -> int:
    """Return once the decision exists."""
    while not Path(decision).is_file():
        time.sleep(POLL_S)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
