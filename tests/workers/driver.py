"""A coordinator in a separate process: `python driver.py MODULE:SEARCH ARGS HOW`, all JSON.

Prints the outcome as JSON; an error is one line on stderr and the exit code of its kind.
With WEFT_TRIAL_WALL_LIMITS the coordinator uses the wall clock for its limits: a planted bug.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
FOLDERS = (HERE / "searches", HERE.parents[1] / "examples" / "engine")


def main() -> int:
    name, args, how = sys.argv[1:]
    sys.path[:0] = map(str, FOLDERS)
    module, _, search = name.partition(":")

    import weft
    from weft.runs import world

    if os.environ.get("WEFT_TRIAL_WALL_LIMITS"):
        world.RealClock.monotonic = world.RealClock.wall
    try:
        search_call = getattr(importlib.import_module(module), search)(**json.loads(args))
        run = weft.run(search_call, **json.loads(how))
    except (weft.WeftError, weft.Interrupted) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return error.exit_code
    print(json.dumps(run.to_dict()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
