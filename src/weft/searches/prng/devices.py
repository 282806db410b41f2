"""Detects a GPU for sieving without calling CUDA.

A process that has called CUDA cannot fork workers that use it, and loading CuPy takes as long as a
short analysis. The command therefore asks NVIDIA's management library (NVML), which has neither
drawback, and falls back to CuPy only if NVML reports no GPU or GPUs are restricted.
"""

from __future__ import annotations

import ctypes
from importlib.util import find_spec

from weft.cluster import host
from weft.lazy_imports import lazy_imports
from weft.model.slots import CUDA_DEVICES

with lazy_imports():
    from weft.searches.prng.kernels import cuda

NVML = "libnvidia-ml.so.1"
NVML_SUCCESS = 0


def has_gpu() -> bool:
    """Whether there is a GPU and CuPy is installed."""
    if find_spec("cupy") is None:
        return False
    restricted = CUDA_DEVICES in host.worker_environment()  # NVML ignores the restriction
    return (not restricted and driver_gpus() > 0) or cuda.is_available()


def driver_gpus(library: str = NVML) -> int:
    """Return how many GPUs NVIDIA's driver reports; 0 also if NVML is unavailable."""
    try:
        nvml = ctypes.CDLL(library)
    except OSError:
        return 0
    if nvml.nvmlInit_v2() != NVML_SUCCESS:
        return 0
    count = ctypes.c_uint(0)
    status = nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
    nvml.nvmlShutdown()
    return count.value if status == NVML_SUCCESS else 0
