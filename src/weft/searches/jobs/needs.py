"""The secret variables that jobs need from a machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.model.codec import from_json
from weft.product import CommandNeeds
from weft.searches.jobs.job import Job


def command_needs(args: Mapping[str, Any]) -> CommandNeeds:
    """Return the names of all variables that jobs take from their node."""
    jobs = [from_json(Job, raw) for raw in args["jobs"]]
    return CommandNeeds(variables=tuple(sorted({n for job in jobs for n in job.env_from})))
