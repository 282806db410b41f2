"""The compiled kernels of `weft arc`, built from this folder, `codes` and `fitted`."""

from __future__ import annotations

from pathlib import Path

from weft.compiled import Kernels

_HERE = Path(__file__).parent
KERNELS = Kernels("arc", _HERE, _HERE.parent / "codes", _HERE.parent / "fitted")
kernel = KERNELS.kernel
entry = KERNELS.entry
around = KERNELS.around
