"""A pytest plugin that keeps every n-th of the collected tests, according to `WEFT_PART`."""

from __future__ import annotations

import pytest

from tests.support.figures import Part


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep only the share of this case."""
    mine = Part.asked().of(items)
    config.hook.pytest_deselected(items=[item for item in items if item not in mine])
    items[:] = mine
