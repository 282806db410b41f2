"""Sizes of kernels that plans and estimates need; importing them loads no compiled code."""

from __future__ import annotations

CALL_BITS = 32
"""Where a sieve is for several calls, the number of the call is above the bits of the seed."""
CHECKS = 3
"""Draws after the anchor of a lane of which one must hit before all are compared."""
DIRECT = 227
"""Outputs of MT19937 that come from the filled block directly."""
