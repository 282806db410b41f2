"""docs/tree.md has every field and shows examples/tree; the report's pages show a tree run."""

from __future__ import annotations

import re

import pytest

from tests.searches.tree.conftest import BINPACK, ROOT, SCORE, Wood
from tests.support.shown import block_of
from weft.searches.tree.configfile import TreeFile

PAGE = (ROOT / "docs" / "tree.md").read_text("utf-8")
pytestmark = pytest.mark.xdist_group("tree")


def test_page_shows_the_example_and_has_every_field() -> None:
    assert block_of("docs/tree.md", "toml") in BINPACK.read_text("utf-8")
    for name in TreeFile.model_fields:
        assert f"`{name}`" in PAGE, name


def test_report_has_the_tree_and_diffs_of_refused_evals_too(wood: Wood) -> None:
    wood.plant(score=SCORE + "if body['b'] == 1: print('a <b>bad</b> sign'); sys.exit(3)\n")
    body = "FILE: note\n<<<<<<< SEARCH\n=======\n<script>alert(1)</script>\n>>>>>>> REPLACE\n"
    wood.write("ideas/<script>alert.md", body)
    assert wood.run("run", "--max-depth", "2").code == 0
    assert wood.weft("report", "run").code == 0
    page = (wood.folder / "run" / "report.html").read_text("utf-8")
    promotions = ("Score by depth", "What workers did", "promoted n1", "+  &#34;a&#34;: 5,")
    failures = ("exit code 3", "+  &#34;b&#34;: 1", "a &lt;b&gt;bad&lt;/b&gt; sign")
    plain = re.sub(r"</?span[^>]*>", "", page)  # without the colours of the diffs
    for text in (*promotions, *failures):
        assert text in plain, text
    for mark in ('class="refused"', 'class="added"', 'class="hunk"', "Score over time", "seconds"):
        assert mark in page, mark
    assert "<script>alert" not in page


def test_unfinished_run_has_pages_and_a_summary_too(wood: Wood) -> None:
    wood.plant(score="import time\ntime.sleep(30)\n")
    assert wood.run("run", "--wall-limit", "0.5").code == 130
    assert wood.weft("report", "run").code == 0
    assert "0 of 0 planned evals done" in wood.weft("status", "run").out
