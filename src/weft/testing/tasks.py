"""Tasks that behave and misbehave in every way a backend must cope with."""

from __future__ import annotations

import os
import signal
import sys
import time

import weft


@weft.task
def echo(value: object) -> object:
    """Return the argument."""
    return value


@weft.task
def seeded(x: int, *, seed: int = weft.SEED) -> int:
    """Return the seed that the engine passed."""
    del x
    return seed


@weft.task
def pid() -> int:
    """Return the id of the process that runs the task."""
    return os.getpid()


@weft.task
def nap(seconds: float) -> float:
    """Sleep."""
    time.sleep(seconds)
    return seconds


@weft.task
def fail(message: str) -> None:
    """Raise."""
    raise ValueError(message)


@weft.task
def temporary() -> None:
    """Fail temporarily."""
    raise weft.Temporary("try again")


@weft.task
def invalid() -> object:
    """Return something that is not a value."""
    return {1, 2}


@weft.task
def leave(code: int) -> None:
    """End the interpreter politely."""
    sys.exit(code)


@weft.task
def vanish(code: int) -> None:
    """End the process at once."""
    os._exit(code)


@weft.task
def kill_self(number: int) -> None:
    """Send a signal to this process and wait."""
    os.kill(os.getpid(), number)
    signal.pause()


@weft.task
def fetch(reference: weft.Object) -> int:
    """Read an object."""
    return len(weft.get(reference))


@weft.task
def stored(text: str) -> weft.Object:
    """Store a text as bytes and note its length."""
    weft.note(length=len(text))
    return weft.put(text.encode())


@weft.task
def odd(x: int) -> int:
    """Return an odd number; fail with an even one."""
    if x % 2 == 0:
        raise ValueError(f"{x} is even")
    return x


@weft.task
def odd_or_gone(x: int) -> int:
    """Return an odd number; end the process with an even one."""
    if x % 2 == 0:
        os._exit(3)
    return x


@weft.task
def shout(text: str) -> str:
    """Print a text, unless it is empty."""
    if text:
        print(text)
    return text
