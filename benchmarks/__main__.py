"""Run the benchmarks in this folder, in sorted order.

    python -m benchmarks            all of them
    python -m benchmarks core arc   only those named
    python -m benchmarks arc --workers 16    one of them, with its own options

A benchmark is a module of this package with a function `main`, which is called without arguments
or with a list of options. It writes its figures as JSON and as a Markdown table to
docs/benchmarks/.
"""

from __future__ import annotations

import importlib
import sys
from inspect import signature
from pathlib import Path

MAIN = "\ndef main("


def discover() -> list[str]:
    """Return the names of the benchmarks, without importing them: their dependencies differ."""
    modules = sorted(Path(__file__).parent.glob("*.py"))
    known = [module.stem for module in modules if MAIN in module.read_text(encoding="utf-8")]
    known.remove("__main__")
    return known


def main(argv: list[str]) -> int:
    """Run the benchmarks named in `argv`, or all; options are passed on if one is named."""
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
