"""Parameters that the engine fills in, with and without the default that type checkers need."""

from __future__ import annotations

import pytest

import weft
from weft.errors import SearchInvalid

SOURCE = """
@weft.task(name="defaults.{form}")
def draw(x: int, *, seed: int{seed}) -> int:
    return seed

@weft.search(version=1, name="defaults.search-{form}")
def draws(n: int, *, inputs{inputs}, seed: int{seed}):
    results = yield [draw(x) for x in range(n)]
    return [r.value for r in results] + [sorted(inputs), seed]
"""
FORMS = {
    "plain": SOURCE.format(form="plain", seed="", inputs=""),
    "default": SOURCE.format(form="default", seed=" = weft.SEED", inputs=" = weft.INPUTS"),
}


@pytest.mark.parametrize("form", sorted(FORMS))
def test_engine_fills_in_seed_and_inputs_in_both_forms(modules, tmp_path, form):
    lab = modules.write(FORMS[form])
    run = weft.run(lab.draws(3), out=tmp_path / "out", seed=7, inputs={"a": b"1"}, workers=1)
    *seeds, names, seed = run.answer
    assert len(set(seeds)) == 3
    assert (names, seed) == (["a"], 7)
    with pytest.raises(SearchInvalid, match="seed"):
        lab.draw(1, seed=3)


def test_seed_of_a_task_called_as_a_plain_function_is_the_default(modules):
    lab = modules.write(FORMS["default"])
    assert lab.draw.function(1) == weft.SEED == 0
    assert dict(weft.INPUTS) == {}
