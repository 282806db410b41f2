"""`weft pack`: a run can be repeated from its pack alone, and nothing unchecked is claimed."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from tests.cli.conftest import SMALL, Weft, interrupt, tree
from tests.inspect.runs import put_ledger, read_lines
from tests.support.commands import COMMAND, Told
from tests.support.pages import weave
from weft.errors import StorageFailed
from weft.inspect.pack.markdown import to_markdown
from weft.inspect.pack.packing import make_pack
from weft.runs import run as wiring
from weft.runs.execution import SEALED_VIEWS, Execution

TITLES = ("Result", "What was asked", "Commands", "Invariants", "Failures", "How it went",
          "Open ends")  # fmt: skip
SIZED = """

@weft.search(version=1)
def sized(*, inputs):
    results = yield [length(inputs[name]) for name in sorted(inputs)]
    return {name: r.value for name, r in zip(sorted(inputs), results, strict=True)}
"""
NAMED = """

@weft.search(version=1, name="lab.echo")
def echo():
    results = yield [square(3)]
    return results[0].value
"""
INFORMED = ("run", "small.py:informed", "--seed", "7", "--input", "table=table.bin", "--budget",
            "tries=3", "--retries", "1", "--timeout", "30.5", "--strict")  # fmt: skip


def head_of(run: Told) -> tuple[int, str]:
    assert run.code in (0, 1, 4), run
    return run.json["size"], run.json["head"]


def shell(line: str, folder: Path) -> Told:
    """Run a line of the pack as pasted into a shell, with this checkout's `weft` on the path."""
    bin_ = folder / "bin"
    bin_.mkdir(exist_ok=True)
    program = bin_ / "weft"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m weft.main "$@"\n')
    program.chmod(0o755)
    env = {**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}"}
    result = subprocess.run(["sh", "-c", line], cwd=folder, env=env, capture_output=True, text=True)
    return Told(result.returncode, result.stdout, result.stderr)


def invariants(pack: dict[str, Any]) -> dict[str, bool | None]:
    return {invariant["name"]: invariant["holds"] for invariant in pack["invariants"]}


@pytest.fixture(scope="module")
def informed_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Told]:
    """A run with everything that can be requested, and its folder."""
    base = tmp_path_factory.mktemp("pack")
    (base / "small.py").write_text(SMALL)
    (base / "table.bin").write_bytes(bytes(range(200)))
    words = [*COMMAND, *INFORMED, "--out", "run", "--json"]
    result = subprocess.run(words, cwd=base, capture_output=True, text=True)
    return base, Told(result.returncode, result.stdout, result.stderr)


@pytest.fixture
def informed(informed_run: tuple[Path, Told], tmp_path: Path) -> Told:
    """The same in a private copy of the folder."""
    shutil.copytree(informed_run[0], tmp_path, dirs_exist_ok=True)
    return informed_run[1]


def pack_of(run: Path) -> dict[str, Any]:
    return make_pack(run).to_dict()


def test_run_is_repeated_from_its_pack_alone(weft: Weft, informed: Told, tmp_path: Path) -> None:
    assert weft("pack", "run", "--out", "pack").code == 0
    away = tmp_path / "elsewhere"
    shutil.move(tmp_path / "pack", away)
    shutil.rmtree(tmp_path / "run")
    for name in ("small.py", "table.bin"):
        (tmp_path / name).unlink()
    text = (away / "pack.md").read_text("utf-8")
    (line,) = re.findall(r"repeat:\n\n```sh\n(.*?)\n```", text)
    repeated = shell(f"{line} --json", away)
    assert head_of(repeated) == head_of(informed)
    assert f"must end with head `{informed.json['size']} {informed.json['head']}`" in text
    assert json.loads((away / "pack.json").read_text())["commands"]["repeat"] == shlex.split(line)


def test_run_is_repeated_by_the_command_that_is_printed(
    weft: Weft, informed: Told, tmp_path: Path
) -> None:
    words = weft("pack", "run", "--json").json["commands"]["repeat"]
    assert head_of(shell(f"{shlex.join(words)} --json", tmp_path)) == head_of(informed)


def test_run_of_another_command_is_repeated_too(weft: Weft, tmp_path: Path) -> None:
    job = {"job_id": "one", "argv": ["sh", "-c", "echo '{}'"], "gpu": 0, "timeout_s": 60}
    (tmp_path / "jobs.json").write_text(json.dumps([job]))
    first = weft("jobs", "run", "jobs.json", "--out", "run", "--json")
    pack = weft("pack", "run", "--out", "pack", "--json").json
    repeated = shell(f"{shlex.join(pack['commands']['repeat'])} --json", tmp_path / "pack")
    assert head_of(repeated) == head_of(first)
    assert pack["telemetry"]["external_commands"] == 1


