"""The command line: `weft` and `python -m weft`."""

import atexit
import os
import sys
import threading
from typing import NoReturn

from weft.worker.environment import use_one_thread

INTERRUPTED = 130
FLUSH_FAILED = 120
"""The interpreter's own exit code when what was printed could not be written."""


def main() -> None:
    """Load the commands and run the one that was asked for; Ctrl-C may come before that.

    What a search decides is computed here, with as many threads as its tasks have.
    """
    use_one_thread()
    try:
        from weft.main import main as run  # noqa: PLC0415 - some tenths of a second
    except KeyboardInterrupt:
        print("weft: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    try:
        run()
    except SystemExit as leaving:
        if not isinstance(leaving.code, int) or threading.active_count() > 1:
            raise
        _end(leaving.code)


def _end(code: int) -> NoReturn:
    """End the process without taking its modules apart, which takes as long as a short search."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = FLUSH_FAILED
    os._exit(code)


if __name__ == "__main__":
    main()
