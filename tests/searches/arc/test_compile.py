"""How the parts of the kernels are distributed among compiler processes."""

from __future__ import annotations

import pytest

from weft.searches.arc.compile import divided
from weft.searches.arc.warm import PARTS


@pytest.mark.parametrize("compilers", [1, 2, 3, 8, 64])
def test_divided_deals_every_part_once(compilers: int) -> None:
    shares = divided(compilers)
    assert sorted(part for share in shares for part in share) == sorted(PARTS)
    assert all(shares)
    assert len(shares) == min(compilers, len(PARTS))


def test_divided_among_two_is_even() -> None:
    first, second = (sum(PARTS[part] for part in share) for share in divided(2))
    assert abs(first - second) <= min(PARTS.values())
