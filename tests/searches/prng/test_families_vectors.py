"""Weft's streams are those of the real runtimes, recorded in the vectors beside this file.

Each line of `vectors/*.jsonl` is one stream: its first outputs, and some after 1,000 calls. The
program that printed a file is beside it; `make chaos` runs it again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from weft.searches.prng.families import FAMILIES
from weft.searches.prng.generate import draws
from weft.searches.prng.hypothesis import Hypothesis

VECTORS = Path(__file__).parent / "vectors"
FILES = sorted(VECTORS.glob("*.jsonl"))
LATER = 1000
MAKERS: dict[str, list[str]] = {
    "cpython": [sys.executable, "{source}.py"],
    "cxx": ["c++", "-O1", "-o", "{made}", "{source}.cpp"],
    "dotnet": ["mcs", "-out:{made}", "{source}.cs"],
    "glibc": ["cc", "-O1", "-o", "{made}", "{source}.c"],
    "gjs": [sys.executable, "{source}.py"],
    "glibc_kinds": ["cc", "-O1", "-o", "{made}", "{source}.c"],
    "go": ["go", "run", "{source}.go"],
    "java": ["java", "{source}.java"],
    "jdk": [
        "java",
        "--add-modules=jdk.random",
        "--add-exports=jdk.random/jdk.random=ALL-UNNAMED",
        "{source}.java",
    ],
    "jsc": ["bash", "{source}.sh"],
    "libcxx": ["clang++", "-stdlib=libc++", "-O1", "-o", "{made}", "{source}.cpp"],
    "mt64": ["c++", "-O1", "-o", "{made}", "{source}.cpp"],
    "mt64_libcxx": ["clang++", "-stdlib=libc++", "-O1", "-o", "{made}", "{source}.cpp"],
    "postgres": ["bash", "{source}.sh"],
    "lua53": ["lua5.3", "{source}.lua"],
    "lua": ["lua5.4", "{source}.lua"],
    "musl": ["musl-gcc", "-O1", "-o", "{made}", "{source}.c"],
    "node": ["node", "{source}.js"],
    "numpy": [sys.executable, "{source}.py"],
    "php": ["php", "{source}.php"],
    "rows_c": ["cc", "-O1", "-o", "{made}", "{source}.c"],
    "rows_cxx": ["c++", "-O1", "-o", "{made}", "{source}.cpp"],
    "rows_dotnet": ["mcs", "-out:{made}", "{source}.cs"],
    "rows_go": ["go", "run", "{source}.go"],
    "rows_java": ["java", "{source}.java"],
    "rows_libcxx": ["clang++", "-stdlib=libc++", "-O1", "-o", "{made}", "{source}.cpp"],
    "rows_php": ["php", "{source}.php"],
    "rows_python": [sys.executable, "{source}.py"],
    "rows_ruby": ["ruby", "{source}.rb"],
    "ruby": ["ruby", "{source}.rb"],
    "reference": ["cc", "-O1", "-o", "{made}", "{source}.c"],
}
"""The command that runs the program of each file or, where it contains `{made}`, builds it."""


def cases(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def wrong(case: dict[str, Any]) -> str:
    """Describe how our stream differs from a vector; empty if it does not."""
    state = case.get("state")
    about = Hypothesis(
        case["family"],
        case["output"],
        case["modulus"],
        case.get("seed"),
        state,
        start=case.get("start", 0),
    )
    later = case.get("later", [])
    ours = list(islice(draws(about), LATER + len(later) if later else len(case["first"])))
    ours = [value >> case.get("shift", 0) for value in ours]
    if ours[: len(case["first"])] == case["first"] and ours[LATER:] == later:
        return ""
    return f"{about}: {ours[:6]}, not {case['first']}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_stream_of_a_vector_is_reproduced(path: Path) -> None:
    vectors = cases(path.read_text(encoding="utf-8"))
    assert vectors
    assert [complaint for complaint in map(wrong, vectors) if complaint] == []


def test_vector_changed_by_one_is_noticed() -> None:
    case = cases((VECTORS / "java.jsonl").read_text(encoding="utf-8"))[0]
    assert wrong({**case, "later": [case["later"][0] ^ 1, *case["later"][1:]]})
    assert wrong({**case, "first": [case["first"][0] ^ 1, *case["first"][1:]]})


def test_vectors_know_every_family() -> None:
    lines = [case for path in FILES for case in cases(path.read_text(encoding="utf-8"))]
    assert {family.name for family in FAMILIES} - {case["family"] for case in lines} == set()


def test_vectors_have_a_program_or_a_source() -> None:
    for path in FILES:
        if path.stem == "published":
            assert all(case["source"] for case in cases(path.read_text(encoding="utf-8")))
        else:
            assert len(list(VECTORS.glob(f"make_{path.stem}.*"))) == 1, path.stem
            assert path.stem in MAKERS


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MAKERS))
def test_program_of_the_vectors_run_again_gives_our_streams(
    name: str, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    require_tool(MAKERS[name][0])
    binary = tmp_path / "made"
    words = [word.format(source=VECTORS / f"make_{name}", made=binary) for word in MAKERS[name]]
    result = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    if binary.exists():
        run = ["mono", str(binary)] if name.endswith("dotnet") else [str(binary)]
        result = subprocess.run(run, capture_output=True, text=True, check=True)
    rerun = cases(result.stdout)
    recorded = cases((VECTORS / f"{name}.jsonl").read_text(encoding="utf-8"))
    assert len(rerun) == len(recorded)
    assert [complaint for complaint in map(wrong, rerun) if complaint] == []
