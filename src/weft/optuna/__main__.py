"""Copy a run of a study into an Optuna storage: `python -m weft.optuna RUN sqlite:///study.db`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from weft.errors import WeftError
from weft.inspect.report.text import counted
from weft.optuna.export import to_study


def main() -> int:
    """Export the run and print where the study is."""
    parser = argparse.ArgumentParser(prog="python -m weft.optuna", description=__doc__)
    parser.add_argument("run", type=Path, metavar="RUN", help="the folder of a run")
    parser.add_argument("storage", metavar="STORAGE", help="such as sqlite:///study.db")
    parser.add_argument("--name", help="name of the study; default: the name of the run's folder")
    args = parser.parse_args()
    try:
        study = to_study(args.run, storage=args.storage, name=args.name)
    except WeftError as error:
        print(f"weft: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{counted(len(study.trials), 'trial')} of study {study.study_name!r} in {args.storage}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
