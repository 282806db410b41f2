"""Generate puzzles of general concepts, of our own invention, to see how broad the solver is.

    python tools/make_concept_puzzles.py OUT [--each 2] [--group "move"]

Writes OUT/concept-NNN-M.json, puzzle M of rule NNN, in the format of ARC files, with three training
pairs and one test; and OUT/../OUT.names.json, with the rule and group of each puzzle. All choices
come from hashes of a rule's name and a puzzle's number, so that every machine writes the same
files. The rules are in `tools/concepts`.
"""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path

from concepts.puzzle import CONCEPTS, Concept, Pair, puzzle_of

EACH = 2
MODULES = (
    "extracting", "recolouring", "judging", "drawing", "lines", "moving", "wholes", "parts",
    "counting", "relations", "shifting", "nesting", "reaching", "sites", "measuring", "strips",
)  # fmt: skip


def concepts() -> list[Concept]:
    """Return all rules, in the order of their files."""
    for module in MODULES:
        import_module(f"concepts.{module}")
    return list(CONCEPTS.values())


def to_json(pairs: list[Pair]) -> str:
    """Return a puzzle in the format of ARC files."""
    entries = [{"input": source, "output": target} for source, target in pairs]
    return json.dumps({"train": entries[:-1], "test": entries[-1:]})


def write(out: Path, each: int = EACH, group: str | None = None) -> dict[str, dict[str, str]]:
    """Write the puzzles; return the rule and the group of each by its name."""
    out.mkdir(parents=True, exist_ok=True)
    names = {}
    for place, entry in enumerate(concepts()):
        for number in range(each if group in (None, entry.group) else 0):
            name = f"concept-{place:03}-{number}"
            (out / f"{name}.json").write_text(to_json(puzzle_of(entry, number)))
            names[name] = {"rule": entry.name, "group": entry.group}
    return names


def main() -> None:
    """Write the puzzles of all rules, or of one group."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("out", type=Path)
    parser.add_argument("--each", type=int, default=EACH, help="puzzles of a rule")
    parser.add_argument("--group", help="only the rules of one group")
    args = parser.parse_args()
    names = write(args.out, args.each, args.group)
    index = args.out.with_name(args.out.name + ".names.json")
    index.write_text(json.dumps(names, indent=1) + "\n")
    rules = {entry["rule"] for entry in names.values()}
    print(f"{len(names)} puzzles of {len(rules)} rules in {args.out}")


if __name__ == "__main__":
    main()
