"""`@weft.search`: a generator that yields rounds of tasks and returns the answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, ParamSpec, TypeAlias, overload

from weft import loaded
from weft.define.functions import plain_signature, source_of, takes_keyword
from weft.define.names import declared
from weft.errors import SearchInvalid
from weft.model.tasks import Code, SearchBody, SearchCall
from weft.model.values import Argument, Object

P = ParamSpec("P")
Libraries: TypeAlias = tuple[str, ...] | Callable[[Mapping[str, Argument]], tuple[str, ...]]
CONTEXT = ("seed", "inputs", "budget")
"""Keyword-only parameters that the engine fills in: all for a search, `seed` for a task."""
INPUTS: Final[Mapping[str, Object]] = MappingProxyType({})
"""`*, inputs: Mapping[str, weft.Object] = weft.INPUTS`: like `SEED`, for a search's inputs."""


@overload
def search(
    function: Callable[P, SearchBody],
    /,
    *,
    version: int,
    name: str | None = None,
    libraries: Libraries = (),
    failures_expected: bool = False,
) -> Callable[P, SearchCall]: ...
@overload
def search(
    *,
    version: int,
    name: str | None = None,
    libraries: Libraries = (),
    failures_expected: bool = False,
) -> Callable[[Callable[P, SearchBody]], Callable[P, SearchCall]]: ...
def search(
    function: Callable[P, SearchBody] | None = None,
    /,
    *,
    version: int,
    name: str | None = None,
    libraries: Libraries = (),
    failures_expected: bool = False,
) -> Callable[P, SearchCall] | Callable[[Callable[P, SearchBody]], Callable[P, SearchCall]]:
    """Declare a search: a generator that yields rounds of tasks and returns the answer.

    `function` may be given directly, as in `climb = weft.search(body, version=1)`.
    `version` is part of a run's identity: raise it when the search decides differently.
    `name`, such as `pricing.fit`, identifies the search in the ledger instead of its import path.
    `libraries` names installed packages whose version can change the outcome, or is a function that
    returns them for the search's arguments. `failures_expected` declares that many failed tasks are
    normal: no warning, exit code 0. Keyword-only parameters `seed`, `inputs` and `budget` are
    filled in by Weft.

    >>> import weft
    >>> @weft.search(version=1)
    ... def nothing():
    ...     yield []
    ...     return 7
    >>> nothing().version
    1
    """
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise SearchInvalid(f"version must be an integer of 1 or more, not {version!r}")

    def declare(body: Callable[P, SearchBody]) -> Callable[P, SearchCall]:
        declaration = _declare_search(body, name, version, libraries, failures_expected)

        def call(*args: P.args, **kwargs: P.kwargs) -> SearchCall:
            # from the attribute: a notebook's %autoreload puts a newer declaration there
            current: SearchDeclaration = call.declaration  # type: ignore[attr-defined] # set below
            return current.bind(args, kwargs)  # type: ignore[arg-type] # values are checked by bind

        call.__doc__, call.__name__, call.__qualname__ = body.__doc__, body.__name__, body.__name__
        call.__module__, call.__wrapped__ = body.__module__, body  # type: ignore[attr-defined] # marks the function
        call.declaration, call.is_search = declaration, True  # type: ignore[attr-defined] # marks the function
        call.search_name = declaration.name  # type: ignore[attr-defined] # marks the function
        return call

    return declare if function is None else declare(function)


@dataclass(frozen=True, slots=True)
class SearchDeclaration:
    """What `@weft.search` knows about a search: all that a call needs besides its arguments."""

    name: str
    version: int
    body: Callable[..., SearchBody]
    libraries: Libraries
    needs: tuple[str, ...]
    code: Code
    failures_expected: bool
    source: loaded.LoadedSource | None
    signature: inspect.Signature

    def bind(self, args: Sequence[Argument], kwargs: Mapping[str, Argument]) -> SearchCall:
        """Describe a call with these arguments; defaults are filled in and recorded."""
        try:
            binding = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise SearchInvalid(f"call of search {self.name}: {error}") from None
        binding.apply_defaults()
        values, libraries = binding.arguments, self.libraries
        return SearchCall(
            self.name, self.version, values, self.body,
            libraries(values) if callable(libraries) else libraries, self.needs,
            self.code, self.failures_expected, self.source,
        )  # fmt: skip


def _declare_search(
    body: Callable[..., SearchBody],
    name: str | None,
    version: int,
    libraries: Libraries,
    failures_expected: bool,
) -> SearchDeclaration:
    known_as, code = declared(body, "search", name)
    if not inspect.isgeneratorfunction(body):
        raise SearchInvalid(f"search {known_as} never yields", hint="yield rounds of tasks")
    signature = plain_signature(body, known_as)
    needs = tuple(word for word in CONTEXT if takes_keyword(signature, word))
    parameters = [p for p in signature.parameters.values() if p.name not in needs]
    public = inspect.Signature(parameters)
    source = source_of(body)
    return SearchDeclaration(
        known_as, version, body, libraries, needs, code, failures_expected, source, public
    )
