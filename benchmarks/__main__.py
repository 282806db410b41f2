"""Run the benchmarks in this folder, in sorted order.

    python -m benchmarks            all of them
    python -m benchmarks core arc   only those named
    python -m benchmarks arc --workers 16    one of them, with options of its own

A benchmark is a module here that has a function `main`, called without arguments, or with a list
of its options.
It writes its figures as JSON and a Markdown table under docs/benchmarks/.
"""

from __future__ import annotations

import importlib
import sys
from inspect import signature
from pathlib import Path

MAIN = "\ndef main("


def discover() -> list[str]:
    """Return the benchmarks by name; none is imported, as each has needs of its own."""
    modules = sorted(Path(__file__).parent.glob("*.py"))
    known = [module.stem for module in modules if MAIN in module.read_text(encoding="utf-8")]
    known.remove("__main__")
    return known


def main(argv: list[str]) -> int:
    """Run the benchmarks named in `argv`, or all; options go to the only one named."""
    known = discover()
    at = next((i for i, word in enumerate(argv) if word.startswith("-")), len(argv))
    argv, options = argv[:at], argv[at:]
    unknown = [name for name in argv if name not in known]
    if unknown:
        print(f"no benchmark {unknown[0]!r}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    mains = {name: importlib.import_module(f"benchmarks.{name}").main for name in argv or known}
    if options and (len(argv) != 1 or not signature(mains[argv[0]]).parameters):
        print(f"{options[0]}: options belong to one benchmark that takes some", file=sys.stderr)
        return 2
    for name, run in mains.items():
        print(f"== {name}", flush=True)
        run(*([options] if options else []))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
