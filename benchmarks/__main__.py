"""Run the benchmarks in this folder, in sorted order.

    python -m benchmarks            all of them
    python -m benchmarks ledger     only those named

A benchmark is a module here that has a function `main()` without arguments.
It writes its figures as JSON and a Markdown table under docs/benchmarks/.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable

import benchmarks


def discover() -> dict[str, Callable[[], object]]:
    """Import every module of the folder and return the `main` of those that have one."""
    names = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    found: dict[str, Callable[[], object]] = {}
    for name in names:
        if name == "__main__":
            continue
        entry = getattr(importlib.import_module(f"benchmarks.{name}"), "main", None)
        if callable(entry):
            found[name] = entry
    return found


def main(argv: list[str]) -> int:
    """Run the benchmarks named in `argv`, or all."""
    known = discover()
    unknown = [name for name in argv if name not in known]
    if unknown:
        print(
            f"no benchmark {unknown[0]!r}; there are: {', '.join(known) or 'none'}", file=sys.stderr
        )
        return 2
    if not known:
        print("bench: no benchmarks yet")
    for name in argv or list(known):
        print(f"== {name}", flush=True)
        known[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
