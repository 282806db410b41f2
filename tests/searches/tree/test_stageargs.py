"""Records of the tree search: read from JSON into dataclasses and written back to the same JSON."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from weft.errors import LedgerDamaged
from weft.model.codec import from_json, to_json
from weft.model.results import TaskError
from weft.model.values import Object, canonical, encode
from weft.searches.tree.config import Idea, Stage, TreeConfig
from weft.searches.tree.recordings import (
    MISSING,
    ImportedEval,
    ImportedRun,
    RecordingKey,
    find_recording,
)
from weft.searches.tree.results import Candidate, StageOutcome, StageResult, read_stage
from weft.searches.tree.slot.values import Mutation
from weft.searches.tree.stageargs import StageArgs

FILES = Object("ab" * 32)
PLACE = {"eval_id": 3, "parent_node_id": 1, "idea_path": "a.md", "depth": 2, "stage": "score"}
STATE = {
    "root": FILES, "root_tree": "t0", "diffs": [FILES], "tree": "t1", "parent_commit": "c1",
}  # fmt: skip
RESULTS = {"parent_result": {"score": "1"}, "root_result": {}}
IDEA = {
    "idea_kind": "patch", "idea_digest": "d", "idea": FILES, "feedback": "", "message": "m",
    "sweep": None, **RESULTS,
}  # fmt: skip
TRIED = {
    "eval": "e1", "node": "n0", "idea": "a.md", "text": FILES, "score": None, "metrics": None,
    "verdict": "timeout", "why": "", "feedback": "",
}  # fmt: skip
CONTEXT = {
    "node": "n1", "depth": 2, "direction": "max", "commit": "c1", "score": "1", "metrics": {},
    "path": [{"node": "n0", "idea": None, "text": None, "score": "1", "metrics": None}],
    "tried": [TRIED], "left_out": 0,
}  # fmt: skip
MUTATION = {
    "file": "a.json", "keys": ["x"], "count": 4, "at_once": 1, "scale": "0.3", "step": "1.0",
    "low": "", "high": "",
}  # fmt: skip
PROPOSE = {
    "context": CONTEXT, "mutations": [MUTATION], "index": None, "has_command": True, **RESULTS,
}  # fmt: skip
MEMORY = {"transcript": [FILES], "memory_turns": 20, "memory_chars": 500}
COMMAND = {"format": "weft", "regex": "", "protected": ["score.py"]}


@pytest.mark.parametrize(
    "table",
    [
        {**PLACE, **STATE},
        {**PLACE, **STATE, "repeat": 0, "eval_id": None},
        {**PLACE, **STATE, **IDEA, **COMMAND},
        {**PLACE, **STATE, **IDEA, **MEMORY, "recorded": {"cost": None}},
        {**PLACE, **STATE, **PROPOSE, **MEMORY, **COMMAND, "stage": "propose"},
    ],
)
def test_arguments_read_and_written_again_are_the_same_bytes(table: dict[str, Any]) -> None:
    assert encode(StageArgs.from_dict(table).to_dict()) == encode(table)


@pytest.mark.parametrize("name", [*PLACE, *STATE])
def test_arguments_with_a_field_of_another_type_are_damage_that_is_named(name: str) -> None:
    with pytest.raises(LedgerDamaged, match=rf"field \w+\.{name} is not"):
        StageArgs.from_dict({**PLACE, **STATE, name: 1.5})


def test_config_read_and_written_again_is_the_same_bytes() -> None:
    stage = Stage(("sh", "-c", "x"), 1.5, {"A": "b"}, ("KEY",), "evo", "(x)", True)
    mutation = Mutation("a.json", ("x",), 4, 1, "0.3", "1.0", "", "")
    config = TreeConfig({"score": stage}, "min", mutations=(mutation,), memory_mb=5, max_usd="1.5")
    assert from_json(TreeConfig, to_json(config)) == config
    for idea in (Idea("a.md", "text", "d"), Idea("n1.2/b.md", "text", "e", FILES)):
        assert from_json(Idea, idea.to_dict()) == idea
    assert "content" not in Idea("a.md", "text", "d").to_dict()  # as bound by genesis records


def test_recorded_values_keep_fields_that_are_not_read() -> None:
    candidate = {"tree": "t", "commit": "c", "changed": ["a"], "diff": FILES, "cost": None}
    for table in (candidate, {**candidate, "turns": None}):
        assert read_stage(Candidate, table).recorded == table
    score = {"score": "1", "metrics": {"loss": ["0.5"]}, "rows": {"ok": 1, "expected": 2}}
    assert read_stage(StageResult, score).recorded == score
    run = ImportedRun("head", 7, (ImportedEval("c", "d", {"implement": candidate}),))
    assert from_json(ImportedRun, to_json(run)) == run
    assert run.objects() == [FILES]


def test_recordings_are_looked_up_by_files_first_and_a_diff_by_its_idea_alone() -> None:
    first, other = (
        StageOutcome({"diff": FILES}),
        StageOutcome(error=TaskError("timeout", "run", 124)),
    )
    key = RecordingKey("implement", "t", 1, "d", "try again")
    exact, loose = key.texts()
    recordings = {exact: first, "review d t 0": other}
    assert find_recording(recordings, key) == first
    assert find_recording({loose: first}, RecordingKey("implement", "u", 2, "d")) == first
    assert find_recording(recordings, RecordingKey("propose", "t", 1)) == MISSING
    for outcome in (first, other):
        assert from_json(StageOutcome, outcome.to_dict()) == outcome
    assert canonical(MISSING.to_dict()) == (
        '{"error":{"exit_code":null,"stage":"run","type":"not-recorded"}}'
    )


def test_hooks_of_a_slot_load_nothing_that_only_the_door_needs() -> None:
    """Every worker imports the hooks when it starts, so every run pays for their imports."""
    code = "import sys, weft.worker.loop, weft.searches.tree.slot.hooks; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in result.stdout.split()}
    assert loaded.isdisjoint({"asyncio", "click", "numpy", "pydantic", "rich", "ssl", "typer"})
