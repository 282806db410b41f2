"""Published results of other ARC-AGI solvers without neural networks, beside those of Weft.

Figures are quoted from their sources; nothing was run again. Weft's own row comes from the recorded
figures of the page. Solvers guided by a neural network or a language model are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Figures = Mapping[str, Any]
HEADING = "## Beside published results"
COLUMNS = (
    "solver", "guesses", "training, of 400", "evaluation, of 400", "hidden, of 100",
    "ARC-AGI-2 evaluation, of 120", "time", "designed or tuned on", "source",
)  # fmt: skip
SUBSET_COLUMNS = ("solver", "guesses", "right, of 160", "time", "designed or tuned on", "source")
UNKNOWN = "not stated"
CONTEST = "scores on the hidden test were seen during the contest"


@dataclass(frozen=True, slots=True)
class Published:
    """One configuration of a solver. A result without a unit counts tasks; empty: not published."""

    solver: str
    guesses: str
    time: str
    tuned_on: str
    sources: tuple[str, ...]
    training: str = ""
    evaluation: str = ""
    hidden: str = ""
    arc_agi_2: str = ""
    subset: str = ""

    def cells(self) -> tuple[str, ...]:
        """Return the row under COLUMNS."""
        results = (self.training, self.evaluation, self.hidden, self.arc_agi_2)
        return (self.solver, self.guesses, *results, *self._origin())

    def subset_cells(self) -> tuple[str, ...]:
        """Return the row under SUBSET_COLUMNS."""
        return (self.solver, self.guesses, self.subset, *self._origin())

    def _origin(self) -> tuple[str, ...]:
        return self.time, self.tuned_on, "; ".join(self.sources)


ICECUBER_REPOSITORY = "[top-quarks/ARC-solution](https://github.com/top-quarks/ARC-solution)"
ICECUBER_WRITE_UP = (
    "[Kaggle](https://www.kaggle.com/c/abstraction-and-reasoning-challenge/discussion/154597)"
)
SECOND_WRITE_UP = (
    "[Kaggle](https://www.kaggle.com/c/abstraction-and-reasoning-challenge/discussion/154391)"
)
REFLECTION = "[Reflection System for the ARC, table 5](https://openreview.net/forum?id=kRFwzuv0ze)"
ARC_NOTES = "[neoneye/arc-notes](https://github.com/neoneye/arc-notes)"
LEADERBOARD = (
    "[ARC Prize, leaderboard data](https://arcprize.org/media/data/leaderboard/evaluations.json)"
)
FERRE_REPORT = "[sebferre/ARC-MDL, doc/report.tex](https://github.com/sebferre/ARC-MDL)"
ARGA_PAPER = "[ARGA, AAAI 2023](https://arxiv.org/abs/2210.09880)"
GPAR_TABLE = "[GPAR, AAAI 2024, table 5](https://arxiv.org/abs/2401.07426)"
ICECUBER_TUNED_ON = (
    "transformations taken from 100 training and 100 evaluation tasks solved by hand"
)

PUBLISHED = (
    Published(
        solver="icecuber (Wind, 2020): search over 142 grid transformations in C++, depth 2",
        guesses="3",
        evaluation="129 of 419 outputs",
        time="70 s for all, i7-7700HQ",
        tuned_on=ICECUBER_TUNED_ON,
        sources=(ICECUBER_REPOSITORY,),
    ),
    Published(
        solver="icecuber, depth 3",
        guesses="3",
        evaluation="164 of 419 outputs",
        time="about 15 × depth 2",
        tuned_on=ICECUBER_TUNED_ON,
        sources=(ICECUBER_WRITE_UP, ICECUBER_REPOSITORY),
    ),
    Published(
        solver="icecuber, as it won Kaggle's contest of 2020: depths 3 and 4, flipped copies",
        guesses="3",
        hidden="21",
        time="9 h and 16 GB for all",
        tuned_on=f"{ICECUBER_TUNED_ON}; {CONTEST}",
        sources=(ICECUBER_WRITE_UP, ICECUBER_REPOSITORY),
    ),
    Published(
        solver="icecuber, as another paper gives it (2025)",
        guesses="3",
        evaluation="160",
        time=UNKNOWN,
        tuned_on=ICECUBER_TUNED_ON,
        sources=(REFLECTION,),
    ),
    Published(
        solver="icecuber, run by ARC Prize (2025)",
        guesses="2",
        hidden="17% of another 100 (semi-private)",
        arc_agi_2="2.9%; hidden sets 1.6% and 0.4%",
        time="$0.20 a task, ARC-AGI-2 $0.13",
        tuned_on=ICECUBER_TUNED_ON,
        sources=(LEADERBOARD,),
    ),
    Published(
        solver="de Miquel, Guigó Corominas, Ariyasu (2020): greedy search over grid functions",
        guesses="3",
        hidden="19",
        time=UNKNOWN,
        tuned_on=f"{UNKNOWN}; {CONTEST}",
        sources=(
            "[alejandrodemiquel/ARC_Kaggle](https://github.com/alejandrodemiquel/ARC_Kaggle)",
            SECOND_WRITE_UP,
        ),
    ),
    Published(
        solver="Sypetkowski, Sypetkowski (2020): decision trees over features of cells",
        guesses="3",
        training="127",
        evaluation="72",
        hidden="8",
        time=UNKNOWN,
        tuned_on=f"features: {UNKNOWN}; the order of guesses on the other of the two public splits",
        sources=(
            "[maciej-sypetkowski/kaggle-arc-solution]"
            "(https://github.com/maciej-sypetkowski/kaggle-arc-solution)",
            ARC_NOTES,
        ),
    ),
    Published(
        solver="Fischer, Jakobs, Mücke, Morik (2020): grammatical evolution",
        guesses=UNKNOWN,
        training="7.68%",
        hidden="3%",
        time=UNKNOWN,
        tuned_on=UNKNOWN,
        sources=(f"LWDA 2020, as quoted by {FERRE_REPORT}",),
    ),
    Published(
        solver="ARC-MDL 2.7 (Ferré, 2022): grid models of least description length",
        guesses="3",
        training="96",
        evaluation="23",
        hidden="3",
        time="22 and 35 s a task, limit 60 s",
        tuned_on="training; the author did not look at evaluation tasks",
        sources=(FERRE_REPORT, f"hidden: {ARC_NOTES}"),
    ),
    Published(
        solver="MADIL (Ferré, 2025): the same principle, decomposition by patterns",
        guesses=UNKNOWN,
        hidden="7%",
        time=UNKNOWN,
        tuned_on=UNKNOWN,
        sources=("[MADIL](https://arxiv.org/abs/2505.01081)",),
    ),
    Published(
        solver="VIMRL (Ainooson and others, 2023): search over imperative programs, two versions",
        guesses=UNKNOWN,
        evaluation="26, 45",
        time=UNKNOWN,
        tuned_on="search partly guided by a corpus of correct programs; of which tasks: not stated",
        sources=(REFLECTION, "[VIMRL](https://arxiv.org/abs/2302.09425)"),
    ),
    Published(
        solver="Bigham (2022): rules over objects",
        guesses=UNKNOWN,
        training="181",
        evaluation="64",
        time=UNKNOWN,
        tuned_on="93 training tasks implemented one by one, a few evaluation tasks by accident",
        sources=("[dbigham/ARC](https://github.com/dbigham/ARC)",),
    ),
    Published(
        solver="arc-dsl (Hodel, 2022, winner of ARCathon): programs in a grid language",
        guesses=UNKNOWN,
        hidden="6",
        time=UNKNOWN,
        tuned_on="the language on all training tasks, for which programs were written by hand",
        sources=(
            ARC_NOTES,
            "[michaelhodel/arc-dsl](https://github.com/michaelhodel/arc-dsl)",
            "[Ferré 2023](https://arxiv.org/abs/2311.00545)",
        ),
    ),
    Published(
        solver="BEN in Julia (Howard, 2026): divide, align and conquer",
        guesses=UNKNOWN,
        training="46",
        time="limit 140 s",
        tuned_on=f"{UNKNOWN}; measured on training alone",
        sources=(
            "[TU Delft](https://repository.tudelft.nl/record/"
            "uuid:a64366ff-067c-42ac-b0fc-4088b3a53b7f)",
        ),
    ),
    Published(
        solver="Gholami, Kazeminia (2023): icecuber, decision trees, a genetic algorithm",
        guesses=UNKNOWN,
        hidden="31",
        time=UNKNOWN,
        tuned_on=UNKNOWN,
        sources=(
            ARC_NOTES,
            "[MehranKazeminia/ARC-Solver10](https://github.com/MehranKazeminia/ARC-Solver10)",
        ),
    ),
    Published(
        solver="ARC-9th-place (2024): solvers of 2020 put together",
        guesses="2",
        hidden="37",
        time=UNKNOWN,
        tuned_on="the hidden tasks: scores showed which solver is right on which",
        sources=("[hmk252/ARC-9th-place](https://github.com/hmk252/ARC-9th-place)",),
    ),
    Published(
        solver="curricular solver (2026): composed concepts that were taught task by task",
        guesses=UNKNOWN,
        arc_agi_2="1; hidden set 0.83%",
        time="1,764 s for all, 6 processes",
        tuned_on="ARC-AGI-2 training but for 200 held-out tasks",
        sources=(
            "[kcedd34/arc-agi-2-curricular-solver]"
            "(https://github.com/kcedd34/arc-agi-2-curricular-solver)",
        ),
    ),
)
"""Results on whole splits; they follow Weft's own row."""
SUBSET = (
    Published(
        solver="ARGA (Xu, Khalil, Sanner, 2023): constraint-guided search over graphs of objects",
        guesses="1",
        subset="57",
        time="limit 1,800 s a task",
        tuned_on=f"{UNKNOWN}; its authors selected these tasks",
        sources=(GPAR_TABLE, ARGA_PAPER),
    ),
    Published(
        solver="icecuber",
        guesses="1",
        subset="64",
        time="limit 1,800 s a task",
        tuned_on=ICECUBER_TUNED_ON,
        sources=(GPAR_TABLE, ICECUBER_REPOSITORY),
    ),
    Published(
        solver="GPAR (Lei, Lipovetzky, Ehinger, 2024): generalized planning",
        guesses="1",
        subset="81",
        time="limit 1,800 s a configuration",
        tuned_on=f"{UNKNOWN}; measured on the tasks that the authors of ARGA selected",
        sources=(GPAR_TABLE,),
    ),
)
"""Results on the 160 object-centric tasks of ARGA, from one comparison on one kind of machine."""
OWN_SPLITS = ("training", "evaluation", "ARC-AGI-2 evaluation")