def test_run_of_scripts_on_nodes_is_repeated_from_its_pack_alone(
    weft: Weft, tmp_path: Path
) -> None:
    place = tmp_path / "work"
    (place / "deep").mkdir(parents=True)
    (place / "deep" / "train.py").write_text("print('{}')")
    jobs = [{"job_id": "one", "script": "deep/train.py", "gpu": 1, "timeout_s": 60}]
    (place / "jobs.json").write_text(json.dumps(jobs))
    (place / "nodes.json").write_text('{"nodes": [{"hostname": "rig", "gpu_count": 2}]}')
    words = ("jobs", "run", "jobs.json", "--nodes", "nodes.json", "--simulate-nodes", "--json")
    first = weft(*words, "--out", "run", cwd=place)
    assert first.code == 0, first
    assert any("--out DIR" in end for end in pack_of(place / "run")["open_ends"])
    pack = weft("pack", "work/run", "--out", "pack", "--json").json
    assert not any("not in this pack" in end for end in pack["open_ends"])
    shutil.rmtree(place)
    repeated = shell(f"{shlex.join(pack['commands']['repeat'])} --json", tmp_path / "pack")
    assert head_of(repeated) == head_of(first)


def test_run_of_a_search_with_a_declared_name_is_repeated_from_its_pack_alone(
    weft: Weft, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "named.py").write_text(SMALL + NAMED)
    first = weft("run", "named.py:echo", "--out", "run", "--json", cwd=work)
    assert first.json["search"] == "lab.echo"
    beside = weft("pack", "run", "--json", cwd=work).json
    assert head_of(shell(f"{shlex.join(beside['commands']['repeat'])} --json", work)) == head_of(
        first
    )
    pack = weft("pack", "work/run", "--out", "pack", "--json").json
    shutil.rmtree(work)
    repeated = shell(f"{shlex.join(pack['commands']['repeat'])} --json", tmp_path / "pack")
    assert head_of(repeated) == head_of(first)


@pytest.mark.parametrize("script", ["../away.py", "args.json"])
def test_file_that_a_pack_cannot_hold_is_an_open_end(
    weft: Weft, tmp_path: Path, script: str
) -> None:
    place = tmp_path / "work"
    place.mkdir()
    (place / script).write_text("print('{}')")
    argv = ["{python}", f"{{work_dir}}/{script}"]
    job = {"job_id": "one", "argv": argv, "gpu": 0, "timeout_s": 60}
    (place / "jobs.json").write_text(json.dumps([job]))
    assert weft("jobs", "run", "jobs.json", "--out", "run", cwd=place).code == 0
    pack = weft("pack", "work/run", "--out", "pack", "--json").json
    assert f"a command uses {script!r}, which is not in this pack" in pack["open_ends"]
    assert tree(tmp_path / "pack").keys() == {"args.json", "pack.json", "pack.md"}
    assert (tmp_path / "pack" / "args.json").read_text("utf-8").startswith("{")


def test_input_whose_name_has_an_equals_sign_is_repeated_too(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "a=b.bin").write_bytes(b"12345")
    words = ("run", "small.py:sized", "--input", "x=1=a=b.bin", "--json")
    (tmp_path / "small.py").write_text(SMALL + SIZED)
    first = weft(*words, "--out", "run")
    assert first.json["answer"] == {"x=1": 5}
    pack = weft("pack", "run", "--out", "pack", "--json").json
    repeated = shell(f"{shlex.join(pack['commands']['repeat'])} --json", tmp_path / "pack")
    assert head_of(repeated) == head_of(first)


def test_pack_has_the_request_and_the_result(informed: Told, tmp_path: Path) -> None:
    pack = pack_of(tmp_path / "run")
    request = pack["asked"]
    assert (request["seed"], request["budget"], request["retries"]) == (7, {"tries": 3}, 1)
    assert (request["timeout_s"], request["strict"]) == (30.5, True)
    assert pack["result"]["status"] == "answered"
    assert json.loads(pack["result"]["answer"]) == [7, 200, 3]
    assert pack["head"] == {"size": informed.json["size"], "root": informed.json["head"]}
    assert set(pack["sources"]) == {"small"}
    assert invariants(pack) == {
        "ledger verified": True,
        "head known outside the run": True,
        "deterministic": None,
        "fail closed": True,
        "budgets explicit": True,
    }
    assert any("deterministic" in end for end in pack["open_ends"]), "what is not checked is open"


