"""Arguments of `weft.run` from NumPy and notebooks: converted, or refused with nothing written."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft.errors import InputError, UsageError

SEARCH = """
    @weft.task
    def same(x):
        return x

    @weft.search(version=1)
    def s(*, seed, budget):
        yield [same(1)]
        return [seed, budget.counts.get("tries", 0)]
"""


def test_numpy_numbers_and_a_single_text_are_the_plain_values(modules, tmp_path):
    module = modules.write(SEARCH)
    plain = weft.run(
        module.s(), out=tmp_path / "plain", seed=7, workers=1, retries=2, timeout_s=9,
        budget={"tries": 3},
    )  # fmt: skip
    run = weft.run(
        module.s(), out=tmp_path / "run", seed=np.uint64(7), workers=np.int64(1),
        retries=np.int32(2), timeout_s=np.float32(9), budget={"tries": np.int16(3)},
        accept="code", tags="night",
    )  # fmt: skip
    assert run.answer == [7, 3]
    assert run.head == plain.head


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": 1.5}, "seed must be a whole number, not 1.5"),
        ({"seed": "a"}, "seed must be a whole number, not 'a'"),
        ({"seed": True}, "seed must be a whole number, not True"),
        ({"workers": "2"}, "workers must be a whole number, not '2'"),
        ({"retries": 1.5}, "retries must be a whole number, not 1.5"),
        ({"timeout_s": "9"}, "timeout_s must be a number of seconds, not '9'"),
        ({"wall_limit_s": [1]}, r"wall_limit_s must be a number of seconds, not \[1\]"),
        ({"budget": {"tries": 0.5}}, "budget 'tries' must be a whole number, not 0.5"),
        ({"budget": 3}, "budget must be a dict of counts by name, not 3"),
        ({"accept": [3]}, r"accept must be a list of texts, not \[3\]"),
        ({"inputs": ["a"]}, r"inputs must be a dict of files by name, not \['a'\]"),
        ({"nodes": ["a"]}, r"nodes must be a list of weft\.Node, not \['a'\]"),
        ({"out": None}, "out must be a path, not None"),
    ],
)
def test_argument_of_a_wrong_type_is_refused_and_nothing_written(
    modules, tmp_path, arguments, message
):
    module = modules.write(SEARCH)
    with pytest.raises(InputError, match=message) as caught:
        weft.run(module.s(), **{"out": tmp_path / "run", **arguments})
    assert isinstance(caught.value, UsageError)
    assert list(tmp_path.glob("run")) == []
