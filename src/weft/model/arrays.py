"""NumPy arrays as `.npy` bytes (NEP 1), and NumPy scalars as the Python numbers they equal.

The header is written here, so that equal arrays have equal bytes with every version of NumPy, and
only headers written this way are read back. Object dtypes, and with them pickle, are refused; a
header that promises more data than there is allocates nothing.
"""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any

from weft.errors import ValueInvalid
from weft.model.libraries import Library

if TYPE_CHECKING:
    import numpy as np
else:
    np = Library("numpy")

MAGIC = b"\x93NUMPY\x01\x00"
ALIGN = 64
KINDS = "biufcSUMm"
"""Booleans, integers, floats, complex numbers, fixed-width bytes and text, dates, durations."""


def is_scalar(value: object) -> bool:
    """Whether a value is a NumPy scalar."""
    return isinstance(value, np.generic)


def is_array(value: object) -> bool:
    """Whether a value is an array, subclasses included."""
    return isinstance(value, np.ndarray)


def plain_scalar(value: Any) -> bool | int | float | str | bytes:
    """Return the Python value equal to a NumPy scalar; raises ValueInvalid if there is none."""
    if isinstance(value, np.bool_):
        return bool(value)
    if value.dtype.kind in "iu":  # for isinstance a timedelta is an integer, too
        return int(value)
    if isinstance(value, np.float64 | np.float32 | np.float16):
        return float(value)
    if isinstance(value, np.str_):
        return str(value)
    if isinstance(value, np.bytes_):
        return bytes(value)
    hint = "pass float(x), [z.real, z.imag], str(date), or an array of it"
    raise ValueInvalid(f"a {_name(value)} scalar has no exact Python number", hint=hint)


def write_array(array: Any) -> tuple[str, bytes]:
    """Return a summary of an array for display, and its `.npy` bytes."""
    if type(array) is not np.ndarray:
        hint = "pass numpy.asarray(x)"
        raise ValueInvalid(f"{_name(array)} would come back as a plain array", hint=hint)
    _check_dtype(array.dtype)
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    header = _header(array.dtype.str, array.shape, fortran=fortran)
    return _summary(array), header + array.tobytes("F" if fortran else "C")


def read_array(data: bytes) -> tuple[str, Any]:
    """Return summary and array from `write_array`'s bytes; raises ValueInvalid for any others."""
    end = len(MAGIC) + 2
    end += int.from_bytes(data[end - 2 : end], "little")
    dtype, shape, fortran = _parsed(data[:end])
    size = math.prod(shape) * dtype.itemsize
    if size != len(data) - end:
        raise ValueInvalid(f"an array of {size:,} bytes with {len(data) - end:,} bytes of data")
    array = np.empty(shape, dtype, order="F" if fortran else "C")
    array.reshape(-1, order="A").view(np.uint8)[:] = np.frombuffer(data, np.uint8, offset=end)
    return _summary(array), array


def _summary(array: Any) -> str:
    return f"{array.dtype} {array.shape}"


def _header(dtype: str, shape: tuple[int, ...], *, fortran: bool) -> bytes:
    text = f"{{'descr': {dtype!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}"
    start = len(MAGIC) + 2
    size = -(-(start + len(text) + 1) // ALIGN) * ALIGN - start
    return MAGIC + size.to_bytes(2, "little") + text.ljust(size - 1).encode() + b"\n"


def _parsed(header: bytes) -> tuple[Any, tuple[int, ...], bool]:
    """Parse a header; accept only the bytes that `_header` writes."""
    try:
        fields = ast.literal_eval(header[len(MAGIC) + 2 :].decode("ascii").strip())
        descr, shape, fortran = fields["descr"], fields["shape"], fields["fortran_order"]
        dtype = np.dtype(descr)
        _check_dtype(dtype)
        is_shape = type(shape) is tuple and all(type(n) is int and n >= 0 for n in shape)
        if is_shape and _header(dtype.str, shape, fortran=bool(fortran)) == header:
            return dtype, shape, bool(fortran)
    except ValueInvalid:
        raise
    except (ValueError, TypeError, KeyError, SyntaxError, MemoryError, RecursionError):
        pass
    raise ValueInvalid("not an array in .npy format, version 1.0")


def _check_dtype(dtype: Any) -> None:
    """Refuse dtypes with Python objects or undefined padding, or that do not round-trip."""
    if dtype.hasobject:
        hint = "give it a numeric or fixed-width dtype, or pass a list"
        raise ValueInvalid("an array of Python objects (dtype object) is not stored", hint=hint)
    is_long = dtype.char in "gG"  # undefined padding bytes, platform-dependent size
    if dtype.kind not in KINDS or is_long or np.dtype(dtype.str) != dtype or not dtype.itemsize:
        hint = "split a structured array into arrays or a table; long double: astype(float)"
        raise ValueInvalid(f"an array of dtype {str(dtype)[:60]} is not stored", hint=hint)


def _name(value: object) -> str:
    return f"{type(value).__module__.partition('.')[0]}.{type(value).__qualname__}"
