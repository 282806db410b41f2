"""`weft jobs` as a product, its parts given as import paths: listing it imports nothing."""

from __future__ import annotations

from weft import Product

PRODUCT = Product(
    name="jobs",
    summary="Run a list of scripts on the GPUs and CPUs of nodes, and collect their results.",
    app="weft.searches.jobs.cli:app",
    searches={"jobs.run": "weft.searches.jobs.search:jobs"},
    titles={"jobs.run": "Jobs"},
    pages="weft.searches.jobs.report:pages",
    lines="weft.searches.jobs.report:lines",
    command_needs="weft.searches.jobs.needs:command_needs",
    former_names={"weft.jobs.search:jobs": "jobs.run"},
)
