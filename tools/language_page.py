"""Render docs/arc-language.md from the registry of operators and the fitted rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weft.searches.arc.fitted.choose import MEASURES
from weft.searches.arc.fitted.registry import COMPOSED, RULES
from weft.searches.arc.lists.words import (
    BLOCKS,
    CANVAS_COLOURS,
    CANVAS_NUMBERS,
    COLOURS,
    COUNTED,
    COUNTS,
    FAMILIES,
    INKS,
    MADE,
    NUMBERS,
)
from weft.searches.arc.normal.registry import VIEWS
from weft.searches.arc.ops.operator import Operator, Palette, ShapeEffect
from weft.searches.arc.ops.registry import REGISTRY
from weft.searches.arc.tables.colours import RELATED
from weft.searches.arc.tables.wording import (
    ACTION_WORDS,
    MEASURE_WORDS,
    MODIFIER_WORDS,
    SIDE_WORDS,
)
from weft.searches.arc.values import ValueStage

HEAD = """\
# The ARC language

Generated from the operators by `make docs`; do not edit.

A program is a chain of operators. It starts with the input grid `I`, each step uses the previous
one, and the last returns a grid:

```
a = objects_8(I)
b = pick_most_cells(a)
return object_grid(b)
```

Save that to a file and run it on a task, with the slow reference operators instead of the compiled
ones:

```console
$ weft arc check program.txt 007bbfb7
WRONG   007bbfb7: 0 of 5 pairs
checked 1 program, 0 exact
```

`--data` selects other sets, folders and files than ARC-AGI-1. Lines that start with `#` are
comments. The last step may be a *fitted rule* with its parameters as a string:
`return colour_map(b, "1:2 3:4")`. The search fits them to the training pairs; in your own program
you write them yourself.

Colours are numbers from 0 to 9. Black (0) is the background: everything else is content.

| term | meaning |
|---|---|
| 4-connected, 8-connected | joined by sides; joined by sides or corners |
| object | a connected component, or another group of cells that a segmentation yields |
| blob | an 8-connected component of non-black cells of any colours |
| box | a bounding box |
| main colour | the most common non-black colour of a grid or an object (ties: the lowest) |
| rarest colour | the least common non-black colour (ties: the lowest) |
| hole | a group of empty cells that an object encloses |

## Stages

The type of a value is called its stage. An operator takes a value of one stage and returns one of
another, or of the same.

| stage | meaning |
|---|---|
"""
STAGES = {
    ValueStage.GRID: "a grid of colours 0 to 9, at most 30 by 30",
    ValueStage.OBJECTS: "a sequence of objects",
    ValueStage.OBJECT: "coloured cells at a position",
    ValueStage.COLOUR: "a colour",
    ValueStage.COUNT: "a number, 0 to 255",
}
FACTS = """
## How to read the tables

**bits** is the cost of a step; of two programs that fit, the one with fewer bits is the better
explanation. **shape** and **palette** are guarantees about the result; they let the search skip
programs that cannot reach the target. If an operator fails on a value (no objects, too large), the
program fails.

| shape | the result's height and width |
|---|---|
| keep | are those of the value |
| shrink | do not grow |
| grow | do not shrink |
| input | are those of the input grid |
| any | may be anything |

| palette | colours that the result may add |
|---|---|
| keep | none |
| black | black |
| input | black and those of the input grid |
| any | any |
"""
VIEWED = """
## Views

A view normalises each example before the program runs, and is undone on its output. A program that
uses one names it in its first line; `I` is then the normalised input:

```
view lines_lie
return mirror_rows(I)
```

If nothing fits all training pairs, programs that fit all but one become guesses. The line
`without pair 2`, below the views if there are any, names the pair that does not count.

A view depends only on the input of an example, so examples may be transformed differently. Each
colour listed after its name, except black, costs 3.3 bits more.

| view | bits | what it does |
|---|---|---|
"""
FITTED = """
## Fitted rules