def test_markdown_has_every_part(informed: Told, tmp_path: Path) -> None:
    text = to_markdown(make_pack(tmp_path / "run"))
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == list(TITLES)


def test_replay_settles_that_it_is_deterministic(weft: Weft, informed: Told) -> None:
    assert invariants(weft("pack", "run", "--replay", "--json").json)["deterministic"] is True


def test_failures_are_told_by_class_with_examples(tmp_path: Path) -> None:
    wiring.run(weave.hopeless(), out=tmp_path / "run", workers=1)
    pack = pack_of(tmp_path / "run")
    (failure,) = pack["failures"]
    assert (failure["function"], failure["failure"], failure["count"]) == (
        "weave:fail",
        "exception",
        12,
    )
    assert [e["said"] for e in failure["examples"]] == [f"ValueError: no {x}" for x in range(3)]
    assert failure["examples"][0]["place"] == ":0:0"
    assert invariants(pack)["fail closed"] is True
    assert any("UNKNOWN" in end for end in pack["open_ends"])


def test_interrupted_run_says_how_to_go_on(weft: Weft, tmp_path: Path) -> None:
    interrupt(weft, tmp_path)
    pack = weft("pack", "r", "--json")
    assert pack.code == 0
    assert pack.json["commands"]["resume"] == ["weft", "resume", "r"]
    assert "interrupted: weft resume r" in pack.json["open_ends"]
    assert "replay" not in pack.json["commands"]


def test_damaged_run_is_said_to_be_damaged(weft: Weft, informed: Told, tmp_path: Path) -> None:
    lines = read_lines(tmp_path / "run")
    put_ledger(tmp_path / "run", b"".join(lines).replace(b'"value":200', b'"value":201'))
    pack = weft("pack", "run", "--json")
    assert pack.code == 5
    assert invariants(pack.json)["ledger verified"] is False
    assert invariants(pack.json)["fail closed"] is None, "nothing is vouched for any more"
    assert "damaged" in pack.json["open_ends"][0]


@pytest.mark.parametrize("gone", ["manifest.sqlite", "ledger.jsonl", "checkpoint"])
def test_run_with_a_missing_file_still_gets_a_pack(
    informed: Told, tmp_path: Path, gone: str
) -> None:
    (tmp_path / "run" / gone).unlink()
    assert "# Run run" in to_markdown(make_pack(tmp_path / "run"))


def test_changed_source_is_an_open_end(informed: Told, tmp_path: Path) -> None:
    with (tmp_path / "small.py").open("a") as file:
        file.write("\n# changed\n")
    ends = pack_of(tmp_path / "run")["open_ends"]
    assert any("source of package small" in end for end in ends)


def test_pack_changes_nothing_and_is_the_same_twice(informed: Told, tmp_path: Path) -> None:
    before = tree(tmp_path / "run")
    first, second = make_pack(tmp_path / "run"), make_pack(tmp_path / "run")
    assert to_markdown(first) == to_markdown(second)
    assert tree(tmp_path / "run") == before


@pytest.mark.parametrize("there", [True, False])
def test_pack_on_a_full_disk_leaves_nothing(
    informed: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    real, out = Path.write_text, tmp_path / "packed"
    if there:
        out.mkdir()

    def full(self: Path, *words: str) -> int:
        if self.name == "pack.json":
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, *words)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(StorageFailed, match="packed: No space left on device; free space"):
        make_pack(tmp_path / "run", out)
    assert (list(out.iterdir()) == []) if there else not out.exists()


def test_folder_in_use_is_refused(weft: Weft, informed: Told, tmp_path: Path) -> None:
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "file").touch()
    weft("pack", "run", "--out", "used").check_one_line(3, "used is in use")
    weft("pack", "run", "--out", "run/pack").check_one_line(3, "run/pack is inside the run")
    assert sorted(p.name for p in (tmp_path / "used").iterdir()) == ["file"]
    weft("pack", "nowhere").check_one_line(3, "nowhere")


def test_hostile_texts_stay_text(tmp_path: Path) -> None:
    wiring.run(weave.hostile(), out=tmp_path / "<b>run", workers=1)
    text = to_markdown(make_pack(tmp_path / "<b>run"))
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert not re.search("<(script|img|b)[ >]", html)
    assert "\u202e" not in text


def test_sealed_run_gives_no_examples(tmp_path: Path) -> None:
    wiring.run_search(weave.hopeless(), Execution(tmp_path / "run", tags=(SEALED_VIEWS,)))
    (failure,) = pack_of(tmp_path / "run")["failures"]
    assert (failure["count"], len(failure["examples"])) == (12, 0)
