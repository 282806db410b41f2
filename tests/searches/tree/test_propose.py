"""Ideas created during a run: by a command that receives what was tried, and by mutation."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.searches.tree.conftest import CONFIG, Wood
from tests.searches.tree.test_kills import done_rows, left_over
from weft.inspect.report.view import RunView
from weft.searches.tree.load import stage_args_of
from weft.searches.tree.memory import parse
from weft.searches.tree.search import NAME

pytestmark = pytest.mark.xdist_group("tree-propose")
OWN = CONFIG.replace('ideas = "ideas"\n', "").replace("max_depth = 1", "max_depth = 2")
PROPOSING = """
memory = "replay"
beam_width = 2
[propose]
argv = ["{python}", "-I", "{work_dir}/propose.py"]
"""
PROPOSE = """
import json, os, pathlib
place = lambda name: pathlib.Path(os.environ["WEFT_" + name])
context = json.loads(place("CONTEXT_FILE").read_text())
said = [json.loads(line)["text"] for line in place("TRANSCRIPT_FILE").read_text().splitlines()]
values = json.load(open("params.json"))
for key, steps in (("a", (-1, len(said) + 1)), ("b", (len(said) + 1,))):
    for step in steps:
        idea = {"file": "params.json", "values": {key: values[key] + step}}
        (place("IDEAS_DIR") / f"{key}{step}.json").write_text(json.dumps(idea))
