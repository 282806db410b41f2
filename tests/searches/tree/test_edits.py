"""Edits in a model's answer: what is found, where it is applied, what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from weft.searches.tree.agents import prompts
from weft.searches.tree.agents.edits import MAX_BYTES, EditsInvalid, apply, parse
from weft.searches.tree.agents.prompts import AnswerInvalid, fill, ideas_in, verdict_in

BEFORE = "def f():\n    x = 1\n    return x\n\n\ndef g():\n    x = 1\n    return x\n"
BLOCK = """Sure! Here it is:

{name}
```python
<<<<<<< SEARCH
def f():
    x = 1
=======
def f():
    x = 2
>>>>>>> REPLACE
```
"""
DIFF = """```diff
--- a/m.py\t2026-01-01
+++ b/m.py
@@ -99,3 +99,3 @@ def g():
 def g():
-    x = 1
+    x = 3
     return x

--- /dev/null
+++ b/sub/new.py
@@ -0,0 +1,2 @@
+a = 1
+b = 2
--- a/old.py
+++ /dev/null
@@ -1 +0,0 @@
-gone
```
"""


def changed(tmp_path: Path, answer: str) -> dict[str, str]:
    (tmp_path / "m.py").write_text(BEFORE)
    (tmp_path / "old.py").write_text("gone\n")
    apply(parse(answer), tmp_path)
    return {
        p.relative_to(tmp_path).as_posix(): p.read_text() for p in sorted(tmp_path.rglob("*.py"))
    }


@pytest.mark.parametrize("name", ["FILE: m.py", "**`m.py`**", "### m.py:", "file: `m.py`"])
def test_block_is_found_however_its_file_is_named(tmp_path: Path, name: str) -> None:
    after = changed(tmp_path, BLOCK.format(name=name))
    assert after["m.py"] == BEFORE.replace("x = 1", "x = 2", 1)


def test_hunks_are_applied_where_their_lines_are_and_files_come_and_go(tmp_path: Path) -> None:
    after = changed(tmp_path, DIFF)
    head, tail = BEFORE.split("def g")
    assert after["m.py"] == head + "def g" + tail.replace("x = 1", "x = 3")
    assert after["sub/new.py"] == "a = 1\nb = 2\n"
    assert "old.py" not in after


def test_hunk_that_fits_twice_goes_to_the_nearest_line(tmp_path: Path) -> None:
    diff = "--- a/m.py\n+++ b/m.py\n@@ -6,2 +6,2 @@\n-    x = 1\n+    x = 9\n     return x\n"
    assert changed(tmp_path, diff)["m.py"].endswith("def g():\n    x = 9\n    return x\n")


def test_windows_line_ends_and_trailing_blanks_are_kept(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_bytes(b"one  \r\ntwo\r\n")
    apply(parse("FILE: w.txt\n<<<<<<< SEARCH\none\n=======\n1\n>>>>>>> REPLACE\n"), tmp_path)
    assert (tmp_path / "w.txt").read_bytes() == b"1\r\ntwo\r\n"


ALONE = ("no edit", "names no file")
"""Reasons that cannot occur after a valid edit."""


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("I cannot do that.", "no edit was found"),
        (BLOCK.format(name="FILE: none.py"), "no such file"),
        (BLOCK.format(name="FILE: ../m.py"), "outside the repository"),
        (BLOCK.format(name="FILE: .git/config"), "outside the repository"),
        (BLOCK.format(name="some words without a path"), "names no file"),
        (
            BLOCK.format(name="FILE: m.py").replace("def f():\n    x = 1\n", "    x = 1\n"),
            "2 times",
        ),
        (BLOCK.format(name="FILE: m.py").replace("x = 1", "x = 7"), "are not there"),
        (BLOCK.format(name="FILE: m.py").split("=======")[0], "cut off"),
    ],
)
def test_edits_that_cannot_be_applied_change_nothing(
    tmp_path: Path, answer: str, reason: str
) -> None:
    good = "FILE: m.py\n<<<<<<< SEARCH\ndef g():\n=======\ndef h():\n>>>>>>> REPLACE\n"
    with pytest.raises(EditsInvalid, match=reason):
        changed(tmp_path, answer if reason.startswith(ALONE) else good + answer)
    assert (tmp_path / "m.py").read_text() == BEFORE


def test_link_out_of_the_repository_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "target.py").write_text(BEFORE)
    (tmp_path / "repo" / "m.py").symlink_to(tmp_path / "target.py")
    with pytest.raises(EditsInvalid, match="outside"):
        apply(parse(BLOCK.format(name="FILE: m.py")), tmp_path / "repo")


def test_file_too_large_to_read_whole_is_refused_and_kept(tmp_path: Path) -> None:
    text = BEFORE + "x = 0\n" * (MAX_BYTES // 6)
    (tmp_path / "m.py").write_text(text)
    shorter = "FILE: m.py\n<<<<<<< SEARCH\ndef f():\n    x = 1\n=======\n>>>>>>> REPLACE\n"
    with pytest.raises(EditsInvalid, match=r"m\.py: it has more than 2,097,152 characters"):
        apply(parse(shorter), tmp_path)
    assert (tmp_path / "m.py").read_text() == text


def test_prompts_name_no_class_of_the_code() -> None:
    texts = [text for text in vars(prompts).values() if isinstance(text, str) and "{" in text]
    assert len(texts) > 3
    for text in texts:
        assert not re.search(r"[a-z][A-Z]", text), text


def test_ideas_and_verdicts_are_found_among_words() -> None:
    text = "Here:\n\n### IDEA: Use *two* heaps!\nBecause.\n\n## Idea 2. Sort first\nFast.\n"
    ideas = ideas_in(text)
    assert list(ideas) == ["01-use-two-heaps.md", "02-sort-first.md"]
    assert ideas["02-sort-first.md"] == "# Sort first\n\nFast.\n"
    verdict = verdict_in('Hm {"x": 1}\n```json\n{"approved": false, "feedback": "slow"}\n```')
    assert (verdict.approved, verdict.feedback) == (False, "slow")
    for parse_answer in (ideas_in, verdict_in):
        with pytest.raises(AnswerInvalid):
            parse_answer("I would rather not.")
    assert fill("{a} {{b}} {c}", {"a": "{c}"}) == "{c} {b} {c}"
