"""The exception by which a task's body ends its attempt as a fault or loss; used by commands."""

from __future__ import annotations

from weft.model.attempts import Finished, LossCause, Lost
from weft.model.results import TaskError


class Ending(Exception):  # noqa: N818 - an outcome, not an error of ours
    """Raised by a body to end its attempt as a given fault or loss."""

    def __init__(
        self,
        error: TaskError | None,
        *,
        lost: str = "",
        retriable: bool = False,
        detail: str = "",
        cause: LossCause = "worker",
    ) -> None:
        super().__init__(lost or (error.type if error else ""))
        self._error, self._lost = error, lost
        self._retriable, self.detail = retriable, detail
        self._cause: LossCause = cause

    @property
    def is_fault(self) -> bool:
        """Whether the attempt failed through its own fault and is not merely lost."""
        return self._error is not None

    @property
    def is_final(self) -> bool:
        """Whether no other attempt can follow."""
        return self._error is not None and not self._retriable

    def outcome(self, ticket: int) -> Finished | Lost:
        """Return the event for the coordinator."""
        if self._error is None:
            return Lost(ticket, self._lost, self.detail, self._cause)
        return Finished(ticket, error=self._error, retriable=self._retriable, detail=self.detail)
