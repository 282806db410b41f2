"""No block of more than ten lines occurs twice in the command line, console and searches."""

from __future__ import annotations

from pathlib import Path

from tests.support.copies import LIMIT, find_copies

SRC = Path(__file__).resolve().parent.parent / "src" / "weft"
FOLDERS = ("cli", "console", "searches", "arc", "jobs", "prng", "tree")
"""Folders that may have a search's code and its commands; those that exist are checked."""
BLOCK = [f"value_{n} = compute({n})" for n in range(LIMIT + 1)]


def sources() -> dict[str, str]:
    paths = [path for name in FOLDERS for path in (SRC / name).rglob("*.py")]
    return {str(path.relative_to(SRC)): path.read_text("utf-8") for path in paths}


def function(name: str, lines: list[str], docstring: str = "") -> str:
    body = ([f'"""{docstring}"""'] if docstring else []) + lines
    return f"def {name}():\n" + "".join(f"    {line}\n" for line in body)


def copies_in(*texts: str) -> list[str]:
    return [str(copy) for copy in find_copies({f"{n}.py": t for n, t in enumerate(texts)})]


def test_nothing_is_copied_in_commands_and_searches() -> None:
    checked = sources()
    assert len(checked) > 50, "the folders were renamed, the check would be empty"
    assert [str(copy) for copy in find_copies(checked)] == []


def test_copied_block_between_files_is_found_with_its_places() -> None:
    first, second = (
        function("f", ["first()", *BLOCK]),
        "x = 1\n\n" + function("g", [*BLOCK, "last()"]),
    )
    assert copies_in(first, second) == ["0.py:3 = 1.py:4 (11 lines)"]


def test_copied_block_within_a_file_is_found_once() -> None:
    assert copies_in(function("f", BLOCK) + "x = 1\n" + function("g", BLOCK)) == [
        "0.py:2 = 0.py:15 (11 lines)"
    ]


def test_longer_copy_is_one_finding() -> None:
    block = [*BLOCK, "more()", "and_more()"]
    assert copies_in(function("f", block), function("g", block)) == ["0.py:2 = 1.py:2 (13 lines)"]


def test_block_copied_twice_is_found_in_all_pairs() -> None:
    texts = [function(name, BLOCK) for name in "fgh"]
    assert len(copies_in(*texts)) == 3


def test_copy_with_other_spacing_comments_and_docstring_is_found() -> None:
    changed = [line for text in BLOCK for line in ("", f"{text.replace(' ', '  ')}  # why", "# x")]
    texts = function("f", BLOCK), function("g", ["if x:", *(f"    {c}" for c in changed)], "Doc.")
    assert copies_in(*texts) == ["0.py:2 = 1.py:5 (11 lines)"]


def test_ten_equal_lines_are_allowed() -> None:
    assert copies_in(function("f", BLOCK[:-1]), function("g", BLOCK[:-1])) == []


def test_equal_imports_and_docstrings_are_allowed() -> None:
    imports = "".join(f"import module_{n}\n" for n in range(20))
    names = "from x import (\n" + "".join(f"    name_{n},\n" for n in range(20)) + ")\n"
    docstring = '"""Doc.\n' + "line\n" * 20 + '"""\n'
    text = docstring + imports + names
    assert copies_in(text, text) == []


def test_lines_that_repeat_one_after_the_other_are_no_copy() -> None:
    assert copies_in("call(1)\n" * 15) == []
