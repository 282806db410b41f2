"""Arithmetic on 32-bit words for kernels that run in the lanes of a vector register.

numba widens every integer to 64 bits, so the vectoriser fills half as many lanes. These are 32-bit
machine operations; all wrap around.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.extending import intrinsic


def _operation(emit: Callable[[Any, Any], Any]) -> Any:
    def operation(typing: Any, left: Any, right: Any) -> Any:  # noqa: ARG001 - numba's signature
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
            return emit(builder, args)

        return types.uint32(types.uint32, types.uint32), code

    return intrinsic(operation)


def _differ(builder: Any, args: Any) -> Any:
    return builder.zext(builder.icmp_unsigned("!=", *args), args[0].type)


def _covers(builder: Any, args: Any) -> Any:
    return builder.zext(builder.icmp_unsigned(">=", *args), args[0].type)


def _least(builder: Any, args: Any) -> Any:
    return builder.select(builder.icmp_unsigned("<", *args), *args)


add32 = _operation(lambda builder, args: builder.add(*args))
sub32 = _operation(lambda builder, args: builder.sub(*args))
mul32 = _operation(lambda builder, args: builder.mul(*args))
xor32 = _operation(lambda builder, args: builder.xor(*args))
and32 = _operation(lambda builder, args: builder.and_(*args))
or32 = _operation(lambda builder, args: builder.or_(*args))
shr32 = _operation(lambda builder, args: builder.lshr(*args))
shl32 = _operation(lambda builder, args: builder.shl(*args))
differ32 = _operation(_differ)
"""1 where two words differ, else 0."""
covers32 = _operation(_covers)
"""1 where the first word is at least the second, else 0."""
least32 = _operation(_least)
