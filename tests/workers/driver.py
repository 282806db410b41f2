"""A coordinator in a process of its own: `python driver.py MODULE:SEARCH ARGS HOW`, all JSON.

Prints the outcome as JSON; an error is one line on stderr and the exit code of its kind.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
FOLDERS = (HERE / "searches", HERE.parents[1] / "examples" / "engine")


def main() -> int:
    name, args, how = sys.argv[1:]
    sys.path[:0] = map(str, FOLDERS)
    module, _, search = name.partition(":")

    import weft

    try:
        made = getattr(importlib.import_module(module), search)(**json.loads(args))
        run = weft.run(made, **json.loads(how))
    except weft.WeftError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return error.exit_code
    print(json.dumps(run.to_dict()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
