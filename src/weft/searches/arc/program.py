"""Programs: chains of operators from the input `I` to a grid, as text and as something to run.

    a = objects_8(I)
    b = pick_most_cells(a)
    return object_grid(b)

The text is the program: it can be written by hand, stored, parsed and run anywhere. A program may
end with a fitted rule, which has parameters: `return colour_map(b, "1:2 3:4")`. It may begin with a
view (`view lines_lie`): then `I` is the viewed input, and the view is undone on the result. A view
of the background (`view ground_black "8"`) may be followed by another one. A program that was
learned without one of the training pairs names it below the views (`without pair 2`): it claims
nothing about that pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from weft.errors import InputError, ValueInvalid
from weft.searches.arc.fitted import registry as fitted
from weft.searches.arc.normal import registry as views
from weft.searches.arc.normal.registry import FittedView
from weft.searches.arc.normal.view import GroundBlack
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.values import Grid, Value, ValueStage, fits

_LINE = re.compile(
    r"(?:(?P<target>[a-z]{1,2}) = |return )(?P<name>[a-z][a-z0-9_]*)"
    r'\((?P<argument>I|[a-z]{1,2})(?:, "(?P<parameters>[^"\\]*)")?\)'
)
_VIEW = re.compile(r'view (?P<name>[a-z][a-z0-9_]*)(?: "(?P<parameters>[^"\\]*)")?')
_WITHOUT = re.compile(r"without pair (?P<pair>[1-9][0-9]?)")
VIEW_UNDONE = "view_undone"
"""The last step of a program with a view."""


@dataclass(frozen=True, slots=True)
class Program:
    """A chain of operator names; `parameters` are those of a final fitted rule, as text."""

    names: tuple[str, ...]
    fitted: str = ""
    parameters: str = ""
    view: FittedView | None = None
    without_pair: int = 0
    """The training pair, counted from 1, that the program was learned without; 0 if none."""

    def text(self) -> str:
        """Return the program as single-assignment lines, below its view and the omitted pair."""
        view = "" if self.view is None else f"{self.view.text()}\n"
        omitted = f"without pair {self.without_pair}\n" if self.without_pair else ""
        return view + omitted + self.step_lines()

    def step_lines(self) -> str:
        """Return the lines of the steps alone."""
        calls = [(name, None) for name in self.names]
        if self.fitted:
            calls.append((self.fitted, self.parameters))  # type: ignore[arg-type]
        if not calls:
            return "return I\n"
        lines, argument = [], "I"
        for i, (name, parameters) in enumerate(calls):
            arguments = argument if parameters is None else f'{argument}, "{parameters}"'
            last = i == len(calls) - 1
            argument = _letter(i)
            lines.append(f"{'return' if last else argument + ' ='} {name}({arguments})")
        return "\n".join(lines) + "\n"

    def through(self, view: FittedView) -> Program:
        """Return the program for tasks that a view turns into the one it was found for."""
        if self.view is not None and self.view.layers()[0] == view:  # two exchanges cancel out
            return replace(self, view=self.view.below)
        return replace(self, view=replace(view, below=self.view))

    def millibits(self) -> int:
        """Return the description length of the program."""
        cost = sum(BY_NAME[name].millibits for name in self.names)
        cost += 0 if self.view is None else self.view.millibits()
        if self.fitted:
            rule = fitted.BY_NAME[self.fitted]
            cost += rule.price(rule.parse(self.parameters))
        return cost

    def steps(self, given: Grid) -> Iterator[tuple[str, ValueStage, Value | None]]:
        """Run with the slow operators; yield each step's name, stage and value, None for a failure.

        A failure ends the steps. With a view, the first step is the viewed input and the last one
        undoes the view; a second view is a step too.
        """
        if self.view is None:
            yield from self._steps(given)
            return
        grid = given
        for view in self.view.layers():
            grid = view.symmetry(grid).apply(grid)
            yield view.name, ValueStage.GRID, grid
        value: Value | None = grid
        for step in self._steps(grid):
            yield step
            value = step[2]
        if value is not None:
            assert isinstance(value, Grid)
            yield VIEW_UNDONE, ValueStage.GRID, self.view.symmetry(given).undo(value)

    def _steps(self, given: Grid) -> Iterator[tuple[str, ValueStage, Value | None]]:
        value: Value = given
        for name in self.names:
            operator = BY_NAME[name]
            result = operator.plain(value, given)
            if result is not None and not fits(operator.gives, result):
                result = None
            yield name, operator.gives, result
            if result is None:
                return
            value = result
        if self.fitted:
            assert isinstance(value, Grid)
            rule = fitted.BY_NAME[self.fitted]
            yield (
                self.fitted,
                ValueStage.GRID,
                rule.apply(rule.parse(self.parameters), value, given),
            )

    def run(self, given: Grid) -> Grid | None:
        """Return the program's output for an input, or None if it fails."""
        value: Value | None = given
        for _, _, value in self.steps(given):
            if value is None:
                return None
        assert isinstance(value, Grid)
        return value