A rule can only be the last step of a program. The search fits its parameters so that every training
input gives its output. A rule is rejected if no parameters do so, if they leave a test output
undetermined, or if equally good ones disagree about it. Both the rule and its fitted parameters
cost bits.

| rule | shape | what it does |
|---|---|---|
"""
TABLES = """
## Measures of objects

What `choose` and other rules can ask about an object:

| measure | value |
|---|---|
{chosen}
`choose` can also ask how an object relates to the others:

| measure | value |
|---|---|
{related}
## Tables over objects

The rule `objects` has a segmentation and a table: `objects_8: by colour 8 stay, 3 meet 2, else meet
1`. An object whose measure (`colour`) has a listed value gets the action after that value; all
others get the action after `else`. A second table may follow after `then`; it works on the result
of the first.

The segmentation is an operator, or `rooms` (4-connected black areas), or `rectangles` (of black
cells, contained in no larger one; the 40 largest). With the last two, only black areas are decided
about, to stay or be painted, and everything else stays; `objects_8 and rooms` decides about both.

A colour is a number, the object's `own`, or relative to it: {colours}. An object may also be
painted in the colour of an object of its shape in any orientation (`alike`), of the `largest` one,
or of the one in whose box it lies (`outer`).

| action | the object |
|---|---|
{actions}
| modifier | effect |
|---|---|
{modifiers}
Directions are `north`, `south`, `west`, `east`, `northwest` and so on, or relative to the object:

