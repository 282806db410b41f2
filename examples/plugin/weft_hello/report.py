"""What `weft hello` adds to `weft report` and `weft status`: the best text of each generation.

weft report runs/hello
weft status runs/hello
"""

from collections.abc import Sequence
from dataclasses import dataclass

from weft.inspect.report.hook import Page
from weft.inspect.report.svg import drawing, element, table
from weft.inspect.report.view import RunView

WIDTH, HEIGHT = 600, 120
MAX_ROWS = 200


@dataclass(frozen=True, slots=True)
class Best:
    """The best text of a generation, of which `letters` letters are right."""

    generation: int
    text: str
    letters: int


def lines(run: RunView) -> list[str]:
    """Return a line for the status that shows the search's progress."""
    history = best_texts(run)
    if not history:
        return []
    last = history[-1]
    of = f"{last.letters} of {len(last.text)} letters"
    return [f"{of} after {last.generation} generations: {last.text!r}"]


def pages(run: RunView) -> list[Page]:
    """Return a page with a curve of the progress and a table of the texts."""
    history = best_texts(run)
    if not history:
        return [Page("Evolution", "No generation has ended yet.", order=1)]
    rows = [[str(best.generation), str(best.letters), best.text] for best in history[-MAX_ROWS:]]
    listed = table(["generation", "right letters", "best text"], rows)
    return [Page("Evolution", _curve(history) + listed, order=1)]


def best_texts(run: RunView) -> list[Best]:
    """Return the best result of each round so far, in order; among equals, the first."""
    best: dict[int, Best] = {}
    for task in run.tasks():
        if task.state == "completed":
            letters = task.value["letters"]
            if task.round not in best or letters > best[task.round].letters:
                best[task.round] = Best(task.round + 1, task.value["text"], letters)
    return [best[number] for number in sorted(best)]


def _curve(history: Sequence[Best]) -> str:
    goal, last = len(history[0].text), history[-1]
    step = WIDTH / max(1, len(history) - 1)
    points = [
        f"{i * step:.1f},{HEIGHT * (1 - b.letters / goal):.1f}" for i, b in enumerate(history)
    ]
    line = element("polyline", points=" ".join(points), fill="none", stroke="currentColor")
    label = f"right letters by generation, {last.letters} of {goal} in the last"
    return drawing(WIDTH, HEIGHT, line, label=label)
