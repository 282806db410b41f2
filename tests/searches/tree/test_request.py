"""The request of a tree run: its config sets how many evals run in parallel, and on what."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.searches.tree.conftest import Wood
from weft.errors import UsageError
from weft.model.slots import Node
from weft.runs.execution import Execution
from weft.searches.tree.configfile import Override, parse_setting
from weft.searches.tree.request import TreeRequest, read_request

NODES = (Node("localhost", 0, 4),)


def request(wood: Wood, **values: str | int) -> TreeRequest:
    overrides = [Override(name, value) for name, value in values.items()]
    return read_request(wood.folder / "tree.toml", overrides)


def test_config_decides_workers_and_backend_the_rest_is_as_asked(wood: Wood) -> None:
    wood.plant()
    execution_asked = Execution(
        wood.folder / "r", 9, accept=("code",), keep=("failed",), placement="static"
    )
    tree_request = request(wood, max_parallel_evals=3, parallel_backend="threadpool", area="x")
    execution = tree_request.execution(execution_asked)
    assert (execution.workers, execution.backend) == (3, "local")
    assert (execution.base, dict(execution.labels)) == (wood.folder, {"area": "x"})
    assert (execution.accept, execution.keep) == (("code",), ("failed",))
    assert (execution.out, execution.placement) == (execution_asked.out, "static")


def test_nodes_are_used_whole_unless_the_config_says_fewer(wood: Wood) -> None:
    wood.plant()
    requested = Execution(Path("r"), nodes=NODES)
    assert request(wood).execution(Execution(Path("r"))).workers == 1
    assert request(wood).execution(requested).workers is None
    assert request(wood, max_parallel_evals=2).execution(requested).workers == 2


def test_field_given_twice_is_refused(wood: Wood) -> None:
    wood.plant()
    twice = [Override("beam_width", 2), parse_setting("beam_width=2")]
    with pytest.raises(UsageError, match="beam_width is given twice"):
        read_request(wood.folder / "tree.toml", twice)


@pytest.mark.parametrize(
    ("name", "flag"), [("beam_width", "--beam-width"), ("score.timeout_s", "--set score.timeout_s")]
)
def test_override_names_the_flag_that_gives_it(name: str, flag: str) -> None:
    assert Override(name, 1).flag == flag
