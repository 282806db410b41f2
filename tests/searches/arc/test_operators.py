"""Every operator: its kernel equals its twin, and its declared facts are true."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arcvalues import compiled, grids, values
from weft.searches.arc.ops.operator import Operator, Palette, ShapeEffect
from weft.searches.arc.ops.registry import REGISTRY
from weft.searches.arc.values import EMPTY, Grid, Value, ValueStage, encode, fits

STAGES = tuple(stage for stage in ValueStage if any(o.takes is stage for o in REGISTRY))


def taking(stage: ValueStage) -> list[Operator]:
    """The operators that take a value of a stage."""
    return [operator for operator in REGISTRY if operator.takes is stage]


def colours(value: Value, stage: ValueStage) -> set[int]:
    """The colours a value holds."""
    if stage is ValueStage.COLOUR:
        assert isinstance(value, int)
        return {value}
    if isinstance(value, tuple):
        return {colour for piece in value for colour in colours(piece, ValueStage.OBJECT)}
    if isinstance(value, int):
        return set()
    return set(value.cells) - {EMPTY}


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name.lower())
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_kernels_equal_their_twins_and_facts_hold(stage: ValueStage, data: st.DataObject) -> None:
    _check_twins(stage, data)


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name.lower())
@settings(max_examples=400, deadline=None, database=None)
@given(data=st.data())
def test_kernels_equal_their_twins_on_many_values(stage: ValueStage, data: st.DataObject) -> None:
    _check_twins(stage, data)


def test_every_operator_is_compared() -> None:
    assert sorted(o.name for stage in STAGES for o in taking(stage)) == sorted(
        operator.name for operator in REGISTRY
    )


def _check_twins(stage: ValueStage, data: st.DataObject) -> None:
    """Compare all operators on one value, since drawing it costs more than running them."""
    value, inp = data.draw(values(stage)), data.draw(grids())
    for operator in taking(stage):
        expected = operator.plain(value, inp)
        if expected is not None and not fits(operator.gives, expected):
            expected = None
        assert compiled(operator, value, inp) == expected, operator.name
        if expected is not None:
            _check_facts(operator, value, inp, expected)


def _check_facts(operator: Operator, value: Value, inp: Grid, result: Value) -> None:
    encode(operator.gives, result)
    new = colours(result, operator.gives) - colours(value, operator.takes)
    if operator.palette is Palette.KEEP:
        assert not new
    elif operator.palette is Palette.BLACK:
        assert new <= {0}
    elif operator.palette is Palette.INPUT:
        assert new <= {0, *inp.cells}
    if operator.gives is ValueStage.GRID:
        assert isinstance(result, Grid)
        assert set(result.cells) <= set(range(10))
    if operator.shape is ShapeEffect.INPUT:
        assert isinstance(result, Grid)
        assert (result.height, result.width) == (inp.height, inp.width)
    elif operator.takes is operator.gives is ValueStage.GRID:
        _check_shape(operator.shape, value, result)


def _check_shape(shape: ShapeEffect, value: Value, result: Value) -> None:
    assert isinstance(value, Grid)
    assert isinstance(result, Grid)
    taller, wider = result.height - value.height, result.width - value.width
    if shape is ShapeEffect.KEEP:
        assert taller == wider == 0
    elif shape is ShapeEffect.SHRINK:
        assert max(taller, wider) <= 0
    elif shape is ShapeEffect.GROW:
        assert min(taller, wider) >= 0
