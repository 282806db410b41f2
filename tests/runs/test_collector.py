import gc

import pytest

import weft
from weft.runs.collector import ALLOCATIONS, collected_rarely
from weft.testing import tasks


@pytest.fixture(autouse=True)
def restored():
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@weft.search(version=1)
def thresholds():
    yield [tasks.echo(1)]
    return list(gc.get_threshold())


def test_a_run_collects_rarely_and_leaves_the_thresholds_as_they_were(tmp_path):
    gc.set_threshold(700, 11, 12)
    run = weft.run(thresholds(), out=tmp_path / "run", workers=1)
    assert run.answer == [ALLOCATIONS, 11, 12]
    assert gc.get_threshold() == (700, 11, 12)


@pytest.mark.parametrize("first", [0, ALLOCATIONS + 1])
def test_a_collector_that_is_off_or_rare_already_is_left_alone(first):
    gc.set_threshold(first, 10, 10)
    with collected_rarely():
        assert gc.get_threshold()[0] == first


def test_thresholds_come_back_after_an_error():
    gc.set_threshold(700, 10, 10)
    with pytest.raises(KeyError), collected_rarely():
        raise KeyError
    assert gc.get_threshold() == (700, 10, 10)
