"""Whether this machine has a GPU to sieve on, without a call to CUDA.

A process that has called CUDA cannot fork workers that use it, and loading CuPy takes as long as a
short analysis. So the command asks NVIDIA's management library (NVML), which does neither harm,
and only where that gives no answer it asks CuPy.
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
    """Whether there is a GPU and CuPy is installed to use it."""
    if find_spec("cupy") is None:
        return False
    restricted = CUDA_DEVICES in host.worker_environment()  # NVML counts all GPUs nevertheless
    return (not restricted and driver_gpus() > 0) or cuda.is_available()


def driver_gpus(library: str = NVML) -> int:
    """Return how many GPUs NVIDIA's driver reports; 0 also where it cannot be asked."""
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
