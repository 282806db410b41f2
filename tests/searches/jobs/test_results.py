"""What counts as a result: the reader of the last JSON line, compared with a slow plain twin."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from weft.searches.jobs import jsonresult
from weft.searches.jobs.jsonresult import Malformed, check_json, last_json
from weft.searches.jobs.results import free_name

MALFORMED = "malformed"


def is_json(text: str) -> bool:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return False
    return True


def bare(line: str) -> str:
    return line.removeprefix("\ufeff").strip(" \t\r")


def twin(text: str, scalars: bool) -> str | None:
    """A plain implementation of the rule."""
    lines = text.split("\n")
    for number in range(len(lines) - 1, -1, -1):
        last = bare(lines[number])
        candidates = [last] if last[:1] in ("{", "[") or (scalars and last) else []
        if last[-1:] in ("}", "]") and (first := opening_line(lines, number)) < number:
            start = bare(lines[first])
            joined = [start + lines[first][lines[first].rindex(start) + len(start) :]]
            joined += [*lines[first + 1 : number], lines[number].rstrip(" \t\r")]
            candidates.insert(0, "\n".join(joined))
        for document in candidates:
            if is_json(document):
                return document
            if document.startswith(("{", "[{", '["')) or bare(document.split("\n")[0]) == "[":
                return MALFORMED
    return None


def opening_line(lines: list[str], last: int) -> int:
    """The line that begins with the bracket that the last line closes; `last` if there is none."""
    depth = 0
    for number in range(last, -1, -1):
        line = re.sub(r'"([^"\\]|\\.)*"', "", bare(lines[number]))
        words = re.sub(r"[-+]?[0-9][0-9.eE+-]*", " ", line)
        words = re.sub(r"true|false|null|-?NaN|-?Infinity|True|False|None", " ", words)
        if re.sub(r"[\[\]{}:,\s]", "", words):
            return last
        depth += sum(line.count(c) for c in "}]") - sum(line.count(c) for c in "{[")
        if depth <= 0:
            return number if line[:1] in ("{", "[") else last
    return last


def read(path: Path, scalars: bool) -> str | None:
    try:
        part = last_json(path, scalars=scalars)
    except Malformed:
        return MALFORMED
    return None if part is None else path.read_bytes()[part.start : part.end].decode()


PIECES = [
    "{",
    "}",
    "[",
    "]",
    '"a"',
    ":",
    ",",
    "1",
    "-2.5",
    " ",
    "\t",
    "\r",
    "true",
    "nul",
    "x",
    "é",
]
LINES = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab\\"é', max_size=3),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab"), inner),
        max_leaves=4,
    ).map(json.dumps),
    st.sampled_from(
        ["[INFO] starting", "loss = 3", '{"cut": [1, 2', '["cut', "[1, 2", "[[1 2]", ""]
    ),
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stdout") / "1.out"


@given(
    lines=st.lists(LINES, max_size=6), scalars=st.booleans(), piece=st.sampled_from([1, 3, 9999])
)
@example(lines=["", ""], scalars=True, piece=1)
@example(lines=["{}", '{"cut'], scalars=False, piece=1)
@example(lines=["{}", "[INFO] done"], scalars=False, piece=3)
def test_last_json_line_is_what_the_plain_rule_says(
    file: Path, lines: list[str], scalars: bool, piece: int
) -> None:
    text = "\n".join(lines)
    file.write_text(text, "utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonresult, "PIECE_BYTES", piece)
        assert read(file, scalars) == twin(text, scalars)


@pytest.mark.parametrize(
    ("text", "scalars", "found"),
    [
        ('{"a": 1}\n', False, '{"a": 1}'),
        ('{"a": 1}\ndone\n', False, '{"a": 1}'),
        ('{"a": 1}\n{"b": 2}\n\n', False, '{"b": 2}'),
        ("[]", False, "[]"),
        ("  [1]  \r\n", False, "[1]"),
        ("7\n", False, None),
        ("7\n", True, "7"),
        ('"text"\nmore\n', True, '"text"'),
        ("{}\n[INFO] saved\n[2026-01-01] end\n", False, "{}"),
        ('{"a": 1}\n{"b": 2, "c', False, MALFORMED),
        ('{"a": 1}\n[{"b": 2}, {"c', False, MALFORMED),
        ("{\n  1\n}\n", False, MALFORMED),
        ('{\n  "a": NaN\n}\n', False, MALFORMED),
        ('{\n  "a": 1,\n  "b": [\n    1,\n', False, MALFORMED),
        ("[]\n[\n  1,\n", False, MALFORMED),
        ("{}\n[\n  1,\n  x\n]\n", False, MALFORMED),
        ("[1,\n 2]\nnoise]\n", False, "[1,\n 2]"),
        ('{"old": 1}\n[\n  {\n    "a": 1\n  }\n]\nsaved\n', False, '[\n  {\n    "a": 1\n  }\n]'),
        ('log {\n{\n"a": "}\\""\n}\n', False, '{\n"a": "}\\""\n}'),
        ('\ufeff{"a": 1}\n', False, '{"a": 1}'),
        ('\ufeff{\r\n  "a": 1\r\n}\r\n', False, '{\r\n  "a": 1\r\n}'),
        ("\ufeff7\n", True, "7"),
        ("{}\n{'python': 'dict'}\n", False, MALFORMED),
        ("{}\n[[1 2]\n [3 4]]\n", False, "{}"),
        ("", False, None),
        ("\n\n", True, None),
    ],
)
def test_last_json_line_cases(file: Path, text: str, scalars: bool, found: str | None) -> None:
    file.write_text(text, "utf-8", newline="")
    assert read(file, scalars) == found


@given(
    value=st.recursive(
        st.none() | st.integers(-9, 9) | st.text('a{}[]\\",: é', max_size=4),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner),
        max_leaves=8,
    ).map(lambda value: value if isinstance(value, list | dict) else [value]),
    indent=st.sampled_from([0, 1, 2, 4, "\t"]),
    newline=st.sampled_from(["\n", "\r\n"]),
    before=st.lists(st.sampled_from(["[INFO] x", '{"step": 1}', "loss = 3", "}", "[1, 2"])),
    after=st.lists(st.sampled_from(["done", "[INFO] saved", "", "took 3 s]", "x}"])),
    bom=st.booleans(),
    piece=st.sampled_from([1, 5, 9999]),
)
def test_pretty_printed_document_is_found_whole(
    file: Path, value: Any, indent: int | str, newline: str, before: list[str], after: list[str],
    bom: bool, piece: int,
) -> None:  # fmt: skip
    document = json.dumps(value, indent=indent).replace("\n", newline)
    text = newline.join([*before, "\ufeff" * bom + document, *after])
    file.write_text(text, "utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonresult, "PIECE_BYTES", piece)
        assert read(file, False) == document


def test_hostile_line_takes_no_more_than_linear_time(file: Path) -> None:
    """Text that splits into numbers in many ways but is not JSON does not cause backtracking."""
    file.write_text("{}\n" + "1-" * 500_000 + "x]\n", "utf-8")
    assert read(file, False) == "{}"


def test_missing_stdout_has_no_line(tmp_path: Path) -> None:
    assert last_json(tmp_path / "none") is None


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "premature EOF (line 1, column 1)"),
        (b'{"a": 1', "premature EOF (line 1, column 8)"),
        (b"[1,\n 2,\n  x]", "invalid char in json text. (line 3, column 3)"),
        (b"{} {}", "trailing garbage (line 1, column 4)"),
        (b'["\xff"]', "invalid bytes in UTF8 string. (line 1, column 3)"),
        (b"[" + b"9" * 5000 + b"]", "a number beyond reason"),
        (b"[1e9999999999999999999999]", "a number beyond reason"),
        (b"[NaN]", "invalid char"),
        (b"[" * 100_000, "premature EOF (line 1, column 100001)"),
    ],
)
def test_what_is_not_json_is_named_with_its_place(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 7 + data + b"x" * 7)
    with pytest.raises(Malformed) as caught:
        check_json(path, 7, 7 + len(data), "it")
    assert str(caught.value).startswith("it is not JSON: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_place_is_exact_far_beyond_the_first_piece(tmp_path: Path) -> None:
    path = tmp_path / "file"
    good = b"[" + b"12345678,\n" * 50_000
    path.write_bytes(good + b"oops]")
    with pytest.raises(Malformed, match=r"line 50001, column 1\)"):
        check_json(path, 0, path.stat().st_size, "it")


def test_deep_json_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"[" * 50_000 + b"]" * 50_000)
    check_json(path, 0, 100_000, "it")


def test_free_name_skips_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    assert free_name(path).name == "out.json.before-1"
    (tmp_path / "out.json.before-1").touch()
    (tmp_path / "out.json.before-2").symlink_to("nowhere")
    assert free_name(path).name == "out.json.before-3"
