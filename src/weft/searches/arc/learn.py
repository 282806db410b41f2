"""Learn concepts from solved programs: chains that pay for themselves in description length.

    runs ──► corpus (one program per task) ──► repeated chains of 2–4 operators, and chains joined
             from such parts that are another spelling of a program (`simplify`)
         ──► without those that a shorter chain equals ──► greedy choice by MDL ──► bank

All prices are integers, in thousandths of a bit:

    price of a use         log2(n), for a language of n operators and concepts
    price of a definition  log2(3) for its length, plus the cost of its operators or concepts
    description            every program, in the spelling and with the concepts that make it
                           cheapest, and all definitions; fitted parameters do not change it

A concept is kept while the description with it is shorter than without it. The order of the runs
does not matter: programs are sorted by task digest, and where runs differ the cheapest is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from weft.errors import InputError
from weft.model.codec import to_json
from weft.model.values import Value
from weft.searches.arc.bank import MAX_STEPS, Bank, Concept
from weft.searches.arc.check import check_program
from weft.searches.arc.heldout import EVALUATION, held_out
from weft.searches.arc.ops.registry import BY_NAME, REGISTRY
from weft.searches.arc.program import Program, order_key, parse
from weft.searches.arc.recorded import ArcRun, Recorded
from weft.searches.arc.simplify import Chain, Spellings, is_redundant, operator_inputs, spellings
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import Grid

MIN_STEPS = 2


@dataclass(frozen=True, slots=True)
class Solved:
    """A task and the cheapest program that solved it."""

    task: ArcTask
    """The task as the program's view shows it."""
    program: Program
    """The program without its view."""
    outputs: list[list[list[int]]]
    digest: str
    """Digest of the task itself, without the view."""


@dataclass(frozen=True, slots=True)
class Learned:
    """A bank, and the figures of how it was learned."""

    bank: Bank
    programs: int
    candidates: int
    """Number of repeated chains."""
    recombined: int
    """Number of chains joined from parts that are another spelling of some program."""
    simplified: int
    """Number of both kinds dropped because a shorter chain does the same."""
    before_millibits: int
    after_millibits: int

    def to_dict(self) -> dict[str, Value]:
        """Return the JSON form of the bank, with the figures."""
        figures = to_json(self)
        del figures["bank"]
        return {**to_json(self.bank), **figures}


# -- reading ----------------------------------------------------------------------------------


def corpus_of(runs: Iterable[ArcRun]) -> tuple[Solved, ...]:
    """Return the first program of every SOLVED task, replayed, in the order of task digests.

    Raises InputError for runs that are unfinished or contain evaluation tasks (what is learned from
    those could never be measured on them again), and for programs that do not replay.
    """
    solutions: dict[str, Solved] = {}
    for run in runs:
        _refuse(run)
        for item in run.items:
            if item.outcome == "SOLVED":
                solved = _replayed(item, run)
                known = solutions.setdefault(item.task.digest, solved)
                solutions[item.task.digest] = min(known, solved, key=lambda s: order_key(s.program))
    return tuple(solutions[digest] for digest in sorted(solutions))


def _refuse(run: ArcRun) -> None:
    if any(item.answer is None for item in run.items):
        raise InputError(f"{run.path} is not finished", hint=f"weft resume {run.path}")
    count = held_out(item.task for item in run.items)
    if count or EVALUATION in run.tags:
        raise InputError(
            f"{run.path}: {count or len(run.items)} of its {len(run.items)} tasks are evaluation"
            " tasks of a published set, and concepts are learned from training tasks only"
        )


def _replayed(item: Recorded, run: ArcRun) -> Solved:
    assert item.answer is not None
    best = item.answer["groups"][0]
    program = parse(best["programs"][0], f"{run.path}: {item.task.name}")
    if not check_program(item.task, program, best["outputs"]).exact:
        raise InputError(
            f"{run.path}: the program of {item.task.name} does not do what it claims",
            hint=f"weft arc check {run.path}",
        )
    return below_view(Solved(item.task, program, best["outputs"], item.task.digest))


def below_view(solved: Solved) -> Solved:
    """Remove a program's view, applying it to task and outputs: concepts are chains below it."""
    view = solved.program.view
    if view is None:
        return solved
    outputs = [
        view.symmetry(given).apply(Grid.of(rows)).rows()
        for given, rows in zip(solved.task.test, solved.outputs, strict=True)
    ]
    bare = replace(solved.program, view=None)
    return Solved(view.of(solved.task), bare, outputs, solved.digest)


# -- choosing ---------------------------------------------------------------------------------


def learn(corpus: Sequence[Solved]) -> Learned:
    """Choose the concepts that shorten the description of a corpus most, greedily."""
    chains = [solved.program.names for solved in corpus]
    mined = repeated(chains)
    programs = spellings([solved.task for solved in corpus], chains, mined)
    joined = sorted({other for own, *others in programs for other in others} - set(mined))
    inputs = operator_inputs([(s.task, s.program) for s in corpus])
    useful = [chain for chain in (*mined, *joined) if not is_redundant(chain, inputs)]
    chosen = choose(programs, useful)
    bank = _bank(corpus, programs, chosen)
    for solved, spelled in zip(corpus, programs, strict=True):
        _check_rewritten(solved, spelled, bank)
    return Learned(
        bank, len(corpus), len(mined), len(joined), len(mined) + len(joined) - len(useful),
        description(programs, ()), description(programs, chosen),
    )  # fmt: skip


