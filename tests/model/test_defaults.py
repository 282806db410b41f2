"""Names and defaults of the model that other machines, ledgers and documents rely on."""

from __future__ import annotations

from weft.model.attempts import Finished, Lost
from weft.model.results import TIMING_TYPES
from weft.model.sandbox import MODES, Sandbox
from weft.model.slots import MAX_CONCURRENT, VISIBLE_DEVICES, Node
from weft.model.tasks import Budget, SearchCall
from weft.model.templates import ENGINE_NAMES, fill


def test_failures_of_time_and_memory_have_the_types_that_ledgers_hold() -> None:
    assert TIMING_TYPES == ("out-of-memory", "timeout", "worker-died")


def test_sandbox_confines_where_it_can_and_gives_no_network() -> None:
    assert MODES == ("auto", "required", "off")
    assert Sandbox() == Sandbox("auto", network=False, writable=(), readable=())


def test_node_with_gpus_runs_twelve_tasks_and_hides_gpus_from_every_vendor() -> None:
    assert MAX_CONCURRENT == 12
    assert VISIBLE_DEVICES == (
        "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"
    )  # fmt: skip
    node = Node("a", cpus=1)
    assert (node.folder, node.python, node.gpu_type, node.allow_paths) == ("", "", "", ())


def test_attempt_that_ends_or_is_lost_says_no_more_than_it_knows() -> None:
    end, loss = Finished(7), Lost(7, "gone")
    assert (end.value, end.error, end.retriable, end.detail) == (None, None, False, "")
    assert (end.staged, end.notes, end.run_s) == ((), None, 0.0)
    assert (loss.detail, loss.cause) == ("", "worker")


def test_search_is_not_in_order_when_its_tasks_fail() -> None:
    assert not SearchCall("m:s", 1, {}, lambda: None).failures_expected  # type: ignore[arg-type]


def test_budget_may_be_empty_and_is_never_overspent() -> None:
    budget = Budget({"programs": 0, "seeds": 5})
    assert budget.spend(programs=3, seeds=2).counts == {"programs": 0, "seeds": 3}
    assert budget.spend(programs=1).counts == {"programs": 0, "seeds": 5}


def test_command_may_name_what_the_engine_gives() -> None:
    assert ENGINE_NAMES == (
        "attempt", "out_dir", "python", "run_id", "seed", "slot", "tmp_dir", "work_dir"
    )  # fmt: skip
    assert fill("${x} {x}", {"x": "1"}) == "${x} 1"
