"""Renders a report's templates: every text is made visible, then escaped.

Owns the Jinja environment and the report's content security policy; knows nothing of runs.
"""

from __future__ import annotations

import base64
import hashlib
import shlex

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from weft.inspect.report import text
from weft.inspect.report.tasks import TaskFacts

SCRIPTS = (
    "kit.js", "columns.js", "scales.js", "plot.js", "selection.js", "valuecharts.js",
    "parallel.js", "valuefilters.js", "values.js", "progress.js", "tasks.js", "timeline.js",
    "finder.js", "report.js",
)  # fmt: skip
"""The files that make up the one script of a report, in this order."""
LEAST_SHARE = 0.6
"""Minimum width of the bar of a count above zero, in percent, so that it is visible."""


def new_environment(*packages: str) -> Environment:
    """Return an environment with the templates of `packages`, then those of the report."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(p) for p in (*packages, "weft.inspect.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(
        duration=text.duration,
        number=text.number,
        rate=text.rate,
        percent=text.percent,
        short_digests=text.short_digests,
        quoted=shlex.quote,
        moment=text.moment,
        place=_place,
        share_of=_share_of,
    )
    environment.globals.update(some=text.some, counted=text.counted)
    return environment


def source_of(environment: Environment, name: str) -> str:
    """Return a template file unrendered."""
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def script_policy(script: str) -> str:
    """Return a content security policy that allows this script and forbids fetching anything."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


def _finalize(value: object) -> object:
    is_plain = isinstance(value, str) and not isinstance(value, Markup)
    return text.visible(str(value)) if is_plain else value


def _place(task: TaskFacts) -> str:
    return f"{task.lane or '/'} : {task.round} : {task.index}"


def _share_of(count: int, most: int) -> str:
    """Return a count as a percentage of the largest one, for the width of a bar."""
    share = 100 * count / most if most else 0.0
    return f"{max(share, LEAST_SHARE) if count else 0:.4g}"
