"""What counts as a result: the reader of the last JSON line against a slow plain twin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from weft.jobs import jsoncheck, results
from weft.jobs.jsoncheck import Malformed, check_json
from weft.jobs.results import free_name, last_json_line

MALFORMED = "malformed"


def is_json(text: str) -> bool:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return False
    return True


def twin(text: str, scalars: bool) -> str | None:
    """The rule, written down plainly."""
    for line in reversed(text.split("\n")):
        bare = line.strip(" \t\r")
        meant = bare.startswith(("{", "[{", '["'))
        if meant or bare.startswith("["):
            if is_json(bare):
                return bare
            if meant:
                return MALFORMED
        elif scalars and is_json(bare):
            return bare
    return None


def read(path: Path, scalars: bool) -> str | None:
    try:
        part = last_json_line(path, scalars=scalars)
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
        patch.setattr(results, "PIECE_BYTES", piece)
        patch.setattr(jsoncheck, "PIECE_BYTES", piece)
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
        ("{}\n{'python': 'dict'}\n", False, MALFORMED),
        ("{}\n[[1 2]\n [3 4]]\n", False, "{}"),
        ("", False, None),
        ("\n\n", True, None),
    ],
)
def test_last_json_line_cases(file: Path, text: str, scalars: bool, found: str | None) -> None:
    file.write_text(text, "utf-8", newline="")
    assert read(file, scalars) == found


def test_missing_stdout_has_no_line(tmp_path: Path) -> None:
    assert last_json_line(tmp_path / "none") is None


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
