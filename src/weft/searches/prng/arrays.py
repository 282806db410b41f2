"""Type aliases for the arrays that kernels read and write; importing them does not load NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Words: TypeAlias = "NDArray[np.uint64]"
ShortWords: TypeAlias = "NDArray[np.uint32]"
Draws16: TypeAlias = "NDArray[np.uint16]"
"""Draws below 2^16, as stored by the pipeline."""
Ints: TypeAlias = "NDArray[np.int64]"
Ints32: TypeAlias = "NDArray[np.int32]"
Bytes: TypeAlias = "NDArray[np.uint8]"
Flags: TypeAlias = "NDArray[np.bool_]"
Floats: TypeAlias = "NDArray[np.float64]"
