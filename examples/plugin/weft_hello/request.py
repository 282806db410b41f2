"""What a user asks of `weft hello`, checked before the run starts."""

from dataclasses import dataclass

from weft.errors import UsageError
from weft_hello.tasks import ALPHABET

MAX_LETTERS = 200


@dataclass(frozen=True, slots=True)
class Request:
    """The text to find, and the effort to spend on it."""

    text: str
    families: int
    children: int
    generations: int

    def __post_init__(self) -> None:
        unknown = sorted(set(self.text) - set(ALPHABET))
        if unknown:
            raise UsageError(
                f"TEXT has {unknown[0]!r}", hint=f"its letters must be of {ALPHABET!r}"
            )
        if not 1 <= len(self.text) <= MAX_LETTERS:
            raise UsageError(f"TEXT must have 1 to {MAX_LETTERS} letters, not {len(self.text)}")
        for name in ("families", "children", "generations"):
            if not 1 <= getattr(self, name) <= 10_000:
                raise UsageError(f"--{name} must be 1 to 10000, not {getattr(self, name)}")
