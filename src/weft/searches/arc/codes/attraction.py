"""Numbers of the kernels in `kernels/attraction.py` and of their parameters."""

from __future__ import annotations

TO_LARGEST, TO_SMALLEST, TO_OWN = 0, 1, 2
TOUCH, ENTER = 0, 1
STEPS = 60
"""Maximum number of steps an object moves."""
STAYS, LEFT_OUT = -1, -2
