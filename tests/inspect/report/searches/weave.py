"""Searches whose runs are displayed: many tiny tasks, only failures, names that look like code."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import weft

SCRIPT = "</script><script>document.title='owned'</script>"
IMAGE = "<img src=x onerror=\"document.title='owned'\">"
BIDI = "a\u202egnp.exe\u2066\x07"


@weft.task
def tiny(i: int) -> int:
    if i % 25_000 == 777:
        raise ValueError(f"no {i}")
    return i * i


@weft.search(version=1)
def many(count: int):
    results = yield weft.lazy(count, tiny)
    return sum(r.ok for r in results)


@weft.task
def fail(x: int) -> int:
    raise ValueError(f"no {x}")


@weft.search(version=1)
def hopeless(count: int = 12):
    results = yield [fail(i) for i in range(count)]
    return results[0].value


@weft.task
def shout(text: str) -> str:
    """Fail with a long message, after an equally long note."""
    weft.note(**{f"<{i}>": text[:200] for i in range(5)})
    raise ValueError(text * 3)


@weft.search(version=1)
def wordy(count: int):
    yield [shout(f"{i}" + '<\u202e&"é' * 300) for i in range(count)]
    return "<&>" * 2000


@weft.task
def nap(x: int, ms: int) -> int:
    weft.note(slept_ms=ms)
    time.sleep(ms / 1000)
    return x


@weft.search(version=2)
def naps(rounds: int = 4):
    total = 0
    for number in range(rounds):
        results = yield [nap(i, 4 + (i * 7 + number) % 9) for i in range(12)]
        total += sum(r.value for r in results)
    return {"total": total}


@weft.task
def echo(text: str) -> str:
    weft.note(said=text)
    if text.startswith("a"):
        raise ValueError(text)
    return text


@weft.search(version=1)
def one(text: str):
    results = yield [echo(text)]
    return results[0].value


@weft.search(version=1)
def hostile():
    yield weft.lanes({SCRIPT.replace("/", "|"): one(IMAGE)})
    results = yield [echo(SCRIPT), echo(IMAGE), echo(BIDI)]
    return [r.value if r.ok else BIDI for r in results]


@weft.task
def lose(marker: str) -> str:
    """Kill the worker once."""
    path = Path(marker)
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


@weft.search(version=1)
def shaken(folder: str):
    yield [lose(f"{folder}/lost"), fail(1), nap(2, 3)]
    return "over"
