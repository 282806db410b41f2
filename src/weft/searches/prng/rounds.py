"""The type of this package's search generators: what they yield, receive and return."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeAlias, TypeVar

from weft.model.plan import Plan
from weft.model.results import Result
from weft.model.tasks import Milestone, Round, TaskCall

T = TypeVar("T")
Rounds: TypeAlias = Generator[Sequence[TaskCall] | Round | Milestone | Plan, Sequence[Result], T]
"""Yields rounds of tasks, milestones and plans, receives the results of each round, returns T."""
