"""Draws in the forms that users have: every form is recognised and converted to draws."""

from __future__ import annotations

import base64
import gzip
import json
import random
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.searches.prng.conftest import Analyse
from weft import main
from weft.errors import FileInvalid
from weft.searches.prng.drawforms import ranges_of
from weft.searches.prng.formreaders import DIGITS, LOWER, UPPER
from weft.searches.prng.guessing import guess_file, guess_lines
from weft.searches.prng.history import History
from weft.searches.prng.intake import READERS, read_draws, with_range
from weft.searches.prng.rowreaders import DECK

LETTERS = LOWER + UPPER + DIGITS
Source = random.Random
"""CPython's own generator makes all the files, and its draws must be read back."""


def lines(make: Callable[[Source], object], count: int, seed: int) -> bytes:
    source = random.Random(seed)
    return "\n".join(str(make(source)) for _ in range(count)).encode()


def words_of(seed: int, count: int, shown: int = 32) -> list[int]:
    source = random.Random(seed)
    return [source.getrandbits(32) & ((1 << shown) - 1) for _ in range(count)]


def shuffled(source: Source) -> str:
    deck = list(DECK)
    source.shuffle(deck)
    return " ".join(deck)


FILES: dict[str, tuple[bytes, list[int]]] = {
    "integers": (
        lines(lambda s: s.randint(1, 49), 90, 3),
        [random.Random(3).randint(0, 48) for _ in range(1)],
    ),
    "signed": (
        lines(lambda s: s.getrandbits(32) - (1 << 31), 40, 4),
        [word ^ 1 << 31 for word in words_of(4, 40)],
    ),
    "floats": (
        lines(lambda s: repr(s.random()), 40, 5),
        [int(random.Random(5).random() * 2**32)],
    ),
    "hex-numbers": (lines(lambda s: f"{s.getrandbits(128):032x}", 12, 6), words_of(6, 48)),
    "hex-words-le": (lines(lambda s: s.randbytes(16).hex(), 12, 7), words_of(7, 48)),
    "base64-bytes": (
        lines(lambda s: base64.b64encode(s.randbytes(16)).decode(), 12, 8),
        [byte for word in words_of(8, 48) for byte in word.to_bytes(4, "little")],
    ),
    "uuid-words": (
        lines(lambda s: uuid.UUID(int=s.getrandbits(128), version=4), 12, 9),
        words_of(9, 48, 12),
    ),
    "letters": (
        lines(lambda s: "".join(s.choice(LETTERS) for _ in range(12)), 60, 10),
        [random.Random(10).randrange(62)],
    ),
    "card-top": (lines(shuffled, 12, 11), []),
    "row-first": (
        lines(lambda s: ",".join(map(str, s.sample(range(1, 50), 6))), 40, 12),
        [random.Random(12).sample(range(49), 6)[0]],
    ),
}


@pytest.mark.parametrize("form", sorted(FILES))
def test_file_is_guessed_and_read_to_the_draws_behind_it(form: str) -> None:
    data, drawn = FILES[form]
    named = [item.form.name for item in guess_file(data, "draws.txt", None)]
    assert form in named
    history = read_draws(data, "draws.txt", form)
    assert list(history.draws[: len(drawn)]) == drawn
    assert history.form is not None
    assert max(history.draws) < history.form.modulus
    assert History.from_canonical(history.canonical()) == history


@pytest.mark.parametrize(
    "table",
    ["id;x\n0;\n1;37\n2;74\n3;10\n4;47\n", "id;x\n0\n1;3\n2;4\n3;5\n", "id;x\n;6\n", "a;b;c\n0;"],
)
def test_table_with_an_empty_cell_is_no_shuffle(table: str) -> None:
    for item in guess_file(table.encode(), "draws.txt", None):
        assert "shuffle" not in item.form.name


@pytest.mark.parametrize(
    ("form", "usual"),
    [("integers", "1 to 49"), ("floats", "0 ≤ x < 1"), ("signed", "0 to 4294967295")],
)
def test_likeliest_guess_names_range_and_next_command(form: str, usual: str) -> None:
    best = guess_file(FILES[form][0], "draws.txt", None)[0]
    assert (best.form.name, best.form.range_text()) == (form, usual)
    assert best.command is not None
    assert best.command.startswith("weft prng analyse draws.txt --")


def test_last_card_of_a_shuffle_is_its_first_draw() -> None:
    """Fisher-Yates from the end: the first call names the last card."""
    source = random.Random(11)
    history = read_draws(FILES["card-top"][0], "x", "card-bottom")
    assert history.draws[0] == source.randrange(52)


def test_uuid_made_digit_by_digit_gives_one_draw_for_each_digit() -> None:
    source = random.Random(2)
    draws = [source.randrange(16) for _ in range(31 * 6)]
    texts = []
    for at in range(0, len(draws), 31):
        digits = [f"{draw:x}" for draw in draws[at : at + 31]]
        digits[15] = f"{draws[at + 15] & 3 | 8:x}"
        plain = "".join([*digits[:12], "4", *digits[12:]])
        texts.append(str(uuid.UUID(plain)))
    history = read_draws("\n".join(texts).encode(), "x", "uuid-digits")
    wrong = [at for at, (a, b) in enumerate(zip(history.draws, draws, strict=True)) if a != b]
    assert {at % 31 for at in wrong} <= {15}


