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
import pkgutil
import sys
from collections.abc import Callable
from inspect import signature

import benchmarks


def discover() -> dict[str, Callable[..., object]]:
    """Import every module of the folder and return the `main` of those that have one."""
    names = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    found: dict[str, Callable[..., object]] = {}
    for name in names:
        if name == "__main__":
            continue
        entry = getattr(importlib.import_module(f"benchmarks.{name}"), "main", None)
        if callable(entry):
            found[name] = entry
    return found


def main(argv: list[str]) -> int:
    """Run the benchmarks named in `argv`, or all; options go to the only one named."""
    known = discover()
    at = next((i for i, word in enumerate(argv) if word.startswith("-")), len(argv))
    argv, options = argv[:at], argv[at:]
    unknown = [name for name in argv if name not in known]
    if unknown:
        print(
            f"no benchmark {unknown[0]!r}; there are: {', '.join(known) or 'none'}", file=sys.stderr
        )
        return 2
    if options and (len(argv) != 1 or not signature(known[argv[0]]).parameters):
        print(f"{options[0]}: options belong to one benchmark that takes some", file=sys.stderr)
        return 2
    if not known:
        print("bench: no benchmarks yet")
    for name in argv or list(known):
        print(f"== {name}", flush=True)
        known[name](*([options] if options else []))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
