"""Every operator: its kernel does what its twin says, and its declared facts are true."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arcvalues import compiled, grids, values
from weft.searches.arc.ops.operator import Operator, Palette, ShapeEffect
from weft.searches.arc.ops.registry import REGISTRY
from weft.searches.arc.values import EMPTY, Box, Grid, Size, Value, ValueStage, encode, fits


def colours(value: Value, stage: ValueStage) -> set[int]:
    """The colours a value holds."""
    if stage is ValueStage.COLOUR:
        assert isinstance(value, int)
        return {value}
    if isinstance(value, tuple):
        return {colour for piece in value for colour in colours(piece, ValueStage.OBJECT)}
    if stage is ValueStage.PATCH or isinstance(value, Box | Size | int):
        return set()
    return set(value.cells) - {EMPTY}


@pytest.mark.parametrize("operator", REGISTRY, ids=lambda o: o.name)
@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_kernel_equals_its_twin_and_facts_hold(operator: Operator, data: st.DataObject) -> None:
    _check_twin(operator, data)


@pytest.mark.slow
@pytest.mark.parametrize("operator", REGISTRY, ids=lambda o: o.name)
@settings(max_examples=200, deadline=None, database=None)
@given(data=st.data())
def test_kernel_equals_its_twin_on_many_values(operator: Operator, data: st.DataObject) -> None:
    _check_twin(operator, data)


def _check_twin(operator: Operator, data: st.DataObject) -> None:
    value, inp = data.draw(values(operator.takes)), data.draw(grids())
    expected = operator.plain(value, inp)
    if expected is not None and not fits(operator.gives, expected):
        expected = None
    assert compiled(operator, value, inp) == expected
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