@pytest.mark.parametrize(
    "data",
    [
        b"time,roll,session\n1,17,a\n2,30,a\n3,41,b\n4,2,b\n5,9,b\n",
        b'[{"time": 1, "roll": 17, "session": "a"}, {"time": 2, "roll": 30, "session": "a"},'
        b' {"time": 3, "roll": 41, "session": "b"}, {"time": 4, "roll": 2, "session": "b"},'
        b' {"time": 5, "roll": 9, "session": "b"}]',
        b'{"time": 1, "roll": 17, "session": "a"}\n{"time": 2, "roll": 30, "session": "a"}\n'
        b'{"time": 3, "roll": 41, "session": "b"}\n{"time": 4, "roll": 2, "session": "b"}\n'
        b'{"time": 5, "roll": 9, "session": "b"}\n',
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_column_of_a_table_json_or_json_lines_is_read(data: bytes, packed: bool) -> None:
    history = read_draws(gzip.compress(data) if packed else data, "x", "auto", "roll")
    low = history.form.low if history.form else 0
    assert [draw + low for draw in history.draws] == [17, 30, 41, 2, 9]
    assert history.sessions == ("a", "a", "b", "b", "b")


def test_whole_numbers_in_the_usual_files_are_read_as_before() -> None:
    assert read_draws(b"7\n12\n999\n", "x") == History((7, 12, 999))
    assert with_range(History((7, 12, 999))) == (History((7, 12, 999)), 1000)
    many = History(tuple(range(100, 1000, 7)))
    assert with_range(many) == (many, 1000)


def test_range_that_the_draws_plainly_show_is_taken() -> None:
    dice = History((1, 6, 3, 2, 5, 4) * 5)
    shifted, modulus = with_range(dice)
    assert (modulus, shifted.draws[:6]) == (6, (0, 5, 2, 1, 4, 3))
    assert shifted.texts((0, 5)) == ["1", "6"]
    codes = ranges_of([100_000, 999_999, 500_000] * 20)
    assert (codes[0].low, codes[0].size) == (100_000, 900_000)


@pytest.mark.parametrize(
    ("form", "draws", "text"),
    [
        ("letters", (0, 1, 2, 61), "abc9"),
        ("card-top", (0, 51), "AS"),
        ("floats", (1 << 31,), "0.500000000…"),
        ("signed", (0xFFFFFFFF,), "-1"),
        ("hex-words-le", (255,), "000000ff"),
    ],
)
def test_next_draws_are_written_in_the_form_of_the_file(
    form: str, draws: tuple[int, ...], text: str
) -> None:
    assert read_draws(FILES[form][0], "x", form).texts(draws)[0] == text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"the quick\nbrown fox\n", "row 1 begins with"),
        (b"1,2,3,4,5,6\n" * 9, "rows are sorted"),
        (gzip.compress(b"1\n2\n", mtime=0)[:-6], "a damaged gzip file"),
        (b"0.5\nx\n0.25\n0.1\n0.7\n0.3\n", 'draw 2 is "x", not a fraction from 0 to 1'),
    ],
)
def test_what_no_reader_understands_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(FileInvalid, match=said):
        read_draws(data, "x")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--form", "floats"), "not of the form floats; weft prng guess"),
        (("--form", "poem"), "--form 'poem' is unknown; forms are integers"),
        (("--column", "roll"), "there is no column 'roll'"),
        (("--alphabet", "aa"), "'a' is in it twice"),
        (("--low", "5"), "draw 1 is 0, below --low 5"),
        (("--form", "hex-bytes"), "not of the form hex-bytes"),
    ],
)
def test_wrong_reading_is_refused_in_one_line(
    words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "draws.csv").write_text("\n".join(f"{i * i * 7919 % 1000}" for i in range(60)))
    assert main._exit_code(["prng", "analyse", str(tmp_path / "draws.csv"), *words]) in (2, 3)
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_guess_says_what_comes_next_and_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tokens.txt"
    path.write_bytes(FILES["letters"][0])
    assert main._exit_code(["prng", "guess", str(path)]) == 0
    output = capsys.readouterr().out
    assert "likely: strings: one call for each character" in output
    assert f"--form letters --alphabet {LETTERS}" in output
    assert main._exit_code(["prng", "guess", str(path), "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["guesses"][0]["modulus"] == 62
    path.write_bytes(bytes([7, 200, 255, 129]))
    assert main._exit_code(["prng", "guess", str(path)]) == 0
    output = capsys.readouterr().out
    assert "; 4 draws below 256" in output
    assert f"; 1 draw below {1 << 32}" in output
    path.write_text("the quick brown fox\njumps over\nthe lazy dog\n")
    assert main._exit_code(["prng", "guess", str(path)]) == 1


def test_every_form_has_words() -> None:
    from weft.searches.prng.guessing import READ_AS
    from weft.searches.prng.intake import RAW

    assert set(READ_AS) == {*READERS, *RAW}


def test_strings_of_cpython_are_traced_to_their_seed_and_go_on(
    analyse: Analyse, tmp_path: Path
) -> None:
    """From tokens to the next tokens: form, family, seed, and a prediction in the file's form."""
    source = random.Random(2024)
    tokens = ["".join(source.choice(LETTERS) for _ in range(8)) for _ in range(20)]
    (tmp_path / "tokens.txt").write_text("\n".join(tokens[:12]))
    words = ("--families", "cpython", "--outputs", "bounded", "--skips", "0", "--starts", "0")
    result = analyse(tmp_path / "tokens.txt", *words, "--effort", "quick", "--backend", "serial")
    assert result.returncode == 0, result.stderr
    assert "read as strings" in result.stderr
    assert "seed 2024" in result.stdout
    assert f"  {' '.join(tokens[12:])} " in result.stdout


def hands(source: Source) -> list[list[str]]:
    deck = shuffled(source).split()
    return [deck[at : at + 13] for at in range(0, 52, 13)]


def hand(cards: int) -> Callable[[Source], str]:
    return lambda source: " ".join(shuffled(source).split()[:cards])


@pytest.mark.parametrize(
    ("data", "each", "draws"),
    [
        (lines(hand(2), 30, 21), 2, 60),
        (lines(hand(17), 1, 22), 17, 17),
        (lines(hand(30), 1, 22).replace(b" ", b"\n"), 30, 30),
        (lines(lambda s: "\n".join(map(" ".join, hands(s))), 1, 23), 52, 52),
    ],
    ids=["hands", "one deal in a line", "one deal by lines", "four hands of one deck"],
)
def test_parts_of_shuffled_decks_are_read_as_deals(data: bytes, each: int, draws: int) -> None:
    history = read_draws(data, "x")
    assert history.form is not None
    assert (history.form.name, history.form.each, len(history)) == ("cards", each, draws)
    expected = "shuffle" if each == 52 else f"deal{each}"
    assert expected in history.form.row_maps


def test_few_cards_of_one_deal_are_no_deal() -> None:
    forms = [item.form.name for item in guess_file(lines(hand(11), 1, 22), "x", None)]
    assert "cards" not in forms


NUMBERS = random.Random(31).choices(range(1, 50), k=60)
DATED = [f"2024-01-{day + 1:02},{NUMBERS[2 * day]},{NUMBERS[2 * day + 1]}" for day in range(28)]


@pytest.mark.parametrize(
    "heading", ["", "date,n1,n2\n", "Drawn on,Ball 1,Ball 2\n"], ids=["none", "date", "names"]
)
def test_rows_with_a_date_before_the_numbers_are_rows(heading: str) -> None:
    data = (heading + "\n".join(DATED)).encode()
    best = guess_file(data, "lottery.csv", None)[0]
    assert (best.form.name, best.guess.reading.draws[:3]) == (
        "row-all", tuple(number - 1 for number in NUMBERS[:3]),
    )  # fmt: skip
    assert read_draws(data, "x", "row-all").draws == best.guess.reading.draws


@pytest.mark.parametrize("order", ["utf-16", "utf-16-be"])
def test_utf16_text_of_a_spreadsheet_is_read(order: str) -> None:
    text = "\n".join(map(str, NUMBERS))
    data = text.encode(order) if order == "utf-16" else "\ufeff".encode(order) + text.encode(order)
    assert read_draws(data, "x") == read_draws(text.encode(), "x")


def test_bytes_that_begin_like_utf16_stay_bytes() -> None:
    data = b"\xff\xfe" + random.Random(33).randbytes(400)
    assert read_draws(data, "x", "bytes").draws == tuple(data)
    assert guess_file(data, "x", None)[0].form.name == "bytes"
    odd = b"\xff\xfe\x00\xd8"  # half of a surrogate pair
    assert read_draws(odd * 20, "x", "bytes").draws == tuple(odd * 20)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1\n2\nx\n4\n", "row 3 is 'x', and 3 of 4 rows are whole numbers"),
        ("0.5\n0.25\nx\n", "row 3 is 'x', and 2 of 3 rows are fractions below 1"),
    ],
)
def test_row_that_is_no_number_is_named(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "draws.txt"
    file.write_text(text)
    with pytest.raises(SystemExit) as ended:
        main.main(["prng", "guess", str(file)])
    assert ended.value.code == 1
    assert said in capsys.readouterr().out


def test_guess_of_what_it_was_piped_names_a_command_that_reads_that_again() -> None:
    *_, last = guess_lines([], "standard input")
    assert last.endswith(": weft prng analyse - --form FORM")
    *_, last = guess_lines([], "my draws.txt")
    assert last.endswith(": weft prng analyse 'my draws.txt' --form FORM")