def parse(text: str, where: str = "program") -> Program:
    """Parse a program's text; raises `InputError` that names the wrong line."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    total = len(lines)
    view, lines = _parsed_views(lines, where)
    without, lines = _parsed_omission(lines)
    above = total - len(lines)
    if lines == ["return I"]:
        return Program((), view=view, without_pair=without)
    names: list[str] = []
    stage, argument, parameters = ValueStage.GRID, "I", None
    for number, line in enumerate(lines, 1 + above):
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise InputError(f"{where}, line {number}: {line[:60]!r} is not a step of a program")
        last = number == len(lines) + above
        if (match["target"] is None) != last:
            raise InputError(f"{where}, line {number}: the last line, and no other, returns")
        if match["argument"] != argument:
            raise InputError(f"{where}, line {number}: each step uses the one before it")
        stage = _checked_stage(match["name"], stage, last, f"{where}, line {number}")
        names.append(match["name"])
        argument, parameters = match["target"], match["parameters"]
    if not names or stage is not ValueStage.GRID:
        raise InputError(f"{where}: a program ends with a grid")
    if names[-1] not in fitted.BY_NAME:
        return Program(tuple(names), view=view, without_pair=without)
    try:
        fitted.BY_NAME[names[-1]].parse(parameters or "")
    except ValueInvalid as error:
        raise InputError(f"{where}, last line: {error.reason}", hint=error.hint) from None
    return Program(tuple(names[:-1]), names[-1], parameters or "", view, without)


def _parsed_views(lines: list[str], where: str) -> tuple[FittedView | None, list[str]]:
    """Parse the view, and a second one below a background view; return it and the other lines."""
    if not lines or not lines[0].startswith("view "):
        return None, lines
    view = _parsed_view(lines[0].strip(), f"{where}, line 1")
    rest = lines[1:]
    if view.name == GroundBlack.name and rest and rest[0].startswith("view "):
        below = _parsed_view(rest.pop(0).strip(), f"{where}, line 2")
        view = replace(view, below=below)
    return view, rest


def _parsed_omission(lines: list[str]) -> tuple[int, list[str]]:
    """Parse the number of the omitted training pair, 0 if none; return it and the other lines."""
    match = _WITHOUT.fullmatch(lines[0].strip()) if lines else None
    return (0, lines) if match is None else (int(match["pair"]), lines[1:])


def _parsed_view(line: str, where: str) -> FittedView:
    match = _VIEW.fullmatch(line)
    if match is None or match["name"] not in views.BY_NAME:
        raise InputError(f"{where}: {line[:60]!r} is not a view", hint="see docs/arc-language.md")
    try:
        return FittedView(
            match["name"], views.BY_NAME[match["name"]].parse(match["parameters"] or "")
        )
    except ValueInvalid as error:
        raise InputError(f"{where}: {error.reason}", hint=error.hint) from None


def _checked_stage(name: str, stage: ValueStage, last: bool, where: str) -> ValueStage:
    if name in fitted.BY_NAME:
        takes, gives = ValueStage.GRID, ValueStage.GRID
        if not last:
            raise InputError(f"{where}: {name} is fitted and ends a program")
    elif name in BY_NAME:
        takes, gives = BY_NAME[name].takes, BY_NAME[name].gives
    else:
        raise InputError(
            f"{where}: there is no operator {name} in this version of weft arc",
            hint="see docs/arc-language.md",
        )
    if takes is not stage:
        raise InputError(f"{where}: {name} takes a value of stage {takes.name}, not {stage.name}")
    return gives


def _letter(i: int) -> str:
    """Return the name of the i-th value: a, b, … z, aa, ab and so on."""
    return chr(97 + i) if i < 26 else chr(96 + i // 26) + chr(97 + i % 26)


ProgramOrder = tuple[int, int, Sequence[str], str, str, str, int]


@lru_cache(maxsize=4096)
def order_key(program: Program) -> ProgramOrder:
    """Return a sort key: cheaper programs first, then shorter, then by names and parameters.

    Of programs that are equal otherwise, the one without a view comes first, then the one learned
    from all pairs.
    """
    return (
        program.millibits(), len(program.names), program.names, program.fitted, program.parameters,
        "" if program.view is None else program.view.text(), program.without_pair,
    )  # fmt: skip