| direction | leads |
|---|---|
{sides}
Besides the [measures of objects](#measures-of-objects), tables can ask about:

| measure | value |
|---|---|
{measures}"""
LISTS = """
## Features of a cell

The features that decision lists of `cells` can test; those that are colours can also be copied.

- The *area* of a cell is the 4-connected component of its colour, black included.
- The *blob* of a cell is the 8-connected component of non-black cells that contains it; features of
  a blob are 0 for black cells.
- The *box* of a cell is the smallest bounding box of a blob that contains it.
- If full rows and columns of one colour divide the grid, the parts between them are *blocks*. The
  coarse grid has one cell per block, of its main colour.

| feature | is |
|---|---|
"""
CANVAS = """
## Features of a canvas

Lists of `canvas` can also test these. *Copies* of the input tile the canvas from the top left,
whether or not they are drawn. Counts of the input are `cells` (non-black cells), `gaps` (black
cells), `marks` (non-black colours) and `blobs`.

| feature | is |
|---|---|
"""
SCAN = """
## Features of a scan

Lists of `scanned` can also test and copy cells that are already filled. The *line* of a cell is its
row; *before* means earlier in the order of the scan, which starts in a corner.

| feature | is |
|---|---|
"""


CHOSEN = {
    "cells`, `holes": "how many cells, or holes, it has",
    "room`, `height`, `width": "cells, rows or columns of its box",
    "colours": "how many colours the input has in its box",
    "count_0` to `count_9": "how many cells of a colour the input has in its box",
    "main`, `rest": "cells of its box that have the most common colour there, or another",
    "parts": "8-connected components of non-black cells in its box",
    "specks": "8-connected components of cells in its box without its most common colour",
    "mirrors": "mirror symmetries of its box",
    "top`, `left`, `bottom`, `right": "steps from its box to that edge of the grid",
    "border": "how many edges of the grid it touches",
    "copies`, `likes`, `kin": "objects with its shape, with the same box, or of its colour",
}
"""Measures of `choose`."""
RELATED_BY = {
    "touching`, `inside`, `around": "objects that touch it, whose boxes contain it, or in its box",
    "square`, `solid`, `tall": "1 if its box is square, it fills its box, or is taller than wide",
    "forms": "objects with its shape in any of 8 orientations",
}
"""Measures that only `choose` can ask for, though tables have most of them by the same names."""
COUNTED_COLOURS = {f"count_{colour}" for colour in range(1, 9)}
"""Measures described by the range from `count_0` to `count_9`."""


def render() -> str:
    """Return the page: operators by the stage they take, fitted rules, views, features."""
    assert set(STAGES) == set(ValueStage)
    described = {name for names in CHOSEN for name in names.replace(" to ", ", ").split("`, `")}
    assert described == {name for name in MEASURES if name not in COUNTED_COLOURS}
    assert {shape.value for shape in ShapeEffect} | {p.value for p in Palette} <= _words(FACTS)
    stages = "".join(f"| {_name(stage)} | {words} |\n" for stage, words in STAGES.items())
    used_stages = [stage for stage in ValueStage if any(o.takes is stage for o in REGISTRY)]
    tables = "".join(_section(stage) for stage in used_stages)
    every = (*RULES, *COMPOSED)
    rules = "".join(f"| `{r.name}` | {r.shape.value} | {_cell(r.doc)} |\n" for r in every)
    views = "".join(f"| `{v.name}` | {v.price('') / 1000:g} | {_cell(v.doc)} |\n" for v in VIEWS)
    count = f"\n{len(REGISTRY)} operators and {len(every)} fitted rules.\n"
    ends = FITTED + rules + _tables() + VIEWED + views + LISTS + _features() + CANVAS + _on_canvas()
    return HEAD + stages + FACTS + count + tables + ends + SCAN + _rows(MADE)


def _tables() -> str:
    return TABLES.format(
        colours=", ".join(f"`{colour}`" for colour in RELATED),
        chosen=_rows(CHOSEN),
        related=_rows(RELATED_BY),
        actions=_rows(ACTION_WORDS),
        modifiers=_rows(MODIFIER_WORDS),
        sides=_rows(SIDE_WORDS),
        measures=_rows(MEASURE_WORDS),
    )


def _rows(words: Mapping[str, str]) -> str:
    return "".join(f"| `{name}` | {meaning} |\n" for name, meaning in words.items())


def _features() -> str:
    families = {f"{name}_{ink}" for name in FAMILIES for ink in INKS}
    single = {
        name: words
        for name, words in (COLOURS | NUMBERS).items()
        if name not in families and name not in BLOCKS
    }
    many = {f"{name}_1` to `{name}_9": words for name, words in FAMILIES.items()}
    many["block_own` to `block_rising"] = "`own` to `rising` in the coarse grid of blocks"
    return _rows(single | many)


def _on_canvas() -> str:
    every = CANVAS_COLOURS | CANVAS_NUMBERS
    counted = {f"{name}_{what}" for name in COUNTED for what in COUNTS}
    single = {name: words for name, words in every.items() if name not in counted}
    many = {"`, `".join(f"{name}_{what}" for what in COUNTS): w for name, w in COUNTED.items()}
    return _rows(single | many)


def _section(stage: ValueStage) -> str:
    operators = [operator for operator in REGISTRY if operator.takes is stage]
    head = (
        "| operator | gives | bits | shape | palette | what it does |\n|---|---|---|---|---|---|\n"
    )
    rows = "".join(_row(operator) for operator in operators)
    return f"\n## Operators that take {_article(stage)}\n\n{head}{rows}"


def _row(o: Operator) -> str:
    shape = o.shape.value if o.gives is ValueStage.GRID else ""
    bits = f"{o.millibits / 1000:g}"
    cells = [f"`{o.name}`", _name(o.gives), bits, shape, o.palette.value, _cell(o.doc)]
    return f"| {' | '.join(cells)} |\n"


def _article(stage: ValueStage) -> str:
    name = _name(stage)
    return name if stage is ValueStage.OBJECTS else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _name(stage: ValueStage) -> str:
    return stage.name.lower()


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _words(text: str) -> set[str]:
    return set(_split(text.split()))


def _split(words: Iterable[str]) -> Iterable[str]:
    return (word.strip("|*.,") for word in words)