def section(version: int | None, runs: Mapping[str, Figures]) -> str:
    """Return the section of the page; `runs` has the splits that were measured."""
    rows = [published.cells() for published in (own(version, runs), *PUBLISHED)]
    subset = [published.subset_cells() for published in SUBSET]
    return f"""\
{HEADING}

Solvers without neural networks or language models, each figure as its source gives it. `hidden` is
the private test of ARC-AGI-1 that Kaggle, ARCathon and ARC Prize 2024 used; Weft was not run on it.

{_table(COLUMNS, rows)}
On 160 object-centric tasks of ARC-AGI-1, compared by the authors of GPAR:

{_table(SUBSET_COLUMNS, subset)}
What cannot be compared: the contest of 2020 allowed three guesses, ARC Prize allows two, GPAR's
comparison one, and figures of 2020 are of the tasks as first published (`arc-agi-1-2019`). Some
rows count outputs; Weft counts a task only if the outputs for all its tests are right, each within
two attempts, as ARC Prize allows them.
Results on 160 selected tasks say nothing about whole splits, and times are of different machines
and limits. Nor does a result on tasks that a solver was designed on show what it does on new ones:
icecuber's author had solved a quarter of the evaluation tasks by hand, and it reaches 39% there but
21% of the hidden test; the parts of ARC-9th-place were chosen by their hidden scores.
"""


def own(version: int | None, runs: Mapping[str, Figures]) -> Published:
    """Return Weft's row, from recorded runs; the cell of an unmeasured split is empty."""
    solved = [_of(runs, name, "top2") for name in OWN_SPLITS]
    training, evaluation, arc_agi_2 = ("" if count is None else str(count) for count in solved)
    seconds = [_of(runs, name, "cpu_s_per_task") for name in OWN_SPLITS]
    name = "weft arc" if version is None else f"weft arc {version}"
    return Published(
        solver=f"**{name}**: operators, decision lists and tables, found by search",
        guesses="2",
        training=training,
        evaluation=evaluation,
        arc_agi_2=arc_agi_2,
        time=f"{', '.join(f'{s:.2f}' for s in seconds if s is not None)} CPU s a task",
        tuned_on="ARC-AGI-1 training and the 233 new tasks of ARC-AGI-2 training; of evaluation"
        " only totals were seen",
        sources=("this page",),
    )


def _of(runs: Mapping[str, Figures], split: str, figure: str) -> Any:
    return runs[split][figure] if split in runs else None


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    head, *body = (f"| {' | '.join(cells)} |" for cells in (columns, *rows))
    return "\n".join([head, "|---" * len(columns) + "|", *body]) + "\n"
