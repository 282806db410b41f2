"""Server-sent events: looks again and again and sends what changed.

A look may take long on a run of millions; between two of them it rests at least as long as three
looks took, so that watching never takes the machine from the work.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool

from weft.errors import WeftError

LOOK_EVERY_S = 0.25
REST_SHARE = 3
MAX_REST_S = 5.0
PING_S = 15
Stopping = Callable[[], bool]


def stream(look: Callable[[], dict[str, Any]], stopping: Stopping) -> EventSourceResponse:
    """Answer with events named `look`; data is JSON, `trouble` in it says what cannot be read."""
    return EventSourceResponse(_looks(look, stopping), ping=PING_S)


async def _looks(
    look: Callable[[], dict[str, Any]], stopping: Stopping
) -> AsyncIterator[ServerSentEvent]:
    last = ""
    while not stopping():
        start_s = time.monotonic()
        text = await run_in_threadpool(_try, look)
        if text != last:
            last = text
            yield ServerSentEvent(text, event="look")
        taken_s = time.monotonic() - start_s
        await anyio.sleep(min(MAX_REST_S, max(LOOK_EVERY_S, REST_SHARE * taken_s)))


def _try(look: Callable[[], dict[str, Any]]) -> str:
    try:
        found = look()
    except (WeftError, OSError) as error:
        found = {"trouble": str(error)[:500]}
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))
