"""The first minute: two runs, one head, the one that the README promises."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.conftest import Weft
from weft.demo import HEIGHT, WIDTH, paint, target

README = Path(__file__).resolve().parents[2] / "README.md"


def promised() -> list[str]:
    """The lines of the block in the README's section "What you will see"."""
    section = README.read_text("utf-8").split("## What you will see")[1].split("\n## ")[0]
    block = re.search(r"```\n(.*?)```", section, re.DOTALL)
    assert block
    return block[1].splitlines()


def test_demo_prints_what_the_readme_promises(weft: Weft, tmp_path: Path) -> None:
    told = weft("demo", "--out", "d")
    assert told.code == 0, told
    assert told.out.splitlines()[:4] == promised()
    assert "into d" in told.err
    one, two = (tmp_path / "d" / name / "ledger.jsonl" for name in ("one-worker", "two-workers"))
    assert one.read_bytes() == two.read_bytes()
    assert weft("verify", "d/two-workers").code == 0
    weft("demo", "--out", "d").check_one_line(3, "holds an earlier demo", "--out")


def test_demo_json_has_both_runs(weft: Weft, tmp_path: Path) -> None:
    told = weft("demo", "--json", TMPDIR=str(tmp_path))
    assert told.json["equal"] is True
    assert len({run["head"] for run in told.json["runs"]}) == 1
    assert told.json["runs"][0]["head"] in promised()[1]
    assert all(Path(run["out"]).is_relative_to(tmp_path) for run in told.json["runs"])


def test_demo_head_is_that_of_the_search_run_by_name(weft: Weft) -> None:
    told = weft("run", "weft.demo:picture", "--out", "r", "--json")
    assert told.json["head"] in promised()[1]


def test_demo_pictures_are_pixels_of_one_size(weft: Weft) -> None:
    found = weft("run", "weft.demo:picture", "--args", '{"rounds": 2}', "--out", "r", "--json").json
    for picture in (target(), paint(found["answer"]["strips"])):
        assert len(picture) == HEIGHT
        assert all(len(row) == WIDTH for row in picture)
        assert all(0 <= value <= 255 for row in picture for pixel in row for value in pixel)
