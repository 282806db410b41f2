"""The command line: `weft` and `python -m weft`."""

import sys

from weft.worker.environment import use_one_thread

INTERRUPTED = 130


def main() -> None:
    """Run the command line; also handle a Ctrl-C that arrives while it is being imported.

    A search makes its decisions in this process, so it uses as many threads as the tasks do.
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
