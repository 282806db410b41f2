"""From a file of any form to a history, for `weft prng guess` and `analyse`.

Files of whole numbers in the standard formats are read strictly (`history`). If that fails, the
likeliest other form is used if it is likely enough, and the user is told which; `--form` overrides
the choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from weft.errors import FileInvalid, UsageError
from weft.searches.prng.drawforms import CARDS, INTEGERS, DrawForm, ranges_of
from weft.searches.prng.families import did_you_mean
from weft.searches.prng.formreaders import (
    DIGITS,
    NUMBER,
    Reader,
    Reading,
    base64_bytes,
    bytes_reading,
    hex_bytes,
    is_fraction,
    one_column,
    read_floats,
    read_hex_digits,
    read_integers,
    read_letters,
    read_signed,
    read_words64,
)
from weft.searches.prng.history import History, quoted, read_history
from weft.searches.prng.records import Records, read_records, unpacked
from weft.searches.prng.rowforms import (
    column_reading,
    in_new_range,
    read_shuffle,
    read_shuffled_letters,
)
from weft.searches.prng.rowreaders import (
    card_reading,
    read_cards,
    read_row_all,
    read_row_first,
    read_row_sorted,
    read_uuid_digits,
    read_uuid_parts,
    read_uuid_words,
)

AUTO = "auto"
CERTAIN = 55
"""Minimum likelihood at which a form is used that the user has not named."""
USUAL_MODULUS = 1000
ENOUGH_FOR_A_RANGE = 20
UNLIKELY = 1e-6
SESSION = "session"
LETTERS = "letters"
READERS: Mapping[str, Reader] = {
    INTEGERS: read_integers,
    "signed": read_signed,
    "words64": read_words64,
    "floats": read_floats,
    "hex-digits": read_hex_digits,
    "hex-bytes": lambda records: bytes_reading(hex_bytes(records), "hex-bytes", None),
    "hex-words": lambda records: bytes_reading(hex_bytes(records), "hex-words", "big"),
    "hex-words-le": lambda records: bytes_reading(hex_bytes(records), "hex-words-le", "little"),
    "hex-numbers": lambda records: bytes_reading(hex_bytes(records), "hex-numbers", NUMBER),
    "base64-bytes": lambda records: bytes_reading(base64_bytes(records), "base64-bytes", None),
    "base64-words": lambda records: bytes_reading(base64_bytes(records), "base64-words", "big"),
    "uuid-digits": read_uuid_digits,
    "uuid-parts": read_uuid_parts,
    "uuid-words": read_uuid_words,
    LETTERS: read_letters,
    "shuffle": read_shuffle,
    "shuffled-letters": read_shuffled_letters,
    CARDS: read_cards,
    "card-top": lambda records: card_reading(records, 0, "card-top", 75),
    "card-bottom": lambda records: card_reading(records, -1, "card-bottom", 74),
    "row-all": read_row_all,
    "row-first": read_row_first,
    "row-sorted": read_row_sorted,
}
"""Readers by form; equally likely readings are listed in this order."""
RAW = {"bytes": None, "words": "big", "words-le": "little"}
"""Forms of binary files, with their byte order."""


@dataclass(frozen=True, slots=True)
class Guess:
    """One way to read a file: a column, or None for the whole file, and the reading."""

    column: str | None
    reading: Reading


def guesses(records: Records, alphabet: str | None = None) -> list[Guess]:
    """Return the ways to read records, likeliest first."""
    drawn = records.drawn()
    columns: list[str | None] = [None] if len(records.columns) < 2 else list(drawn.columns)
    if _are_numbered(drawn.columns):
        columns = [None]
    readable = [
        Guess(column, reading)
        for column in columns
        for reading in _readings(drawn.column(column), alphabet)
    ]
    return sorted(readable, key=lambda guess: -guess.reading.likelihood)


def _are_numbered(columns: Sequence[str]) -> bool:
    """Whether columns are the numbered elements of a row: n1, n2, n3."""
    stems = [name.rstrip(DIGITS) for name in columns]
    return len(columns) > 1 and len(set(stems)) == 1 and stems[0] != columns[0]


def _readings(records: Records, alphabet: str | None) -> list[Reading]:
    """Return the readings of all readers; with an alphabet, only that of `read_letters`."""
    if alphabet is not None:
        readings = [read_letters(records, alphabet)]
    else:
        readings = [reader(records) for reader in READERS.values()]
    return [reading for reading in readings if reading is not None]


def read_draws(
    data: bytes,
    where: str,
    form: str = AUTO,
    column: str | None = None,
    alphabet: str | None = None,
) -> History:
    """Read a history of any form. Raises FileInvalid if no reader recognises it."""
    data = unpacked(data, where)
    if form != AUTO:
        return _named(data, where, form, column, alphabet)
    if column is None and alphabet is None:
        try:
            return _with_shuffle(read_history(data, where))
        except FileInvalid as error:
            best = _certain(data, where, alphabet)
            if best is None:
                raise _odd_fraction(data, where) or error from None
            return _history(best, read_records(data, where), where)
    best = _certain(data, where, alphabet, column)
    if best is None:
        raise FileInvalid(f"{where}: no form of draws is recognised")
    return _history(best, read_records(data, where), where)


def _odd_fraction(data: bytes, where: str) -> FileInvalid | None:
    """Return the error for the first cell that is not a fraction, if most are; else None."""
    try:
        texts = one_column(read_records(data, where).drawn()) or []
    except FileInvalid:
        return None
    odd = [number for number, text in enumerate(texts) if not is_fraction(text)]
    if not odd or 2 * len(odd) >= len(texts):
        return None
    cell = quoted(texts[odd[0]])
    return FileInvalid(
        f"{where}: draw {odd[0] + 1} is {cell}, not a fraction from 0 to 1 as others are",
        hint="correct it, or leave it out",
    )


def _with_shuffle(history: History) -> History:
    """Reinterpret a column of whole shuffles as shuffles; return other histories unchanged."""
    reading = column_reading(history.draws)
    return history if reading is None or history.sessions else History(*_drawn(reading))


def _certain(
    data: bytes, where: str, alphabet: str | None, column: str | None = None
) -> Guess | None:
    """Return the likeliest guess if its likelihood is at least CERTAIN or an alphabet is given."""
    try:
        records = read_records(data, where).column(column)
    except FileInvalid:
        if column is not None:
            raise
        return None
    candidates = guesses(records, alphabet)
    likely = bool(candidates) and (
        candidates[0].reading.likelihood >= CERTAIN or alphabet is not None
    )
    return replace(candidates[0], column=candidates[0].column or column) if likely else None


def _named(data: bytes, where: str, form: str, column: str | None, alphabet: str | None) -> History:
    if form in RAW:
        return History(*_drawn(read_raw(data, form)))
    if form not in READERS:
        names = ", ".join([*READERS, *RAW])
        near = did_you_mean(form, [*READERS, *RAW])
        raise UsageError(f"--form {form[:40]!r} is unknown; forms are {names}", hint=near)
    records = read_records(data, where)
    chosen = column or _only_column(records)
    selected = records.drawn() if chosen is None else records.column(chosen)
    reading = read_letters(selected, alphabet) if form == LETTERS else READERS[form](selected)
    if reading is None:
        raise FileInvalid(f"{where}: the records are not of the form {form}")
    return _history(Guess(chosen, reading), records, where)


def read_listed(records: Records, form: str) -> History:
    """Read records that come from a list; with AUTO the likeliest form is used."""
    if form != AUTO and form not in READERS:
        raise UsageError(f"there is no form {form[:40]!r}; forms are {', '.join(READERS)}")
    candidates = guesses(records) if form == AUTO else []
    reading = (
        READERS[form](records) if form != AUTO else candidates[0].reading if candidates else None
    )
    if reading is None:
        raise FileInvalid(f"{records.where}: no form of draws is recognised")
    return _history(Guess(None, reading), records, records.where)


def _only_column(records: Records) -> str | None:
    """Return the only column that can hold draws, in a file with several columns; else None."""
    names = records.drawn().columns
    return names[0] if len(records.columns) > 1 and len(names) == 1 else None


def _history(guess: Guess, records: Records, where: str) -> History:
    draws, _, form = _drawn(guess.reading)
    if not draws:
        raise FileInvalid(f"{where}: {guess.reading.note}")
    sessions: tuple[str, ...] = ()
    if SESSION in records.columns and guess.column is not None:
        named = records.column(SESSION).cells
        sessions = tuple(named) if len(named) == len(draws) else ()
    return History(draws, sessions, form)


def _drawn(reading: Reading) -> tuple[tuple[int, ...], tuple[str, ...], DrawForm | None]:
    return reading.draws, (), None if reading.form.is_plain else reading.form


def with_range(history: History) -> tuple[History, int]:
    """Return a history with its modulus; whole numbers are shifted so that their range begins at 0.

    The default modulus is USUAL_MODULUS. If there are enough draws and they exceed it
    or are implausibly low for it, the likeliest range is used instead.
    """
    if history.form is not None:
        return history, history.form.modulus
    most, count = max(history.draws), len(history)
    is_usual = most < USUAL_MODULUS and ((most + 1) / USUAL_MODULUS) ** count >= UNLIKELY
    if count < ENOUGH_FOR_A_RANGE or is_usual:
        return history, USUAL_MODULUS
    best = ranges_of(history.draws)[0]
    if best.size > 1 << 32 or best.size < 2:
        return history, USUAL_MODULUS
    form = DrawForm(INTEGERS, best.size, best.low)
    draws = tuple(draw - best.low for draw in history.draws)
    return History(draws, history.sessions, None if form.is_plain else form), best.size


def in_range(history: History, where: str, modulus: int | None, low: int) -> tuple[History, int]:
    """Return a history read with the given range, and its modulus.

    Raises UsageError if the form fixes another range, FileInvalid if a number is below `low`.
    """
    form = history.form
    if form is not None and form.row_maps and not form.alphabet:
        form, draws = in_new_range(form, history.draws, modulus, low)
        return History(draws, history.sessions, form), form.modulus
    if form is not None and form.name != INTEGERS:
        if low == 0 and modulus == form.modulus:
            return history, modulus
        raise UsageError(
            f"as {form.name} the draws are from 0 to {form.modulus - 1}, whatever --modulus and"
            " --low say",
            hint="leave them out, or --form",
        )
    numbers = [draw + (form.low if form else 0) for draw in history.draws]
    for row, number in enumerate(numbers, 1):
        if number < low:
            raise FileInvalid(
                f"{where}: draw {row} is {number}, below --low {low}",
                hint=f"give --low {min(numbers)}, or leave it out",
            )
    size = modulus or max(2, max(numbers) - low + 1)
    shifted = DrawForm(INTEGERS, size, low)
    draws = tuple(number - low for number in numbers)
    return History(draws, history.sessions, None if shifted.is_plain else shifted), size


def read_raw(data: bytes, name: str) -> Reading:
    """Convert the raw bytes of a file to draws."""
    order = RAW[name]
    usable = data if order is None else data[: len(data) // 4 * 4]
    reading = bytes_reading(([usable], 50), name, order)
    assert reading is not None, "cut to whole words"
    return reading
