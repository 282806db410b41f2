"""The URLs of the live page, each a read-only GET. Knows requests, not files.

/                     list of runs          /run/ID                one run
/updates              the list, live        /run/ID/updates        its overview, live
/compare?runs=ID,ID   some runs             /run/ID/tasks …        its views
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from importlib.resources import files

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from weft.errors import WeftError
from weft.inspect.report.curve import read_progress
from weft.inspect.serve.compare import MAX_RUNS, MIN_RUNS
from weft.inspect.serve.downloads import KINDS, download
from weft.inspect.serve.guard import FRAME_POLICY, Gate, Guard
from weft.inspect.serve.ledgerrows import record_number
from weft.inspect.serve.live import Stopping, stream
from weft.inspect.serve.rows import TaskQuery, read_rows
from weft.inspect.serve.rundirectory import RunDirectory, ServedRun
from weft.inspect.serve.views import SHARED, Views
from weft.model.values import JsonValue

PARTS = ("totals", "timeline", "events", "request")
_REPORT, _SERVE = "weft.inspect.report", "weft.inspect.serve"
STATIC = {
    "report.css": (_REPORT, "templates/report.css", "text/css"),
    "live.css": (_SERVE, "static/live.css", "text/css"),
    **{name: (_REPORT, f"templates/{name}", "text/javascript") for name in SHARED},
    **{
        name: (_SERVE, f"static/{name}", "text/javascript")
        for name in ("live.js", "run.js", "runs.js", "compare.js")
    },
}
"""Every static file, by the name in its URL."""
Endpoint = Callable[[Request], Awaitable[Response]]
ReadRun = Callable[[ServedRun, Request], JsonValue]


def new_app(directory: RunDirectory, views: Views, gate: Gate, stopping: Stopping) -> Starlette:
    """Return the application behind its guard."""
    pages = Pages(directory, views, stopping)
    of_run: dict[str, ReadRun] = {
        "tasks": lambda run, request: read_rows(run.path, TaskQuery.parse(request.query_params)),
        "ledger": pages.ledger,
        "record": lambda run, request: record_number(run.path, request.query_params.get("key", "")),
        "values": lambda run, _: views.values(run),
        "progress": lambda run, _: read_progress(run.path),
        "verdict": lambda run, _: views.verdict(run),
        "pages": lambda run, _: [*views.page_titles(run)],
        **{name: partial(_part, views, name) for name in PARTS},
    }
    routes = [
        Route("/", pages.index),
        Route("/updates", pages.index_updates),
        Route("/compare", pages.compare),
        Route("/compare/updates", pages.compare_updates),
        Route("/run/{id}", pages.run),
        Route("/run/{id}/updates", pages.run_updates),
        Route("/run/{id}/page/{number:int}", pages.search_page),
        *(Route(f"/run/{{id}}/results.{kind}", pages.results(kind)) for kind in KINDS),
        *(Route(f"/run/{{id}}/{name}", pages.json_of(read)) for name, read in of_run.items()),
        *(Route(f"/static/{name}", _file(*where)) for name, where in STATIC.items()),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, gate=gate)])
    app.router.redirect_slashes = False
    return app


def _part(views: Views, name: str, run: ServedRun, _: Request) -> JsonValue:
    return views.part(run, name)


def _file(package: str, path: str, media_type: str) -> Endpoint:
    data = files(package).joinpath(path).read_bytes()

    async def respond(_: Request) -> Response:
        return Response(data, media_type=media_type)

    return respond


@dataclass(frozen=True, slots=True)
class Pages:
    """Handlers of requests; what reads files runs in a thread."""

    directory: RunDirectory
    views: Views
    stopping: Stopping

    # -- lists and comparisons ---------------------------------------------------------------

    async def index(self, _: Request) -> Response:
        """List the runs."""
        listing = await run_in_threadpool(self._listing)
        return HTMLResponse(self.views.page("index.html", **listing))

    async def index_updates(self, _: Request) -> Response:
        """Send the list whenever it changes."""
        return stream(self._listing, self.stopping)

    def _listing(self) -> dict[str, JsonValue]:
        runs = self.directory.runs()
        return {
            "rows": self.views.listing(runs),
            "runs": len(runs),
            "place": self.directory.root.name,
        }

    async def compare(self, request: Request) -> Response:
        """Show two to six runs side by side."""
        runs = await run_in_threadpool(self._chosen, request)
        return HTMLResponse(self.views.page("compare.html", runs=runs)) if runs else _not_found()

    async def compare_updates(self, request: Request) -> Response:
        """Send the comparison whenever it changes."""
        runs = await run_in_threadpool(self._chosen, request)
        if runs is None:
            return _not_found()
        return stream(lambda: {"html": self.views.comparison(runs)}, self.stopping)

    def _chosen(self, request: Request) -> list[ServedRun] | None:
        ids = request.query_params.get("runs", "").split(",")
        if not MIN_RUNS <= len(ids) <= MAX_RUNS:
            return None
        runs = [run for run in map(self.directory.find, ids) if run is not None]
        return runs if len(runs) == len(ids) else None

    # -- one run -----------------------------------------------------------------------------

    async def run(self, request: Request) -> Response:
        """Show one run."""
        run = await self._find(request)
        if run is None:
            return _not_found()
        return HTMLResponse(await run_in_threadpool(self.views.run_page, run))

    async def run_updates(self, request: Request) -> Response:
        """Send the overview whenever it changes; a missing run may come back."""
        return stream(partial(self._update, request.path_params["id"]), self.stopping)

    def _update(self, id_: str) -> dict[str, JsonValue]:
        run = self.directory.find(id_)
        return self.views.update(run) if run else {"trouble": "the run is missing now"}

    async def search_page(self, request: Request) -> Response:
        """Send one page that the run's search adds, to be shown in a frame."""
        run, number = await self._find(request), int(request.path_params["number"])
        html = await run_in_threadpool(self.views.search_page, run, number) if run else None
        if html is None:
            return _not_found()
        return HTMLResponse(html, headers={"content-security-policy": FRAME_POLICY})

    def results(self, kind: str) -> Endpoint:
        """Return an endpoint that sends all results of a run as a file."""

        async def respond(request: Request) -> Response:
            run = await self._find(request)
            if run is None:
                return _not_found()
            return await run_in_threadpool(download, run, kind)

        return respond

    def json_of(self, read: ReadRun) -> Endpoint:
        """Return an endpoint that sends what `read` returns for a run as JSON."""

        async def respond(request: Request) -> Response:
            run = await self._find(request)
            if run is None:
                return _not_found()
            return JSONResponse(await run_in_threadpool(_or_trouble, partial(read, run, request)))

        return respond

    def ledger(self, run: ServedRun, request: Request) -> JsonValue:
        """Return one page of records."""
        first, find = (request.query_params.get(name, "") for name in ("first", "find"))
        is_number = first.isascii() and first.isdigit() and len(first) < 16
        return self.views.ledgers.rows(run.path, int(first) if is_number else None, find)

    async def _find(self, request: Request) -> ServedRun | None:
        return await run_in_threadpool(self.directory.find, request.path_params["id"])


def _or_trouble(read: Callable[[], JsonValue]) -> JsonValue:
    """Return what is read, or why reading failed; the page tries again."""
    try:
        return read()
    except (WeftError, OSError) as error:
        return {"trouble": str(error)[:500]}


def _not_found() -> Response:
    return PlainTextResponse("no such page\n", 404)
