"""Options that several commands share, declared once: a dataclass with a field per option.

    @app.command()
    @with_groups
    def solve(out: options.Out, execution: Execution, as_json: options.AsJson = False) -> None: ...

typer sees one option per field, in the order of the fields, in place of the group; the function
receives the dataclass. Knows no particular command or option.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def with_groups(function: Callable[..., None]) -> Callable[..., None]:
    """Replace parameters that are dataclasses by parameters for their fields."""
    hints = get_type_hints(function, include_extras=True)
    groups = {name: hints[name] for name in signature(function).parameters}
    groups = {name: group for name, group in groups.items() if is_dataclass(group)}

    @functools.wraps(function)
    def command(**values: Any) -> None:
        built = {name: group(**_taken(values, group)) for name, group in groups.items()}
        function(**values, **built)

    parameters = list(_parameters(function, hints, groups))
    command.__dict__["__signature__"] = Signature(parameters)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _taken(values: dict[str, Any], group: Any) -> dict[str, Any]:
    """Remove the values of a group from `values` and return them."""
    return {field.name: values.pop(field.name) for field in fields(group)}


def _parameters(
    function: Callable[..., None], hints: Mapping[str, Any], groups: Mapping[str, Any]
) -> Iterator[Parameter]:
    for name, parameter in signature(function).parameters.items():
        if name not in groups:
            yield parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])
            continue
        types = get_type_hints(groups[name], include_extras=True)
        for field in fields(groups[name]):
            yield Parameter(
                field.name,
                Parameter.KEYWORD_ONLY,
                default=_default(field),
                annotation=types[field.name],
            )


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return Parameter.empty if field.default is MISSING else field.default
