"""Server-sent events: polls a run and sends its state whenever it has changed.

A read may take long on a run of millions of tasks; the pause after it is three times as long, up
to a limit, so that watching does not slow down the run.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable

import anyio
from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool

from weft.errors import WeftError
from weft.model.values import JsonValue

READ_EVERY_S = 0.25
REST_SHARE = 3
MAX_REST_S = 5.0
PING_S = 15
Stopping = Callable[[], bool]


def stream(read: Callable[[], dict[str, JsonValue]], stopping: Stopping) -> EventSourceResponse:
    """Respond with events named `update`; data is JSON, with `trouble` if reading failed."""
    return EventSourceResponse(_events(read, stopping), ping=PING_S)


async def _events(
    read: Callable[[], dict[str, JsonValue]], stopping: Stopping
) -> AsyncIterator[ServerSentEvent]:
    last = ""
    while not stopping():
        start_s = time.monotonic()
        text = await run_in_threadpool(_try, read)
        if text != last:
            last = text
            yield ServerSentEvent(text, event="update")
        taken_s = time.monotonic() - start_s
        await anyio.sleep(min(MAX_REST_S, max(READ_EVERY_S, REST_SHARE * taken_s)))


def _try(read: Callable[[], dict[str, JsonValue]]) -> str:
    try:
        update = read()
    except (WeftError, OSError) as error:
        update = {"trouble": str(error)[:500]}
    return json.dumps(update, ensure_ascii=False, separators=(",", ":"))
