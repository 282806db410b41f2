"""What binds a run: the genesis, and how two of them are compared in words."""

from __future__ import annotations

import importlib.metadata
import json
import os
from pathlib import Path

import pytest

import weft
from weft.coordinator.policy import Policy
from weft.errors import FileInvalid, OptionInvalid, RunMismatch, SearchInvalid, UsageError
from weft.model.keys import sha256_hex
from weft.model.tasks import Budget, SearchCall
from weft.runs.decision import Decision, check_same, decision_from_genesis, digests, read_inputs
from weft.runs.execution import Execution
from weft.runs.run import checked_policy, run_search
from weft.storage.folder import RunFolder


def body(a, b=2):
    yield []


def decision(**changes):
    fields = {"call": SearchCall("m:s", 1, {"a": 1, "b": 2}, body), "seed": 5, **changes}
    return Decision(**fields)


@weft.search(version=1)
def nothing():
    yield []


def test_genesis_other_execution_is_the_same(tmp_path):
    heads = set()
    for i, execution in enumerate(
        [
            {},
            {"workers": 7},
            {"backend": "serial"},
            {"accept": ("code",)},
            {"labels": {"d": "x"}, "tags": ("t",)},
        ]
    ):
        heads.add(run_search(nothing(), Execution(tmp_path / str(i), **execution)).head)
    assert len(heads) == 1
    last = RunFolder(tmp_path / "4").read_run_file()
    assert (last.labels, last.tags) == ({"d": "x"}, ("t",))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"seed": 6}, "seed is 5 there, 6 here"),
        ({"seed": 2**60}, f"seed is 5 there, {2**60} here"),
        ({"call": SearchCall("m:t", 1, {"a": 1, "b": 2}, body)}, 'search is "m:s" there, "m:t"'),
        ({"call": SearchCall("m:s", 2, {"a": 1, "b": 2}, body)}, "version is 1 there, 2 here"),
        ({"call": SearchCall("m:s", 1, {"a": 1, "b": 3}, body)}, r"config\.args\.b is 2 there, 3"),
        ({"call": SearchCall("m:s", 1, {"a": 1}, body)}, r"config\.args\.b is 2 there, nothing"),
        ({"policy": Policy(retries=1)}, r"config\.retries is 0 there, 1 here"),
        ({"policy": Policy(strict=True)}, r"config\.strict is false there, true here"),
        ({"policy": Policy(timeout_s=1.5)}, r"config\.timeout_s is null there, 1\.5 here"),
        ({"call": SearchCall("m:s", 1, {"a": 1, "b": 2**70}, body)}, f"there, {2**70} here"),
        ({"call": SearchCall("m:s", 1, {"a": 0.5, "b": 2}, body)}, r"a is 1 there, 0\.5 here"),
        ({"budget": Budget({"n": 3})}, r"config\.budget"),
        ({"inputs": {"data": "0" * 64}}, r"inputs"),
    ],
)
def test_check_same_other_decision_names_the_field(change, field):
    recorded, changed = decision().genesis_text(), decision(**change).genesis_text()
    with pytest.raises(RunMismatch, match=field) as caught:
        check_same(recorded, changed, Path("runs/x"))
    assert "runs/x contains a different run" in str(caught.value)
    assert "new --out" in caught.value.hint


def test_check_same_equal_is_silent():
    check_same(decision().genesis_text(), decision().genesis_text(), Path("x"))


@pytest.mark.parametrize(
    "original",
    [
        decision(),
        decision(seed=2**70, budget=Budget({"n": 3, "big": 2**60})),
        decision(policy=Policy(3, 2.5, strict=True), inputs={"a": "0" * 64}),
    ],
)
def test_decision_from_genesis_is_the_same_decision(original):
    text = original.genesis_text()
    reread = decision_from_genesis(text, original.call)
    assert reread == original
    assert reread.genesis_text() == text


def test_context_gives_seed_inputs_and_budget():
    context = decision(inputs={"a": "0" * 64}, budget=Budget({"n": 1})).context()
    assert context == {
        "seed": 5, "inputs": {"a": weft.Object("0" * 64)}, "budget": Budget({"n": 1})
    }  # fmt: skip


def test_genesis_libraries_are_resolved_to_their_version():
    call = SearchCall("m:s", 1, {}, body, libraries=("pytest",))
    raw = json.loads(decision(call=call).genesis_text())
    assert raw["libraries"] == {"pytest": importlib.metadata.version("pytest")}


