"""One puzzle judged: from the programs that all parts of its search found to the verdict.

    candidates, guesses ──► explanations and guesses ──► evidence, features ──► verdict

The search hands in what it found; nothing here knows of budgets other than the limit of bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from weft.searches.arc import confidence, support
from weft.searches.arc.evidence import examine
from weft.searches.arc.support import Competition
from weft.searches.arc.synthesis.ablation import BEHAVIOUR, CHECKS, CONFIDENCE, SUPPORT
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask
from weft.searches.arc.verdict import LIMIT, Confidence, Group, TaskVerdict, decide


@dataclass(frozen=True, slots=True)
class Standard:
    """What an answer must meet."""

    needed_permille: int = confidence.SURE
    margin_millibits: int | None = None
    """Asked for beside the confidence; where a price decides, None allows no competitor."""
    limit_millibits: int = LIMIT
    without: Sequence[str] = ()
    """Parts of the method that are left out, see `ablation`."""

    @property
    def left_out(self) -> str:
        """Name the model that was fitted with the same features left out."""
        parts = [part for part in (BEHAVIOUR, SUPPORT) if part in self.without]
        return "+".join(parts) or confidence.WHOLE


def judge(
    task: ArcTask,
    candidates: Sequence[ProgramCandidate],
    guesses: Sequence[ProgramCandidate],
    standard: Standard,
    *,
    exhausted: bool,
    incomplete: bool = False,
) -> TaskVerdict:
    """Judge what the parts of a search found, in the order in which they are assembled."""
    checked = CHECKS not in standard.without
    if not candidates and checked and any(guess.loo_passed for guess in guesses):
        # a list that passes cross-validation is an explanation, and the others object to it
        limit = standard.limit_millibits
        candidates = [guess for guess in guesses if guess.millibits <= limit]
    behaviour = BEHAVIOUR not in standard.without
    is_assessed = checked and CONFIDENCE not in standard.without
    return decide(
        candidates,
        guesses,
        exhausted=exhausted,
        incomplete=incomplete,
        margin_millibits=standard.margin_millibits,
        limit_millibits=standard.limit_millibits,
        needed_permille=standard.needed_permille,
        examine=partial(examine, task, behaviour=behaviour) if checked else None,
        assess=partial(assess, task, standard.left_out) if is_assessed else None,
    )


def assess(
    task: ArcTask,
    left_out: str,
    best: Group,
    members: Sequence[ProgramCandidate],
    competition: Competition,
) -> Confidence:
    """Compute how probable it is that a group is right on every test of a task."""
    assert best.evidence is not None, "the best group was examined"
    features = support.features_of(task, members, best.programs[0], best.evidence, competition)
    model = confidence.model(left_out)
    return Confidence(model.confidence_permille(features), features, model.points(features))
