"""The report as one HTML file: no network access, and one script, named by hash in its policy.

gather ─► template + payload + pages of the search ─► text ─► RUN/report.html
"""

from __future__ import annotations

import errno
import shlex
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from weft.errors import FileInvalid
from weft.inspect.report.columnpack import pack_table
from weft.inspect.report.data import Report, gather
from weft.inspect.report.drawing import Figures, draw_timeline
from weft.inspect.report.hook import Page, pages_for
from weft.inspect.report.payload import build_payload
from weft.inspect.report.templating import SCRIPTS, new_environment, script_policy, source_of
from weft.inspect.report.view import MAX_PAGE_BYTES, RunView
from weft.model.values import JsonValue
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.heads import HeadsList

FILE_NAME = "report.html"
UNWRITABLE = (errno.EACCES, errno.ENOENT, errno.ENOTDIR, errno.EPERM, errno.EROFS)
"""Errors for a path where no file can be created: the report can be written elsewhere."""
MAX_BYTES = 1_990_000
"""Size up to which the pages of a search may fill a report; leaves room for their markup."""
MAX_VALUES_BYTES = 1_200_000
"""Maximum size of the columns of values."""
STATIC_TASKS = 60
"""Number of rows that can be read without the script."""
STATIC_RECORDS = 30


def write_report(run: Path, heads: HeadsList, out: Path | None = None) -> Path:
    """Write the report atomically to `out` or RUN/report.html; return the path.

    Raises FileInvalid or RunFolderInvalid if `run` is not a run or `out` cannot be written.
    Damage is not raised but shown.
    """
    target = out or run / FILE_NAME
    _check_target(target, run)
    html = render_report(run, heads).encode("utf-8", "backslashreplace")
    try:
        Disk().replace(target, html)
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        raise FileInvalid(
            f"{target} cannot be written: {error.strerror}", hint="choose another --out"
        ) from None
    return target


def _check_target(target: Path, run: Path) -> None:
    """Refuse a folder, and to overwrite a file of the run."""
    if target.is_dir():
        raise FileInvalid(f"{target} is a folder", hint="give --out a file's name")
    inside = target.resolve().is_relative_to(run.resolve())
    if inside and target.suffix != ".html":
        raise FileInvalid(
            f"{target} is inside the run, where only .html files may be written",
            hint="choose another --out",
        )


def render_report(run: Path, heads: HeadsList) -> str:
    """Return the report of a run as HTML, with the pages of its search."""
    report = gather(run, heads)
    search = RunFolder(run).read_run_file().search
    bare = len(render(report, ()).encode("utf-8", "backslashreplace"))
    pages = pages_for(RunView(run, search, max(0, min(MAX_PAGE_BYTES, MAX_BYTES - bare))))
    table, values = report.details.values, None
    if table is not None:
        filled = sum(len(page.html.encode("utf-8", "backslashreplace")) for page in pages)
        values = pack_table(table, min(MAX_VALUES_BYTES, MAX_BYTES - bare - filled))
    return render(report, pages, values)


def render(
    report: Report, pages: Sequence[Page], values: dict[str, JsonValue] | None = None
) -> str:
    """Render the template; every text is made visible, then escaped."""
    environment = new_environment()
    script = "".join(source_of(environment, name) for name in SCRIPTS)
    details, run_name = report.details, shlex.quote(report.overview.name)
    return environment.get_template("report.html").render(
        live=False,
        report=report,
        overview=report.overview,
        badge=report.badge,
        troubles=report.troubles,
        details=details,
        work=details.work,
        totals=details.totals,
        events=details.events,
        shown=Figures(report.overview, details.work, details.totals),
        drawn=draw_timeline(details.work),
        pages=pages,
        has_values=values is not None,
        run_name=run_name,
        tasks=details.tasks.rows[:STATIC_TASKS],
        records=report.ledger.records[:STATIC_RECORDS],
        script=Markup(script),  # noqa: S704 - our own files
        style=Markup(source_of(environment, "report.css")),  # noqa: S704 - our own file
        policy=script_policy(script),
        payload=Markup(build_payload(report, run_name, values)),  # noqa: S704 - `<`, `>`, `&` are escaped
    )
