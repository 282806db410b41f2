"""Decision lists over cells: features, text, the covering step, learning, the search's guess."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arcvalues import grid, grids
from weft.errors import ValueInvalid
from weft.searches.arc.check import check_program
from weft.searches.arc.fitted.celllist import Cells
from weft.searches.arc.kernels import covering
from weft.searches.arc.lists.cells import parse
from weft.searches.arc.lists.choices import Choices, choices_of, plain_choices_of
from weft.searches.arc.lists.features import features_of, plain_features_of
from weft.searches.arc.lists.learn import TrainingCells, learn, leave_out, loo_passes, search_of
from weft.searches.arc.lists.neighbours import NONE
from weft.searches.arc.lists.words import COLOURS, NAMES
from weft.searches.arc.ops.registry import REGISTRY
from weft.searches.arc.program import Program
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.recorded import Recorded
from weft.searches.arc.runview import view_of
from weft.searches.arc.synthesis.ablation import CHECKS, LISTS
from weft.searches.arc.synthesis.budget import SearchBudget
from weft.searches.arc.synthesis.language import Language
from weft.searches.arc.synthesis.listcontext import EncodedLayout
from weft.searches.arc.synthesis.phases import Options
from weft.searches.arc.synthesis.planner import ParallelPlanner, ParallelSearchResult
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids, encode_grids
from weft.searches.arc.verdict import Outcome
from weft.searches.arc.wire import answer_to_wire

TEXTS = (
    "else own",
    "own=0 & across!=x -> across; label_enclosed=1 -> 4; else own",
    "all -> lay mirror_columns; area_size>=4 -> blob_main; row<2 -> 3; else input",
    "objects_8|keep_largest|draw_all!=0 -> 2; else 0",
)


def column(name: str, value: Grid) -> list[int]:
    return [int(number) for number in features_of(value)[NAMES.index(name)]]


# feature, grid, value of the feature for every cell
SEEN = (
    ("west", "120/034", "x12x03"),
    ("southeast", "120/034", "34xxxx"),
    ("sees_east", "1100/0002", "00xx222x"),
    ("sees_north", "12/12/01", "xxxx12"),
    ("across", "20002", "x222x"),
    ("down", "3/0/0/3", "x33x"),
    ("falling", "1000/0000/0010/0001", "xxxxx1xxxxxxxxxx"),
    ("mirrored_across", "123", "321"),
    ("transposed", "12/34", "1324"),
    ("transposed", "123", "xxx"),
    ("row_ink", "0120/0000/3311", "1111xxxx1111"),
    ("touching", "000/040/000", "444404444"),
    ("blob_main", "110/001/200", "11xxx12xx"),
    ("blob_main", "112/000", "111xxx"),
    ("blob_rare", "112/000", "222xxx"),
    ("rarest", "112", "222"),
    ("area_size", "110/002", "221221"),
    ("area_rank", "110/002/033", "110002011"),
    ("area_at_edge", "0000/0110/0110/0000", "1111100110011111"),
    ("area_depth", "0000/0110/0110/0000", "0" * 16),
    ("off_rising", "000/000", "210101"),
    ("near_ink", "010/000/000", "101111000"),
    ("row_like", "112/000", "221333"),
    ("colour_rank", "1122300", "0000300"),
    ("nearest", "100/000/002", "x1111212x"),
    ("gap_east", "1002", "1210"),
    ("distance", "100/000", "012123"),
    ("reach", "100/000", "012112"),
    ("row_has_3", "30/00", "1100"),
    ("touches_1", "010/000", "101111"),
    ("blob_has_2", "120/000/003", "110000000"),
    ("box_across", "10/11/00", "0111xx"),
    ("box_down", "10/11/00", "1110xx"),
    ("in_box", "0000/0110/0100/0000", "0000011001100000"),
    ("box_size", "0000/0110/0100/0000", "0000033003300000"),
    ("block_own", "1050/0050/5555/0052", "11x011x0xxxx00x2"),
    ("block_down", "151/050/555/050/555/151", "xxxxxxxxx1x1xxxxxx"),
    ("block_pattern", "1251/0050", "12x100x0"),
    ("block_row", "1050/0050/5555/0052", "0000000000001101"),
    ("block_next", "12534/00500", "34x1200x00"),
    ("block_next", "12534/00500/55555/11511", "34x1100xxxxxxxx11x12"),
    ("block_votes", "125125135/005005005", "320320310330330330"),
    ("block_as_first", "12513/00501", "1111011110"),
    ("block_as_last", "12513/00501", "1011110111"),
    ("row_repeated", "12/12/34", "111100"),
    ("column_repeated", "121/040", "101101"),
    ("row_as_first", "12/34/12", "110011"),
    ("row_as_last", "12/34/12/34", "00110011"),
    ("column_as_first", "121/040", "101101"),
    ("column_as_last", "122/044", "011011"),
)


@pytest.mark.parametrize(("name", "text", "numbers"), SEEN)
def test_feature_of_small_grid_is_what_its_words_say(name: str, text: str, numbers: str) -> None:
    expected = [NONE if symbol == "x" else int(symbol) for symbol in numbers]
    assert column(name, grid(text)) == expected


@st.composite
def divided(draw: st.DrawFn) -> Grid:
    """A grid, usually crossed by full lines of one colour."""
    rows = [list(row) for row in draw(grids(12)).rows()]
    colour, width = draw(st.integers(1, 9)), len(rows[0])
    for at in draw(st.lists(st.integers(0, len(rows) - 1), max_size=3)):
        rows[at] = [colour] * width
    for at in draw(st.lists(st.integers(0, width - 1), max_size=3)):
        for row in rows:
            row[at] = colour
    return Grid.of(rows)


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(value=st.one_of(grids(9), divided()))
def test_features_are_those_of_the_slow_twin(value: Grid) -> None:
    fast, slow = features_of(value), plain_features_of(value)
    assert [NAMES[n] for n in np.nonzero((fast != slow).any(axis=1))[0]] == []


@pytest.mark.parametrize("size", [(1, 1), (1, 30), (30, 1), (30, 30)])
@pytest.mark.parametrize("colour", [0, 3])
def test_features_of_plain_grids_of_extreme_sizes_are_those_of_the_slow_twin(
    size: tuple[int, int], colour: int
) -> None:
    value = Grid(*size, bytes([colour]) * (size[0] * size[1]))
    assert np.array_equal(features_of(value), plain_features_of(value))
    spotted = Grid(*size, value.cells[:-1] + b"\x07")
    assert np.array_equal(features_of(spotted), plain_features_of(spotted))


@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(value=grids(7))
def test_mirror_image_swaps_the_sides_that_features_look_to(value: Grid) -> None:
    image = Grid.of([row[::-1] for row in value.rows()])
    swaps = {"west": "east", "sees_northwest": "sees_northeast", "row_start": "row_end"}
    swaps |= {"area_column": "area_column_back", "across": "across", "blob_size": "blob_size"}
    original, mirrored = (
        dict(zip(NAMES, features_of(side), strict=True)) for side in (value, image)
    )
    for name, other in swaps.items():
        rows = original[name].reshape(value.height, value.width)
        assert rows[:, ::-1].ravel().tolist() == mirrored[other].tolist()
    assert all(original[name].max() <= NONE for name in COLOURS)


@pytest.mark.parametrize("text", TEXTS)
def test_list_text_round_trips_and_has_a_price(text: str) -> None:
    rule = Cells()
    assert rule.show(rule.parse(text)) == text
    assert rule.price(rule.parse(text)) == 4000 + parse(text).millibits >= 5000


@pytest.mark.parametrize(
    "text",
    ["", "own", "else", "else area_size", "else nothing", "own=0 -> 1", "own=0  -> 1; else own",
     "own=0 & own=1 & own=2 -> 1; else own", "own=xx -> 1; else own", "own=010 -> 1; else own",
     "objects_8=1 -> 1; else own", "else draw_all", "own>0 -> 1; else own", "all -> lay 1; else 0"],
)  # fmt: skip
def test_text_that_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueInvalid):
        Cells().parse(text)


def test_longer_list_costs_more() -> None:
    short, long = parse("own=0 -> 1; else own"), parse("own=0 & row=1 -> 1; else own")
    assert short.millibits < long.millibits
    assert long.millibits < parse("own=0 & row=1 -> 1; own=2 -> 3; else own").millibits


def test_list_fails_where_nothing_speaks_or_sizes_differ() -> None:
    rule, value = Cells(), grid("10/00")
    assert rule.apply(rule.parse("else across"), value, value) is None
    assert rule.apply(rule.parse("else scale_2"), value, value) is None
    assert rule.apply(rule.parse("else mirror_columns"), value, value) == grid("01/00")


# -- the covering step -----------------------------------------------------------------------


def rows_of(sets: list[set[int]]) -> covering.Sets:
    words = [[sum(1 << bit for bit in range(64) if 64 * w + bit in members) for w in range(2)]
             for members in sets]  # fmt: skip
    return np.array(words, np.uint64)


@st.composite
def coverings(draw: st.DrawFn) -> dict[str, list[set[int]]]:
    some = st.sets(st.integers(0, 79), max_size=40)
    everything = set(range(80))
    right = draw(st.lists(some, min_size=1, max_size=12))
    return {
        "tests": [everything, *draw(st.lists(some, min_size=1, max_size=9))],
        "right": right,
        "wrong": [draw(some) - count for count in right],
        "open": [draw(some) | set(range(0, 80, 3))],
        "pairs": [set(range(40)), set(range(40, 80))],
    }


def plain_best(
    sets: dict[str, list[set[int]]], costs: list[int], faulty: set[int], width: int, most: int
) -> list[list[int]]:
    """The clauses with the highest scores, by exhaustive search; ties go to the first."""
    everything = sets["open"][0]
    least = min((c for c, t in zip(costs, sets["tests"], strict=True) if everything - t), default=0)
    rows = []
    for action, (right, wrong) in enumerate(zip(sets["right"], sets["wrong"], strict=True)):
        helps, harms = faulty & right, everything & wrong

        def score(cells: set[int], cost: int, helps: set[int] = helps) -> tuple[int, int]:
            pairs_helped = sum(bool(cells & helps & pair) for pair in sets["pairs"])
            return len(cells & helps) * 1_000_000 // cost // (
                1 if pairs_helped > 1 else 3
            ), pairs_helped

        useful = [i for i, test in enumerate(sets["tests"]) if test & helps]
        alone = [i for i in useful if not sets["tests"][i] & harms]
        mixed = [i for i in useful if sets["tests"][i] & harms]
        mixed.sort(key=lambda i: -score(sets["tests"][i], costs[i] + least + 1000 + 3000)[0])
        twos = sorted(combinations(range(len(mixed[:width])), 2), key=lambda two: two[::-1])
        for i, j in [(i, i) for i in alone] + [(mixed[x], mixed[y]) for x, y in twos]:
            cells = sets["tests"][i] & sets["tests"][j]
            if cells & harms or not cells & helps:
                continue
            cost = costs[i] + 1000 + 2000 if i == j else costs[i] + costs[j] + 1000 + 3000
            value, count = score(cells, cost)
            rows.append([value, action, i, -1 if i == j else j, count])
    rows.sort(key=lambda row: -row[0])
    return [*rows, *([-1, 0, 0, 0, 0] for _ in range(most))][:most]


@settings(max_examples=120, deadline=None, derandomize=True, database=None)
@given(sets=coverings(), width=st.integers(2, 8), most=st.integers(1, 3), data=st.data())
def test_best_clauses_are_those_of_the_slow_twin(
    sets: dict[str, list[set[int]]], width: int, most: int, data: st.DataObject
) -> None:
    n = len(sets["tests"])
    costs = data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    costs = [1000 * cost for cost in costs]
    faulty = sets["open"][0] - set(range(0, 80, 7))
    best = np.empty((most, covering.FIELDS), np.int64)
    covering.best_clauses(
        rows_of(sets["tests"]), np.array(costs, np.int64), rows_of(sets["right"]),
        rows_of(sets["wrong"]), np.full(len(sets["right"]), 1000, np.int64),
        rows_of(sets["open"])[0], rows_of([faulty])[0], rows_of(sets["pairs"]), width, best,
    )  # fmt: skip
    assert best.tolist() == plain_best(sets, costs, faulty, width, most)


@st.composite
def training_cells(draw: st.DrawFn) -> TrainingCells:
    """Cells of one to three pairs, with a few columns of each kind."""
    cells, pairs = draw(st.integers(3, 150)), draw(st.integers(1, 3))

    def column(highest: int, few: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        some = draw(st.lists(st.integers(0, highest), min_size=1, max_size=few))
        seed = draw(st.integers(0, 2**32 - 1))
        return np.random.default_rng(seed).choice(np.array(some, np.uint8), cells)

    columns = {"own": column(9, 3), "north": column(10, 3), "row": column(60, 6)}
    columns |= {"area_size": column(60, 3), "mirror_columns": column(9, 2), "input": columns["own"]}
    columns |= {"row_parity": column(1, 2), "grow|mirror_rows": column(9, 1)}
    return TrainingCells(columns, column(9, 3), np.arange(cells, dtype=np.uint8) % pairs)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(training=training_cells())
def test_choices_are_those_of_the_slow_twin(training: TrainingCells) -> None:
    fast, slow = choices_of(training), plain_choices_of(training)
    for name in Choices.__slots__:
        value, other = getattr(fast, name), getattr(slow, name)
        assert np.array_equal(value, other) if isinstance(value, np.ndarray) else value == other


# -- learning --------------------------------------------------------------------------------


@settings(max_examples=8, deadline=None, derandomize=True, database=None)
@given(values=st.lists(grids(6), min_size=2, max_size=3))
def test_learned_list_is_right_on_every_training_cell(values: list[Grid]) -> None:
    rule = Cells()
    params = rule.parse("own=1 & area_at_edge=0 -> 7; own=2 -> sees_west; else own")
    pairs = [(value, rule.apply(params, value, value)) for value in values]
    columns = np.hstack([features_of(value) for value in values])
    expected = b"".join(target.cells for _, target in pairs if target is not None)
    size = [len(value.cells) for value in values]
    training = TrainingCells(
        dict(zip(NAMES, columns, strict=True)),
        np.frombuffer(expected, np.uint8),
        np.repeat(np.arange(len(values)), size).astype(np.uint8),
    )
    learned_lists = learn(search_of(training))
    assert learned_lists
    assert [learned_list.millibits for learned_list in learned_lists] == sorted(
        learned_list.millibits for learned_list in learned_lists
    )
    for candidate in learned_lists:
        learned = rule.parse(candidate.text())
        assert all(rule.apply(learned, value, value) == target for value, target in pairs)


def framed(row: int, col: int, side: int, size: int) -> tuple[Grid, Grid]:
    """A square outline whose inside becomes 4 in even rows and 3 in odd ones."""
    rows = [[0] * size for _ in range(size)]
    for k in range(side):
        for r, c in ((0, k), (side - 1, k), (k, 0), (k, side - 1)):
            rows[row + r][col + c] = 8
    inside = [[0 < r - row < side - 1 and 0 < c - col < side - 1 for c in range(size)]
              for r in range(size)]  # fmt: skip
    out = [[(3 + (r % 2 == 0)) if inside[r][c] else rows[r][c] for c in range(size)]
           for r in range(size)]  # fmt: skip
    return Grid.of(rows), Grid.of(out)


FRAMES = ((1, 1, 5, 9), (0, 2, 6, 10), (3, 1, 5, 10), (2, 1, 6, 9), (0, 3, 5, 9), (1, 2, 6, 10))


def planted(pairs: int = 3) -> ArcTask:
    framed_pairs = [framed(*where) for where in (*FRAMES[:pairs], (1, 2, 7, 11))]
    train = tuple(Pair(*pair) for pair in framed_pairs[:-1])
    return ArcTask("planted", train, (framed_pairs[-1][0],), (framed_pairs[-1][1],))


def searched(task: ArcTask, *without: str) -> ParallelSearchResult:
    few = Language((), [o for o in REGISTRY if o.name in ("mirror_rows", "grow")])
    options = Options(few, SearchBudget(max_programs=400, max_depth=2), without=without)
    return ParallelPlanner(options).search(task)


def test_list_that_passes_cross_validation_answers_what_no_chain_does() -> None:
    task = planted(len(FRAMES))
    result = searched(task)
    assert result.verdict.outcome is Outcome.SOLVED
    best = result.verdict.groups[0]
    assert best.outputs == task.truth
    assert best.evidence is not None
    assert best.evidence.loo_passed == len(task.train)
    program = best.programs[0]
    assert program.fitted == "cells"
    assert program.millibits() == best.millibits
    assert check_program(task, program, [output.rows() for output in best.outputs]).exact
    assert searched(task).verdict == result.verdict


@pytest.mark.parametrize(("pairs", "without"), [(len(FRAMES), (CHECKS,)), (3, ()), (2, ())])
def test_list_is_a_guess_unchecked_or_where_it_misses_a_pair(
    pairs: int, without: tuple[str, ...]
) -> None:
    result = searched(planted(pairs), *without)
    assert result.verdict.outcome in (Outcome.BUDGET, Outcome.NO_PROGRAM)
    assert result.verdict.groups


def test_search_without_lists_finds_none() -> None:
    assert searched(planted(), LISTS).verdict.groups == ()


def test_list_that_needs_every_pair_fails_cross_validation() -> None:
    """Each pair has its own input colour and its own output colour."""
    own, expected = np.array([1, 0, 2, 0, 3, 0], np.uint8), np.array([4, 0, 7, 0, 5, 0], np.uint8)
    pairs = np.array([0, 0, 1, 1, 2, 2], np.uint8)
    alone = TrainingCells({"own": own}, expected, pairs)
    assert learn(search_of(alone))
    assert not loo_passes(alone)
    marked = {"own": (own > 0).astype(np.uint8)}
    assert loo_passes(TrainingCells(marked, np.array([4, 0] * 3, np.uint8), pairs))
    rest = leave_out(alone, 1)
    assert rest.pairs.tolist() == [0, 0, 1, 1]
    assert rest.expected.tolist() == [4, 0, 5, 0]


def test_solved_task_keeps_lists_as_guesses_and_shows_its_answer_alone() -> None:
    pairs = [grid(text) for text in ("1020/0000/0003", "4000/0050/0600", "7001/0200/0000")]
    train = tuple(Pair(pair, Grid.of([row[::-1] for row in pair.rows()])) for pair in pairs[:2])
    task = ArcTask("mirrored", train, (pairs[2],))
    language = Language((), [o for o in REGISTRY if o.name == "mirror_columns"])
    result = ParallelPlanner(Options(language, SearchBudget(max_programs=50))).search(task)
    assert result.verdict.outcome is Outcome.SOLVED
    assert not result.verdict.groups[0].programs[0].fitted
    view = view_of(Recorded(task, answer_to_wire(result, None)))
    assert len(view.answers) == 1
    assert view.answers[0].outputs == (Grid.of([row[::-1] for row in pairs[2].rows()]),)


def test_program_with_a_list_is_text_that_can_be_read_back() -> None:
    program = Program(("grow",), "cells", TEXTS[1])
    assert read_program(program.text()) == program


@given(st.lists(grids(3), min_size=1, max_size=3), st.lists(grids(3), min_size=1, max_size=3))
def test_cells_of_encoded_grids_are_read_where_their_sizes_are_those_asked_for(
    like: list[Grid], encoded: list[Grid]
) -> None:
    layout = EncodedLayout.of(like)
    for content in (encode_grids(encoded), encode_grids(like)):
        cells = layout.cells_of(content)
        decoded = decode_grids(content)
        same = [grid.size for grid in decoded] == [grid.size for grid in like]
        expected = b"".join(grid.cells for grid in decoded) if same else None
        assert (None if cells is None else cells.tobytes()) == expected