copy = {"file": "params.json", "values": {"a": values["a"] - 1}}
(place("IDEAS_DIR") / "z-copy.json").write_text(json.dumps(copy))
(place("IDEAS_DIR") / "empty.md").write_text(" ")
(place("IDEAS_DIR") / "words.md").write_text("Think.")
turn = {"role": "assistant", "text": f"{context['node']} after {len(context['tried'])}: {said}"}
place("TURNS_FILE").write_text(json.dumps(turn))
assert place("CONTEXT_TEXT").read_text().startswith("# Ideas for " + context["node"])
"""


def plant(wood: Wood, config: str = PROPOSING, propose: str = PROPOSE) -> None:
    top, _, rest = config.partition("[")
    wood.plant(OWN.replace("[score]", f"{top}[score]") + "[" + rest)
    wood.write("propose.py", propose)


def words(out: str) -> list[str]:
    return ["tree", "run", "tree.toml", "--out", out, "-q"]


def test_one_ledger_for_any_number_at_a_time_and_killed_and_resumed_with_ideas_and_memory(
    wood: Wood, parallelism: tuple[int, ...]
) -> None:
    plant(wood)
    serial = wood.run("serial", "--parallel-backend", "serial")
    assert serial.code == 0, serial
    for count in parallelism:
        assert wood.run(f"r{count}", "--max-parallel-evals", str(count)).code == 0
    killed = next(
        name for name in ("k0", "k1", "k2", "k3") if killed_after_the_proposal(wood, name)
    )
    outs = ("serial", *(f"r{count}" for count in parallelism), killed)
    assert len({wood.ledger(out) for out in outs}) == 1
    assert len({wood.summary(out) for out in outs}) == 1


def killed_after_the_proposal(wood: Wood, name: str) -> bool:
    """Kill a run once the root has its ideas, and continue it; the command must not run again.

    Returns False if the run ended before it could be killed.
    """
    out = wood.folder / name
    with wood.begin(*words(name)) as process:
        while len(done_rows(out)) < 3:
            if process.poll() is not None:
                return False
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    before = done_rows(out)
    assert wood.run(name).code == 0
    after = done_rows(out)
    assert {key: after[key] for key in before} == before
    assert left_over(out) == []
    return process.returncode == -signal.SIGKILL


def test_command_is_told_the_way_what_was_tried_and_its_own_transcript(wood: Wood) -> None:
    plant(wood)
    assert wood.run("r").code == 0
    history, view = wood.load("r").history, RunView(wood.folder / "r", NAME)
    transcripts = [
        [t.text for ref in n.turns for t in parse(view.read(ref))] for n in history.nodes
    ]
    root = "n0 after 0: []"
    assert transcripts[:3] == [
        [root],
        [root, f"n1 after 3: {[root]}"],
        [root, f"n2 after 3: {[root]}"],
    ]
    names = [e.idea.name for e in history.evals]
    assert names[:3] == ["n0.1/a-1.json", "n0.1/a1.json", "n0.1/b1.json"]
    assert "n1.2/b2.json" in names, "the step follows from the transcript"
    skips = {(s.node_id, s.idea): s.reason for s in history.skips}
    assert skips[0, "n0.1/z-copy.json"] == "same text as another idea on this node"
    assert skips[0, "n0.1/empty.md"] == "is empty"
    assert skips[0, "n0.1/words.md"] == "is text, and no command implements it"
    assert "| n0 | 1 | n0.1/empty.md | is empty |" in wood.summary("r")
    [first, second, _] = [
        stage_args_of(t) for t in view.tasks() if stage_args_of(t)["stage"] == "propose"
    ]
    assert first["context"]["tried"] == []
    tried = {e["idea"]: e for e in second["context"]["tried"]}
    assert tried["n0.1/a-1.json"]["verdict"] == "regressed"
    assert "score 2 against 12" in tried["n0.1/a-1.json"]["why"]


def test_without_memory_there_is_no_transcript(wood: Wood) -> None:
    check = 'import os, sys\nsys.exit("WEFT_TRANSCRIPT_FILE" in os.environ)\n'
    plant(wood, PROPOSING.replace('"replay"', '"off"'), check)
    result = wood.run("r")
    assert result.code == 4
    assert wood.load("r").history.skips == []
    assert "stopped no-ideas: no idea is left to try" in result.out
    transcript = wood.weft("tree", "transcript", "r", "n0")
    assert (transcript.code, transcript.out) == (0, "")
    assert "no message was exchanged with a proposer on the path to n0" in transcript.err


FAILING = {
    "exits": ("import sys; sys.exit(3)", "propose-failed"),
    "talks": (
        "import os; open(os.environ['WEFT_TURNS_FILE'], 'w').write('words')", "propose-failed",
    ),
    "waits": ("import time; time.sleep(99)", "timeout"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILING)
def test_failing_command_is_a_skip_with_its_reason(wood: Wood, name: str) -> None:
    script, reason = FAILING[name]
    plant(wood, propose=script)
    result = wood.run("r", "--set", f"propose.timeout_s={0.5 if name == 'waits' else 60}")
    assert result.code == 4
    [skip] = wood.load("r").history.skips
    assert (skip.idea, skip.reason) == ("[propose]", reason)


MUTATING = """
[[mutations]]
file = "params.json"
count = 3
"""


def test_mutations_move_each_nodes_own_values_and_follow_the_seed(wood: Wood) -> None:
    wood.plant(OWN + MUTATING)
    assert wood.run("r", "--max-parallel-evals", "2", "--beam-width", "1").code == 0
    assert wood.run("t", "--set", "seed=1", "--max-depth", "1").code in (0, 1)
    ideas = [[e.idea.name for e in wood.load(out).history.evals] for out in ("r", "t")]
    assert ideas[0] != ideas[1]
    tree_run, view = wood.load("r"), RunView(wood.folder / "r", NAME)
    best = tree_run.history.nodes[-1]
    assert best.depth == 2
    for node in tree_run.history.nodes[1:]:
        assert node.idea is not None
        assert node.idea.content is not None
        assert json.loads(view.read(node.idea.content))["file"] == "params.json"


def test_toml_file_is_mutated_and_set_by_a_grid(wood: Wood) -> None:
    score = "import json, tomllib\nbody = tomllib.load(open('p.toml', 'rb'))\n"
    score += "print(json.dumps({'score': body['x'] + body['t']['y']}))\n"
    grid = '[[grids]]\nfile = "p.toml"\nvalues = { x = [5, 6], "t.y" = [7] }\n'
    wood.plant(OWN + MUTATING.replace("params.json", "p.toml") + grid, score)
    wood.write("start/p.toml", "# two numbers\nx = 1  # one\n[t]\ny = 2.5\n")
    result = wood.run("r", "--max-depth", "1", "--json")
    assert result.code == 0, result
    assert result.json["answer"]["best_score"] == "13"
    wood.weft("tree", "export", "r", "--repo", "made")
    assert (
        wood.folder / "made" / "p.toml"
    ).read_text() == "# two numbers\nx = 6  # one\n[t]\ny = 7\n"


def test_dry_run_proposes_without_running_the_command(wood: Wood) -> None:
    plant(wood, propose="import sys; sys.exit(3)")
    runs = [wood.run(f"d{n}", "--dry-run", "--max-parallel-evals", str(n)) for n in (1, 2)]
    assert [run.code for run in runs] == [0, 0]
    assert wood.ledger("d1") == wood.ledger("d2")
    assert len(wood.load("d1").history.evals) == 3 + 3  # one of the first three passes


def test_plan_says_that_ideas_come_during_the_run(wood: Wood, tmp_path: Path) -> None:
    plant(wood)
    result = wood.weft("tree", "plan", "tree.toml")
    assert "ideas are made for each node during the run" in result.out
    assert not list(tmp_path.glob("r*"))


def test_mutations_of_two_files_with_equal_keys_are_all_tried(wood: Wood) -> None:
    tables = MUTATING + MUTATING.replace("params.json", "more/params.json")
    wood.plant(OWN + tables.replace("count = 3", 'count = 2\nkeys = ["a"]\nstep = 9'))
    wood.write("start/more/params.json", '{"a": 1}')
    wood.run("r", "--max-depth", "1")
    names = [e.idea.name.partition(".a=")[0] for e in wood.load("r").history.evals]
    assert sorted(names) == ["n0.1/more_params.json"] * 2 + ["n0.1/params.json"] * 2
