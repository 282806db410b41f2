"""The command line: `weft` and `python -m weft`."""

import sys

from weft.worker.environment import use_one_thread

INTERRUPTED = 130


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
    run()


if __name__ == "__main__":
    main()
