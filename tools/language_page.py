"""The page docs/arc-language.md, written from the registry of operators and the fitted rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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

Written from the operators themselves by `make docs`; do not edit.

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
you write them out.

## Stages

Every value has a stage; an operator maps one stage to another.

| stage | meaning |
|---|---|
"""
STAGES = {
    ValueStage.GRID: "a grid of colours 0 to 9, at most 30 by 30",
    ValueStage.OBJECTS: "objects in an order that the operator states",
    ValueStage.OBJECT: "coloured cells at a place",
    ValueStage.COLOUR: "a colour",
    ValueStage.COUNT: "a number, 0 to 255",
}
FACTS = """
## How to read the tables

**bits** is the cost of a step; of two programs, the one with fewer bits is the better explanation.
**shape** and **palette** are guarantees about the result, which let the search prune what cannot
reach the target. An operator may fail on a value (no objects, too large); then the program fails.

| shape | the result's height and width |
|---|---|
| keep | are those of the value |
| shrink | do not grow |
| grow | do not shrink |
| input | are those of the input grid |
| any | may be anything |

| palette | colours that the value did not have |
|---|---|
| keep | none |
| black | black at most |
| input | black and those of the input grid at most |
| any | may be any |
"""
VIEWED = """
## Views

A program may start with a line that names a view, which normalises each example; `I` is then the
normalised input, and the view is undone on the program's output:

```
view lines_lie
return mirror_rows(I)
```

A view transforms an example based on its input alone, so examples may be transformed differently.
Each colour listed, except black, costs 3.3 bits more.

| view | bits | what it does |
|---|---|---|
"""
FITTED = """
## Fitted rules

A rule ends a program. Its parameters are fitted so that every training input gives its output. It
fails if none do, if they leave a test undetermined, or if equally good ones disagree about it. Both
the rule and its fitted parameters cost bits.

| rule | shape | what it does |
|---|---|---|
"""
TABLES = """
## Tables over objects

The rule `objects` has a segmentation and a table: `objects_8: by colour 8 stay, 3 meet 2, else meet
1`. Objects whose measure has a listed value get its action, all others the last one. A second table
may follow after `then`, and works on the result of the first. Instead of an operator, the
segmentation may be `rooms` (4-connected black areas) or `rectangles` (of black cells, in no larger
one; the 40 largest), while everything else stays; `objects_8 and rooms` are both. Black areas stay
or are painted.

Colours are numbers, `own`, or found: {colours}.

| action | the object |
|---|---|
{actions}
| modifier | effect |
|---|---|
{modifiers}
Sides are `north`, `south`, `west` and `east`, corners `northwest` and so on. Directions may also be
relative:

| direction | leads |
|---|---|
{sides}
Measures are those of `choose`, and:

| measure | value |
|---|---|
{measures}"""
LISTS = """
## Features of a cell

The features that decision lists of `cells` test. An *area* is a connected component (by sides) of
one colour, including black; a *blob* is a connected component (by sides or corners) of non-black
cells of any colours; it is 0 for black. The *box* of a cell is the smallest bounding box of a blob
that contains it. If full rows and columns of one colour divide the grid, *blocks* lie between them;
the coarse grid has one cell per block: its most frequent colour except black. Colours can also be
copied.

| feature | is |
|---|---|
"""
CANVAS = """
## Features of a canvas

The additional features that lists of `canvas` test. The *copies* lie side by side from the top
left, whether or not they are drawn. Counts of the input are `cells` (not black), `gaps` (black),
`marks` (colours except black) and `blobs`.

| feature | is |
|---|---|
"""
SCAN = """
## Features of a scan

What the lists of `scanned` test and copy besides. The *line* of a cell is its row; lines and
places are counted in the order of the scan, from its corner on.

| feature | is |
|---|---|
"""


def render() -> str:
    """Return the page: operators by the stage they take, fitted rules, views, features."""
    assert set(STAGES) == set(ValueStage)
    assert {shape.value for shape in ShapeEffect} | {p.value for p in Palette} <= _words(FACTS)
    stages = "".join(f"| {_name(stage)} | {words} |\n" for stage, words in STAGES.items())
    taken = [stage for stage in ValueStage if any(o.takes is stage for o in REGISTRY)]
    tables = "".join(_section(stage) for stage in taken)
    every = (*RULES, *COMPOSED)
    rules = "".join(f"| `{r.name}` | {r.shape.value} | {_cell(r.doc)} |\n" for r in every)
    seen = "".join(f"| `{v.name}` | {v.price('') / 1000:g} | {_cell(v.doc)} |\n" for v in VIEWS)
    count = f"\n{len(REGISTRY)} operators and {len(every)} fitted rules.\n"
    ends = FITTED + rules + _tables() + VIEWED + seen + LISTS + _features() + CANVAS + _on_canvas()
    return HEAD + stages + FACTS + count + tables + ends + SCAN + _rows(MADE)


def _tables() -> str:
    return TABLES.format(
        colours=", ".join(f"`{colour}`" for colour in RELATED),
        actions=_rows(ACTION_WORDS),
        modifiers=_rows(MODIFIER_WORDS),
        sides=_rows(SIDE_WORDS),
        measures=_rows(MEASURE_WORDS),
    )


def _rows(words: Mapping[str, str]) -> str:
    return "".join(f"| `{name}` | {meaning} |\n" for name, meaning in words.items())


def _features() -> str:
    families = {f"{name}_{ink}" for name in FAMILIES for ink in INKS}
    one = {
        name: words
        for name, words in (COLOURS | NUMBERS).items()
        if name not in families and name not in BLOCKS
    }
    many = {f"{name}_1` to `{name}_9": words for name, words in FAMILIES.items()}
    many["block_own` to `block_rising"] = "`own` to `rising` in the coarse grid of blocks"
    return _rows(one | many)


def _on_canvas() -> str:
    every = CANVAS_COLOURS | CANVAS_NUMBERS
    counted = {f"{name}_{what}" for name in COUNTED for what in COUNTS}
    one = {name: words for name, words in every.items() if name not in counted}
    many = {"`, `".join(f"{name}_{what}" for what in COUNTS): w for name, w in COUNTED.items()}
    return _rows(one | many)


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
