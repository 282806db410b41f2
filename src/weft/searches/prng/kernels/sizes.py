"""Sizes of kernels that plans and estimates need; importing this module loads no compiled code."""

from __future__ import annotations

CALL_BITS = 32
"""In a sieve for several calls, the number of the call is above this many bits of the seed."""
CHECKS = 3
"""Draws after the anchor of a lane, one of which must hit before all are compared."""
DIRECT = 227
"""Number of MT19937 outputs that come directly from the filled block."""
