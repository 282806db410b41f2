"""Commands that cannot run: if the root fails too, the run stops; else the candidate failed."""

from __future__ import annotations

import pytest

from tests.searches.tree.conftest import CONFIG, SCORE, Wood

pytestmark = pytest.mark.xdist_group("tree-broken")
WRAPPED = CONFIG.replace('["{python}", "-I", "score.py"]', '["./score.sh"]').replace(
    'protected = ["score.py"]\n', ""
)
PATCH = """diff --git a/score.sh b/score.sh
deleted file mode 100755
--- a/score.sh
+++ /dev/null
@@ -1,2 +0,0 @@
-#!/bin/sh
-exec python3 -I score.py
"""


def plant(wood: Wood, *, script: bool) -> None:
    wood.plant(WRAPPED)
    if script:
        path = wood.write("start/score.sh", "#!/bin/sh\nexec python3 -I score.py\n")
        path.chmod(0o755)


def records(wood: Wood, out: str) -> int:
    return len((wood.folder / out / "ledger.jsonl").read_text("utf-8").splitlines())


def test_scorer_that_cannot_be_run_on_the_root_interrupts_with_nothing_in_the_ledger(
    wood: Wood,
) -> None:
    plant(wood, script=False)
    result = wood.run("r")
    assert result.code == 130, result
    assert "[score] exits with code 127 on the root" in result.err
    assert "weft resume r" in result.err
    assert result.err.count("\n") == 1
    assert records(wood, "r") == 1


def test_candidate_that_deletes_the_script_merely_fails(wood: Wood) -> None:
    plant(wood, script=True)
    wood.write("ideas/delete.patch", PATCH)
    result = wood.run("r", "--max-parallel-evals", "2", "--json")
    assert result.code == 0, result
    [record] = [e for e in result.json["evals"] if e["idea_path"] == "delete.patch"]
    assert (record["verdict"], record["task_state"]) == ("command-broken", "failed")
    assert (record["error"]["stage"], record["error"]["exit_code"]) == ("score", 127)
    assert result.json["answer"]["best_score"] == "52"


@pytest.mark.parametrize("stage", ["implement", "review", "sweep"])
def test_broken_stage_interrupts_and_goes_on_when_it_is_mended(wood: Wood, stage: str) -> None:
    script = wood.folder / "tool.sh"
    wood.plant(CONFIG + f'[{stage}]\nargv = ["sh", "-c", "exec {script}"]\n')
    result = wood.run("r", "--max-parallel-evals", "2")
    assert result.code == 130, result
    assert f"[{stage}] exits with code 127 on the root" in result.err
    before = records(wood, "r")
    text = '#!/bin/sh\n[ "$WEFT_STAGE" = implement ] && echo $WEFT_EVAL_ID > made\necho "{}"\n'
    script.write_text(text)
    script.chmod(0o755)
    assert wood.run("r").code in (0, 1)
    assert records(wood, "r") > before
    assert {e.error for e in wood.load("r").history.evals} == {None}


def test_node_that_lost_the_script_fails_its_evals_and_not_the_run(wood: Wood) -> None:
    """The script of [review] is deleted by an idea that is promoted; the next depth needs it."""
    wood.plant(CONFIG + '[implement]\nargv = ["sh", "{work_dir}/agent.sh"]\n')
    wood.write("agent.sh", 'exec ./step.sh "$WEFT_IDEA_FILE"\n')
    step = wood.write("start/step.sh", STEP)
    step.chmod(0o755)
    for path in (wood.folder / "ideas").iterdir():
        path.unlink()
    wood.write("ideas/one.md", "4")
    wood.write("ideas/two.md", "6")
    result = wood.run("r", "--max-depth", "2", "--json")
    assert result.code == 0, result
    kinds = {(e["depth"], e["error"] and e["error"]["type"]) for e in result.json["evals"]}
    assert kinds == {(1, None), (2, "command-broken")}


STEP = """#!/bin/sh
printf '{\\n  "a": %s,\\n  "b": 2\\n}\\n' $(cat "$1") > params.json
rm step.sh
"""


def test_scorer_out_of_memory_or_killed_by_itself_is_told_apart(wood: Wood) -> None:
    score = SCORE + "import signal\nif body['a'] == 5: os.kill(os.getpid(), signal.SIGSEGV)\n"
    wood.plant(score=score)
    wood.run("r")
    [record] = [
        e
        for e in wood.weft("tree", "evals", "r", "--json").json["evals"]
        if e["idea_path"] == "up-a.md"
    ]
    assert (record["error"]["type"], record["error"]["exit_code"]) == ("score-invalid", 139)
