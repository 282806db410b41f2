"""Judge one puzzle: from the programs found by all parts of its search to the verdict.

    found ──► explanations ──► independent examinations ──► evidence ──► features ──► verdict

Knows what the search found, but no budget other than the limit in bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from weft.searches.arc import confidence, support
from weft.searches.arc.evidence import Evidence, examine
from weft.searches.arc.plausibility import Plausibility
from weft.searches.arc.program import Program
from weft.searches.arc.ranking import Ranking
from weft.searches.arc.support import Competition
from weft.searches.arc.synthesis.ablation import BEHAVIOUR, CHECKS, CONFIDENCE, SUPPORT
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask
from weft.searches.arc.verdict import (
    LIMIT,
    Confidence,
    Examination,
    Group,
    TaskVerdict,
    decide,
    examinations,
)

Candidates = Sequence[ProgramCandidate]


@dataclass(frozen=True, slots=True)
class Found:
    """The programs that all parts of a search found, in the order in which they are assembled."""

    candidates: Candidates
    """Programs that are right on every training pair."""
    guesses: Candidates

    @property
    def is_explained(self) -> bool:
        """Whether a program fits without a view, so that no black background is needed."""
        return any(candidate.program.view is None for candidate in self.candidates)


@dataclass(frozen=True, slots=True)
class Standard:
    """The requirements that an answer must meet."""

    needed_permille: int = confidence.SURE
    margin_millibits: int | None = None
    """Required beside the confidence; where the price decides, None allows no competitor."""
    limit_millibits: int = LIMIT
    without: Sequence[str] = ()
    """Parts of the method to leave out; see `ablation`."""

    @property
    def left_out(self) -> str:
        """The name of the model that was fitted without the features left out here."""
        parts = [part for part in (BEHAVIOUR, SUPPORT) if part in self.without]
        return "+".join(parts) or confidence.WHOLE

    @property
    def is_checked(self) -> bool:
        """Whether evidence is gathered."""
        return CHECKS not in self.without

    @property
    def is_assessed(self) -> bool:
        """Whether fitted models decide whether to answer and how guesses are ordered."""
        return self.is_checked and CONFIDENCE not in self.without

    @property
    def has_behaviour(self) -> bool:
        """Whether the evidence includes how the steps of a program behave."""
        return BEHAVIOUR not in self.without


def explanations(found: Found, standard: Standard) -> Candidates:
    """Return the programs that compete for the answer."""
    if found.candidates or not standard.is_checked:
        return found.candidates
    if not any(guess.loo_passed for guess in found.guesses):
        return ()
    # a list that passes cross-validation is an explanation, and the other guesses compete with it
    return [guess for guess in found.guesses if guess.millibits <= standard.limit_millibits]


def needed(found: Found, standard: Standard) -> list[Examination]:
    """Return the examinations that a verdict rests on; they are independent of each other."""
    return examinations(explanations(found, standard)) if standard.is_checked else []


def examined(task: ArcTask, standard: Standard, examination: Examination) -> Evidence:
    """Run one examination and return its evidence."""
    own = examination
    return examine(task, own.program, own.outputs, own.loo_passed, behaviour=standard.has_behaviour)


def judge(
    task: ArcTask,
    found: Found,
    standard: Standard,
    evidence: Mapping[Program, Evidence],
    *,
    exhausted: bool,
    incomplete: bool = False,
) -> TaskVerdict:
    """Judge what the parts of a search found, by the evidence from the `needed` examinations.

    If evidence is missing, the search counts as incomplete and the evidence is not used.
    """
    examinations = needed(found, standard)
    is_checked = bool(examinations) and all(each.program in evidence for each in examinations)
    is_assessed = is_checked and standard.is_assessed
    is_ranked = standard.is_assessed and (is_checked or not examinations)
    outputs = Plausibility(task)
    return decide(
        explanations(found, standard),
        found.guesses,
        exhausted=exhausted,
        incomplete=incomplete or len(evidence) < len(examinations),
        margin_millibits=standard.margin_millibits,
        limit_millibits=standard.limit_millibits,
        needed_permille=standard.needed_permille,
        examine=(lambda program, *_: evidence[program]) if is_checked else None,
        assess=partial(assess, task, outputs, standard.left_out) if is_assessed else None,
        rank=Ranking(outputs, found.candidates, found.guesses).points if is_ranked else None,
    )


def assess(
    task: ArcTask,
    outputs: Plausibility,
    left_out: str,
    best: Group,
    members: Sequence[ProgramCandidate],
    competition: Competition,
) -> Confidence:
    """Compute the probability that a group is right on every test of a task."""
    assert best.evidence is not None, "the best group was examined"
    price = best.price_millibits + best.alone_millibits
    features = support.features_of(task, outputs, members, best.evidence, price, competition)
    model = confidence.model(left_out)
    return Confidence(model.confidence_permille(features), features, model.points(features))
