"""How a command is confined by default."""

from __future__ import annotations

from weft.model.sandbox import MODES, Sandbox


def test_sandbox_confines_where_it_can_and_gives_no_network() -> None:
    assert MODES == ("auto", "required", "off")
    assert Sandbox() == Sandbox("auto", network=False, writable=(), readable=())
