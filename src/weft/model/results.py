"""The outcome of a task: a value or an error, always read from its canonical text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from weft.model.card import card
from weft.model.records import ValueSource, rebuild, rebuild_args
from weft.model.values import Value, canonical, decode_trusted, from_wire, parse_trusted
from weft.model.wording import readable

COMMAND: Final = "weft.command"
"""The declared name of the task behind every external command."""
TIMING_TYPES: Final = ("out-of-memory", "timeout", "worker-died")
"""Error types that might not occur on another machine or another day."""


@dataclass(frozen=True, slots=True)
class TaskError:
    """Why a task failed: all that the ledger and the search learn about it.

    `type` is `exception`, `timeout`, `out-of-memory`, `crashed`, `worker-died`, `result-invalid`
    or another kind of failure; `stage` says where it happened, `exit_code` how a command ended.
    """

    type: str
    stage: str
    exit_code: int | None = None

    def to_text(self) -> str:
        """Return the canonical text."""
        return canonical({"exit_code": self.exit_code, "stage": self.stage, "type": self.type})

    @staticmethod
    def from_text(text: str) -> TaskError:
        """Read what `to_text` wrote."""
        raw: Any = decode_trusted(text)
        return TaskError(raw["type"], raw["stage"], raw["exit_code"])


class TaskFailed(Exception):  # noqa: N818 - a search reads it as a state, not as our error
    """A search used the value of a failed task; uncaught, it makes the lane's answer UNKNOWN."""

    def __init__(self, result: Result) -> None:
        assert result.error is not None
        super().__init__(f"{result.function} #{result.index} failed: {result.error.type}")
        self.result = result


class Result:
    """One task's outcome; the search sees the same live and on replay.

    `value` raises `TaskFailed` if the task failed, so that no answer is built on a missing value.
    """

    __slots__ = (
        "_args",
        "_args_text",
        "_source",
        "_value",
        "_value_text",
        "error",
        "function",
        "index",
        "key",
    )
    json_hint: ClassVar = "pass its .value"
    """Advice on what to pass instead where only JSON values are allowed."""

    def __init__(
        self,
        index: int,
        key: str,
        function: str,
        args_text: str,
        value_text: str | None,
        error: TaskError | None,
        source: ValueSource | None = None,
    ) -> None:
        assert (value_text is None) != (error is None)
        self.index = index
        self.key = key
        self.function = function
        self.error = error
        self._args_text = args_text
        self._value_text = value_text
        self._args: Value = None
        self._value: Value = None
        self._source = source

    @property
    def ok(self) -> bool:
        """Whether the task returned a value."""
        return self.error is None

    @property
    def value(self) -> Any:
        """The returned value, decoded from its recorded text."""
        if self._value_text is None:
            raise TaskFailed(self)
        if self._value is None:
            raw = parse_trusted(self._value_text)
            self._value = self._untagged(raw) if '"$' in self._value_text else raw
        return self._value

    @property
    def args(self) -> Any:
        """The arguments by name, decoded from their recorded text; for a command, its `args`."""
        if self._args is None:
            args: Any = decode_trusted(self._args_text)
            if self._source is not None and '"$t"' in self._args_text:
                args = rebuild_args(args, self._source.types(self.function), self._source.read)
            self._args = args["args"] if self.function == COMMAND else args
        return self._args

    def _untagged(self, raw: Any) -> Any:
        """Rebuild what the task returned from its tagged form."""
        value = from_wire(raw)
        if self._source is None or '"$t"' not in (self._value_text or ""):
            return value
        hint = self._source.types(self.function).returns
        return rebuild(value, hint, self._source.read)

    @property
    def args_text(self) -> str:
        """The arguments as recorded."""
        return self._args_text

    @property
    def outcome_text(self) -> str:
        """The value as recorded, or the reason for its absence."""
        return f"failed: {self.error.type}" if self.error else self._value_text or ""

    def __repr__(self) -> str:
        args, outcome = readable(self._args_text), readable(self.outcome_text)
        return f"<Result {self.index} {self.function}({args}) {outcome}>"

    def _repr_html_(self) -> str:
        title = f"Result {self.index} of {self.function}"
        outcome = "error" if self.error else "value"
        texts = readable(self.args_text), readable(self.outcome_text)
        return card(title, (("arguments", texts[0]), (outcome, texts[1]), ("key", self.key)))


class Temporary(Exception):  # noqa: N818 - what a task says, not our error
    """Raised by a task for a temporary failure: retried up to `retries` times."""
