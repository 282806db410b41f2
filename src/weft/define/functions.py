"""Which functions can be declared, and what is known about them: signature, limits, source."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from weft import loaded
from weft.errors import SearchInvalid
from weft.model.tasks import Limits

P = ParamSpec("P")
R = TypeVar("R")


def source_of(function: Callable[P, R]) -> loaded.LoadedSource | None:
    """Record and return the source file of a function; None if typed into a cell or a prompt."""
    typed = getattr(function, "__code__", None)
    if typed is None or typed.co_filename.startswith("<"):
        return None
    return loaded.note(function.__module__)


def refuse_unusual(function: Callable[P, R], name: str) -> None:
    """Refuse async functions and generators: calling them returns no value."""
    if inspect.iscoroutinefunction(function):
        raise SearchInvalid(
            f"task {name} is async", hint="write a plain function, with asyncio.run(…) inside"
        )
    if inspect.isgeneratorfunction(function):
        raise SearchInvalid(f"task {name} yields", hint="return its values, as one list")


def plain_signature(function: Callable[P, R], name: str) -> inspect.Signature:
    """Return the signature of a function whose arguments can all be recorded by name."""
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise SearchInvalid(
                f"{name} takes *{parameter.name}; arguments are recorded by name",
                hint="name each parameter, or take one list or dict",
            )
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise SearchInvalid(f"{name}: parameter {parameter.name} must not be positional-only")
    return signature


def takes_keyword(signature: inspect.Signature, word: str) -> bool:
    """Whether there is a keyword-only parameter of that name, which Weft fills in."""
    parameter = signature.parameters.get(word)
    return parameter is not None and parameter.kind is parameter.KEYWORD_ONLY


def checked_limits(
    timeout_s: float | None,
    retries: int | None,
    memory_mb: int | None,
    gpu: int,
    group: str | None,
) -> Limits:
    """Return the limits of an attempt; refuse impossible ones."""
    if timeout_s is not None and not timeout_s > 0:
        raise SearchInvalid(f"timeout_s must be above 0, not {timeout_s!r}")
    if retries is not None and not 0 <= retries <= 100:
        raise SearchInvalid(f"retries must be 0 to 100, not {retries!r}")
    if memory_mb is not None and memory_mb < 1:
        raise SearchInvalid(f"memory_mb must be 1 or more, not {memory_mb!r}")
    if gpu not in (0, 1):
        raise SearchInvalid(f"gpu must be 0 or 1, not {gpu!r}")
    return Limits(timeout_s, retries, memory_mb, gpu, group)