def repeated(chains: Sequence[Chain]) -> list[Chain]:
    """Return the sub-chains of 2 to 4 operators that occur in more than one program, sorted."""
    holders: Counter[Chain] = Counter()
    for chain in chains:
        parts = {
            chain[i : i + n]
            for n in range(MIN_STEPS, MAX_STEPS + 1)
            for i in range(len(chain) - n + 1)
        }
        holders.update(parts)
    return sorted(part for part, count in holders.items() if count > 1)


def choose(programs: Sequence[Spellings], candidates: Sequence[Chain]) -> tuple[Chain, ...]:
    """Add the chain that shortens the description most while one does; ties go to the first.

    Then drop those that later ones made useless, short ones first.
    """
    concepts: tuple[Chain, ...] = ()
    total = description(programs, concepts)
    while True:
        trials = [
            (description(programs, (*concepts, c)), c) for c in candidates if c not in concepts
        ]
        best = min(trials, default=(total, ()))
        if best[0] >= total:
            break
        total, concepts = best[0], (*concepts, best[1])
    for chain in sorted(concepts, key=lambda c: (len(c), c)):
        without = tuple(other for other in concepts if other != chain)
        if description(programs, without) <= description(programs, concepts):
            concepts = without
    return tuple(sorted(concepts, key=lambda c: (len(c), c)))


def description(programs: Sequence[Spellings], concepts: Sequence[Chain]) -> int:
    """Return the length of all programs and definitions, in thousandths of a bit."""
    use = use_price(len(concepts))
    written = sum(_cheapest_of(spelled, concepts, use)[0] for spelled in programs)
    return written + sum(definition_price(chain, concepts) for chain in concepts)


def use_price(concepts: int) -> int:
    """Return the price of naming one entry of a language with `concepts` concepts.

    That is log2(n), rounded up, for n operators and concepts.
    """
    return log2_millibits(len(REGISTRY) + concepts)


def definition_price(chain: Chain, concepts: Sequence[Chain]) -> int:
    """Return the price of defining a concept once, by operators and shorter concepts."""
    shorter = [other for other in concepts if len(other) < len(chain)]
    lengths = log2_millibits(MAX_STEPS - MIN_STEPS + 1)
    return lengths + _cheapest(chain, shorter, use_price(len(concepts)))[0]


def log2_millibits(n: int) -> int:
    """Return 1000·log2(n) rounded up, with integers only: the least m with 2^m ≥ n^1000."""
    return int((n**1000 - 1).bit_length())


def _cheapest_of(
    spelled: Spellings, concepts: Sequence[Chain], use: int
) -> tuple[int, tuple[Chain, ...]]:
    """Write a program in its cheapest spelling; ties go to the first."""
    return min(
        (_cheapest(chain, concepts, use) for chain in spelled), key=lambda spelling: spelling[0]
    )


def _cheapest(chain: Chain, concepts: Sequence[Chain], use: int) -> tuple[int, tuple[Chain, ...]]:
    """Write a chain as cheaply as possible; ties go to the operator, then to earlier concepts."""
    best: list[tuple[int, tuple[Chain, ...]]] = [(0, ())]
    for end in range(1, len(chain) + 1):
        name = chain[end - 1]
        cost, parts = best[end - 1]
        extension = (cost + BY_NAME[name].millibits, (*parts, (name,)))
        for concept in concepts:
            start = end - len(concept)
            if start >= 0 and chain[start:end] == concept:
                cost, parts = best[start]
                if cost + use < extension[0]:
                    extension = (cost + use, (*parts, concept))
        best.append(extension)
    return best[-1]


# -- the bank ---------------------------------------------------------------------------------


def concept_name(chain: Chain) -> str:
    """Return the name of a concept: its operators, joined."""
    return "__".join(chain)


def _bank(corpus: Sequence[Solved], programs: Sequence[Spellings], chosen: Sequence[Chain]) -> Bank:
    use = use_price(len(chosen))
    users: dict[Chain, list[str]] = {chain: [] for chain in chosen}
    for solved, spelled in zip(corpus, programs, strict=True):
        _, parts = _cheapest_of(spelled, chosen, use)
        for part in dict.fromkeys(parts):
            if len(part) > 1:
                users[part].append(solved.digest)
    return Bank(
        tuple(
            Concept(
                concept_name(chain), chain, use, tuple(sorted(users[chain])),
                tuple(concept_name(c) for c in chosen if c != chain and _holds(chain, c)),
            )
            for chain in chosen
        )
    )  # fmt: skip


def _holds(chain: Chain, part: Chain) -> bool:
    n = len(part)
    return any(chain[i : i + n] == part for i in range(len(chain) - n + 1))


def _check_rewritten(solved: Solved, spelled: Spellings, bank: Bank) -> None:
    """Assert that a program written with concepts, when expanded, still solves its task."""
    chains = [concept.operators for concept in bank.concepts]
    _, parts = _cheapest_of(spelled, chains, use_price(len(chains)))
    written_out = tuple(name for part in parts for name in part)
    assert written_out in spelled
    rewritten = replace(solved.program, names=written_out)
    assert check_program(solved.task, rewritten, solved.outputs).exact
