"""Learned concepts are those that pay, by hand-checked sums, and help; evaluation is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.arcruns import Here, hopeless, made, named_set, run_tasks, scattered, solved
from weft.errors import InputError
from weft.searches.arc.bank import Bank
from weft.searches.arc.data import NAMED
from weft.searches.arc.heldout import fingerprint, held_out
from weft.searches.arc.learn import (
    Solved,
    choose,
    corpus_of,
    definition_price,
    description,
    learn,
    log2_millibits,
    repeated,
    use_price,
)
from weft.searches.arc.ops.registry import BY_NAME, REGISTRY
from weft.searches.arc.program import Program
from weft.searches.arc.recorded import read_run
from weft.searches.arc.simplify import is_redundant, joined, operator_inputs, spellings
from weft.searches.arc.synthesis.budget import SearchBudget
from weft.searches.arc.values import Grid

pytestmark = pytest.mark.xdist_group("arc-runs")
FALL, LEFT, DOWN, SCALE = "fall_down", "fall_left", "mirror_down", "scale_2"
PAIR = (FALL, LEFT)
SMALL = SearchBudget(max_programs=4000, max_depth=2, competitor_programs=200)


def price(*names: str) -> int:
    return sum(BY_NAME[name].millibits for name in names)


def grids(first: int) -> list[Grid]:
    """Grids with too many objects for learning tables, which keeps runs short."""
    return [scattered(first + i, 9, 9) for i in range(6)]


def task_of(number: int, *names: str) -> Solved:
    task = made(f"t{number}", names, [scattered(10 * number + i) for i in range(6)])
    return Solved(task, Program(names), [grid.rows() for grid in task.truth], task.digest)


def plain(chains: list[tuple[str, ...]]) -> list[tuple[tuple[str, ...], ...]]:
    """Programs with one spelling each."""
    return [(chain,) for chain in chains]


# -- prices ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "millibits"), [(1, 0), (2, 1000), (3, 1585), (8, 3000), (10, 3322), (1024, 10_000)]
)
def test_price_of_one_of_n_is_log2_rounded_up(n: int, millibits: int) -> None:
    assert log2_millibits(n) == millibits


def test_description_is_the_sum_by_hand() -> None:
    chains = plain([PAIR, PAIR, (*PAIR, DOWN), (SCALE, *PAIR), (DOWN,)])
    assert description(chains, ()) == 4 * price(*PAIR) + 2 * price(DOWN) + price(SCALE)
    use = log2_millibits(len(REGISTRY) + 1)
    definition = 1585 + price(*PAIR)
    assert definition_price(PAIR, [PAIR]) == definition
    assert description(chains, [PAIR]) == 4 * use + 2 * price(DOWN) + price(SCALE) + definition


def test_longer_concept_is_defined_by_a_shorter_one() -> None:
    long = (*PAIR, DOWN)
    both = (PAIR, long)
    assert definition_price(long, both) == 1585 + use_price(2) + price(DOWN)
    assert definition_price(PAIR, both) == 1585 + price(*PAIR)


def test_chain_is_kept_exactly_when_it_pays() -> None:
    saved = price(*PAIR) - use_price(1)
    enough = (1585 + price(*PAIR)) // saved + 1
    assert choose(plain([PAIR] * enough), [PAIR]) == (PAIR,)
    assert choose(plain([PAIR] * (enough - 1)), [PAIR]) == ()


def test_choice_does_not_depend_on_any_order() -> None:
    chains = [PAIR] * 4 + [(*PAIR, DOWN)] * 5 + [(SCALE, FALL)] * 6 + [(DOWN, SCALE)] * 6
    candidates = repeated(chains)
    results = {choose(plain(chains), candidates), choose(plain(chains[::-1]), candidates)}
    results.add(choose(plain(chains), candidates[::-1]))
    assert len(results) == 1
    assert results.pop()


def test_concept_that_a_longer_one_replaces_is_dropped() -> None:
    long = (FALL, LEFT, DOWN)
    chosen = choose(plain([long] * 30), repeated([long] * 30))
    assert chosen == (long,), "its parts are used by nothing"


def test_repeated_chains_count_once_for_each_program() -> None:
    assert repeated([(FALL, FALL, FALL, FALL)]) == []
    assert repeated([(FALL, LEFT, DOWN), (FALL, LEFT)]) == [PAIR]
    longest = (FALL, LEFT, DOWN, SCALE, FALL)
    assert max(map(len, repeated([longest, longest]))) == 4


def test_program_is_written_in_its_cheapest_spelling() -> None:
    """Two mirrorings cancel out; spelled without them, the program uses the concept."""
    long = ("mirror_rows", "mirror_rows", FALL, LEFT)
    programs = [*plain([PAIR] * 6), (long, PAIR)]
    use = use_price(1)
    assert description(programs, [PAIR]) == 7 * use + definition_price(PAIR, [PAIR])
    assert description(programs, ()) == 7 * price(*PAIR)


def test_program_that_does_the_same_is_spelled_with_the_concept() -> None:
    """Rotating, dropping and rotating back is falling left, so two spellings share one concept."""
    tasks = [task_of(i, *PAIR) for i in range(8)]
    turned = task_of(10, FALL, "rotate_270", FALL, "rotate_90")
    result = learn([*tasks, turned])
    [concept] = result.bank.concepts
    assert concept.operators == PAIR
    assert turned.task.digest in concept.tasks


def test_joined_parts_are_spellings_that_no_program_has() -> None:
    chains = [PAIR, PAIR, (DOWN,), (DOWN,), (*PAIR, "mirror_rows", DOWN)]
    tasks = [task_of(i, *chain).task for i, chain in enumerate(chains)]
    mirrored = (*PAIR, DOWN)
    assert mirrored in joined(chains, repeated(chains))
    spelled_chains = spellings(tasks, chains, repeated(chains))
    assert [own for own, *_ in spelled_chains] == chains
    assert all(mirrored not in spelled for spelled in spelled_chains), (
        "mirrored first is something else"
    )


# -- simplifying -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chain", "redundant"),
    [
        (("rotate_90", "rotate_90"), True),
        (("mirror_rows", "mirror_rows"), True),
        (("fall_down", "fall_down"), True),
        (("transpose", "mirror_rows"), True),
        (("fall_down", "mirror_rows", "mirror_rows"), True),
        (PAIR, False),
        (("fall_down", "rotate_90"), False),
        (("objects_4", "sort_by_cells_down", "column_of_colours"), False),
    ],
)
def test_chain_that_a_shorter_one_equals_is_redundant(
    chain: tuple[str, ...], redundant: bool
) -> None:
    corpus = [task_of(i, *chain) for i in range(2)]
    inputs = operator_inputs([(s.task, s.program) for s in corpus])
    assert is_redundant(chain, inputs) == redundant


def test_redundant_chains_are_not_learned() -> None:
    result = learn([task_of(i, "rotate_90", "rotate_90") for i in range(20)])
    assert result.bank.concepts == ()
    assert result.simplified == result.candidates == 1


# -- learning --------------------------------------------------------------------------------


def test_bank_names_its_tasks_and_concepts() -> None:
    pairs = [task_of(i, *PAIR) for i in range(8)]
    longs = [task_of(20 + i, *PAIR, DOWN, "transpose") for i in range(8)]
    result = learn([*pairs, *longs])
    by_chain = {concept.operators: concept for concept in result.bank.concepts}
    assert PAIR in by_chain
    assert by_chain[PAIR].name == "fall_down__fall_left"
    assert set(by_chain[PAIR].tasks) == {s.task.digest for s in pairs}
    long = by_chain[(*PAIR, DOWN, "transpose")]
    assert "fall_down__fall_left" in long.concepts
    assert result.after_millibits < result.before_millibits
    assert Bank.from_dict(json.loads(result.bank.to_json())) == result.bank


def test_bank_learned_on_one_run_helps_another(tmp_path: Path, weft: Here) -> None:
    """With the bank, the pair of operators is one step, so two steps reach three operators."""
    tasks = [made(f"t{i}", PAIR, grids(10 * i)) for i in range(5)]
    run_tasks(tmp_path / "a", tasks, budget=SMALL, without=("lists",))
    result = weft("arc", "learn", tmp_path / "a", "--bank", tmp_path / "bank.json")
    assert result.code == 0, result
    assert "fall_down__fall_left" in result.out
    assert "used by 5 of 5 programs" in result.out
    bank = Bank.read(tmp_path / "bank.json")
    exam = [made("exam", [DOWN, *PAIR], grids(900))]
    alone = run_tasks(tmp_path / "alone", exam, budget=SMALL, without=("lists",))
    helped = run_tasks(tmp_path / "helped", exam, budget=SMALL, without=("lists",), bank=bank)
    assert (alone.exit_code, helped.exit_code) == (1, 0)
    answer = read_run(tmp_path / "helped").items[0].answer
    assert answer is not None
    written = Program((DOWN, *PAIR)).text()
    assert written in answer["groups"][0]["programs"], "recorded written out"
    assert answer["groups"][0]["outputs"] == [exam[0].truth[0].rows()]
    relearned = weft(
        "arc", "learn", tmp_path / "a", "--bank", tmp_path / "bank.json", "--json"
    ).json
    assert relearned["digest"] == bank.digest(), "the same runs give the same bank"


def test_run_without_common_chains_gives_an_empty_bank(
    tmp_path: Path, weft: Here, small_run: Path
) -> None:
    result = weft("arc", "learn", small_run, "--bank", tmp_path / "bank.json")
    assert result.code == 1
    assert Bank.read(tmp_path / "bank.json").concepts == ()


# -- refusals --------------------------------------------------------------------------------


def test_run_on_evaluation_tasks_is_refused(tmp_path: Path, weft: Here, sealed_run: Path) -> None:
    result = weft("arc", "learn", sealed_run, "--bank", tmp_path / "bank.json")
    result.check_one_line(3, "evaluation", "training tasks only")
    assert not (tmp_path / "bank.json").exists()


def test_evaluation_task_is_known_by_its_pairs_whatever_it_is_called(
    small_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = read_run(small_run)
    disguised = replace(solved(), name="x", train=solved().train[::-1])
    assert fingerprint(disguised) == fingerprint(solved())
    monkeypatch.setattr("weft.searches.arc.heldout._known", lambda: {fingerprint(disguised)})
    with pytest.raises(InputError, match="1 of its 3 tasks are evaluation tasks"):
        corpus_of([run])


def test_unfinished_and_foreign_runs_are_refused(
    tmp_path: Path, weft: Here, small_run: Path
) -> None:
    run = read_run(small_run)
    unfinished = replace(run, items=(replace(run.items[0], answer=None), *run.items[1:]))
    with pytest.raises(InputError, match="not finished"):
        corpus_of([unfinished])
    bank = tmp_path / "bank.json"
    weft("arc", "learn", tmp_path, "--bank", bank).check_one_line(3, str(tmp_path))
    bank.write_text("notes of mine")
    weft("arc", "learn", small_run, "--bank", bank).check_one_line(3, "bank.json")
    assert bank.read_text() == "notes of mine"


def test_program_that_does_not_replay_is_refused(small_run: Path) -> None:
    run = read_run(small_run)
    at = next(i for i, item in enumerate(run.items) if item.outcome == "SOLVED")
    answer: Any = json.loads(json.dumps(run.items[at].answer, default=str))
    answer["groups"][0]["programs"][0] = "return mirror_rows(I)\n"
    items = list(run.items)
    items[at] = replace(items[at], answer=answer)
    with pytest.raises(InputError, match="does not do what it claims"):
        corpus_of([replace(run, items=tuple(items))])


def test_cheapest_program_is_taken_whatever_the_order_of_runs(small_run: Path) -> None:
    run = read_run(small_run)
    at = next(i for i, item in enumerate(run.items) if item.outcome == "SOLVED")
    answer: Any = json.loads(json.dumps(run.items[at].answer, default=str))
    longer = "a = mirror_rows(I)\nb = mirror_rows(a)\nreturn mirror_down(b)\n"
    answer["groups"][0]["programs"][0] = longer
    items = list(run.items)
    items[at] = replace(items[at], answer=answer)
    other = replace(run, items=tuple(items))
    assert corpus_of([run, other]) == corpus_of([other, run]) == corpus_of([run])


# -- held-out tasks --------------------------------------------------------------------------


def test_held_out_tasks_are_those_of_the_evaluation_splits() -> None:
    """Only fingerprints are compared; no evaluation task is inspected."""
    known = named_set("arc-agi-1", "training").tasks
    training = {fingerprint(task) for task in known}
    for name in NAMED:
        tasks = named_set(name, "evaluation").tasks
        own = [task for task in tasks if fingerprint(task) not in training]
        assert held_out(own) == len(own)
        assert len(tasks) - len(own) <= 1
    assert held_out(known) == 0
    assert held_out(named_set("arc-agi-2", "training").tasks) > 300, "ARC-AGI-2 reuses them"
    assert held_out([solved(), hopeless()]) == 0