def test_genesis_library_not_installed_is_refused():
    call = SearchCall("m:s", 1, {}, body, libraries=("no-such-library",))
    with pytest.raises(SearchInvalid, match="needs library no-such-library"):
        decision(call=call).genesis_text()


def test_genesis_argument_that_is_no_value_is_refused_with_its_place():
    call = SearchCall("m:s", 1, {"a": {1, 2}}, body)
    with pytest.raises(SearchInvalid, match=r"arguments of search m:s: value at \$\.a"):
        decision(call=call).genesis_text()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"workers": 0}, "^workers must be 1 to 4096, not 0"),
        ({"workers": 4097}, "^workers"),
        ({"backend": "slurm"}, "^backend must be one of serial, local, ray, not slurm"),
        ({"accept": ("code", "all")}, "^accept takes code, copy, rollback, sandbox, not 'all'"),
    ],
)
def test_execution_wrong_option_is_refused(fields, message):
    with pytest.raises(UsageError, match=message):
        Execution(Path("x"), **fields)


@pytest.mark.parametrize(
    ("retries", "timeout_s", "message"),
    [
        (-1, None, "^retries"),
        (101, None, "^retries must be 0 to 100, not 101"),
        (0, 0, "^timeout_s must be above 0"),
        (0, -1.0, "^timeout_s"),
        (0, float("nan"), "^timeout_s"),
        (0, float("inf"), "^timeout_s"),
    ],
)
def test_policy_wrong_limit_is_refused(retries, timeout_s, message):
    with pytest.raises(UsageError, match=message):
        checked_policy(retries, timeout_s, strict=False)


def test_option_is_named_as_the_caller_wrote_it():
    with pytest.raises(OptionInvalid) as caught:
        checked_policy(0, -1.0, strict=False)
    assert str(caught.value) == "timeout_s must be above 0 seconds, not -1.0"
    assert caught.value.on_command_line == "--timeout must be above 0 seconds, not -1.0"


def test_policy_whole_seconds_are_a_float():
    assert decision(policy=checked_policy(0, 3, strict=False)).genesis_text() == (
        decision(policy=checked_policy(0, 3.0, strict=False)).genesis_text()
    )


# -- inputs -------------------------------------------------------------------------------


def test_inputs_are_read_and_hashed_by_name(tmp_path):
    (tmp_path / "f").write_bytes(b"abc")
    data = read_inputs({"b": tmp_path / "f", "a": b"xyz"})
    assert list(data.items()) == [("a", b"xyz"), ("b", b"abc")]
    assert digests(data) == {"a": sha256_hex(b"xyz"), "b": sha256_hex(b"abc")}


def make_fifo(path):
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "does not exist"),
        (Path.mkdir, "is not a regular file"),
        (make_fifo, "is not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "is not a regular file"),
        (lambda path: path.symlink_to(path), "input data"),
    ],
)
def test_input_unreadable_is_refused_before_anything_is_created(tmp_path, make, message):
    make(tmp_path / "data")
    with pytest.raises(FileInvalid, match=message) as caught:
        weft.run(nothing(), out=tmp_path / "out", inputs={"data": tmp_path / "data"})
    assert str(caught.value).startswith("input data: ")
    assert not (tmp_path / "out").exists()


def test_input_name_with_nul_is_refused():
    with pytest.raises(FileInvalid, match="input data"):
        read_inputs({"data": Path("a\0b")})


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_budget_split_adds_up_and_gives_the_rest_to_the_first(parts):
    shares = Budget({"programs": 10, "seeds": 3}).split(parts)
    for name, total in (("programs", 10), ("seeds", 3)):
        counts = [share[name] for share in shares]
        assert sum(counts) == total
        assert counts == sorted(counts, reverse=True)
        assert max(counts) - min(counts) <= 1


def test_budget_split_into_nothing_is_refused():
    with pytest.raises(SearchInvalid, match="0 parts"):
        Budget({"n": 1}).split(0)


def test_budget_spend_never_goes_below_zero():
    remaining = Budget({"n": 5, "m": 1}).spend(n=2, m=7)
    assert remaining.counts == {"n": 3, "m": 0}
    with pytest.raises(KeyError):
        remaining["other"]


@pytest.mark.parametrize("count", [-1, 1.5, True, "3"])
def test_budget_that_is_no_count_is_refused(count):
    with pytest.raises(SearchInvalid, match="must be a count of 0 or more"):
        Budget({"n": count})
