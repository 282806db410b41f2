"""The command line: `weft` and `python -m weft`."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Load the commands and run the one that was asked for; Ctrl-C may come before that."""
    try:
        from weft.main import main as run  # noqa: PLC0415 - some tenths of a second
    except KeyboardInterrupt:
        print("weft: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
