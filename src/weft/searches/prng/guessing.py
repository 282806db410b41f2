"""Guesses what a file contains: the form, its range, how it is read, and the next command."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from weft.inspect.report.text import counted
from weft.model.values import Value
from weft.searches.prng.drawforms import CARDS, INTEGERS, SCALED, DrawForm, ranges_of
from weft.searches.prng.formreaders import INTEGER, Reading, is_fraction, other_orders
from weft.searches.prng.history import History
from weft.searches.prng.intake import RAW, Guess, guesses, read_raw
from weft.searches.prng.records import read_records, unpacked

SHOWN = 6
LEAST = 30
"""Guesses below this likelihood are not listed, unless there is no other."""
READ_AS = {
    INTEGERS: "whole numbers",
    "signed": "words of 32 bits with a sign",
    "words64": "words of 64 bits, of which the high halves are compared",
    "floats": "fractions of 1: one call each",
    "hex-digits": "hexadecimal digits: one call each",
    "hex-bytes": "bytes in hexadecimal: one call each",
    "hex-words": "words of 32 bits in hexadecimal, the highest byte first",
    "hex-words-le": "words of 32 bits in hexadecimal, the lowest byte first",
    "hex-numbers": "numbers of several words in hexadecimal, the lowest word made first",
    "base64-bytes": "bytes in base64: one call each",
    "base64-words": "words of 32 bits in base64",
    "uuid-digits": "UUIDs made digit by digit",
    "uuid-parts": "UUIDs made of eight numbers of 16 bits",
    "uuid-words": "UUIDs made of four words",
    "letters": "strings: one call for each character",
    "shuffle": "shuffles of the numbers from 0 or 1 on, element by element",
    "shuffled-letters": "shuffles of an alphabet, character by character",
    CARDS: "deals: all cards",
    "card-top": "deals: the first card of each",
    "card-bottom": "deals: the last card of each",
    "row-all": "rows of k of n: all numbers in order",
    "row-first": "rows of k of n: the first number of each",
    "row-sorted": "rows of k of n, sorted: one draw each",
    "bytes": "raw bytes: one call each",
    "words": "raw words of 32 bits, the highest byte first",
    "words-le": "raw words of 32 bits, the lowest byte first",
}


@dataclass(frozen=True, slots=True)
class FileGuess:
    """One way to read a file, with the command to analyse it; None if that is impossible."""

    guess: Guess
    command: str | None

    @property
    def form(self) -> DrawForm:
        """The form of the draws."""
        return self.guess.reading.form

    def to_dict(self) -> dict[str, Value]:
        """Return the form that `--json` prints."""
        reading = self.guess.reading
        return {
            "form": reading.form.name,
            "likelihood": reading.likelihood,
            "range": reading.form.range_text(),
            "modulus": reading.form.modulus,
            "read_as": READ_AS[reading.form.name],
            "draws": len(reading.draws),
            "column": self.guess.column,
            "note": reading.note,
            "command": self.command,
        }


def guess_file(data: bytes, where: str, column: str | None) -> list[FileGuess]:
    """Return the ways to read a file, likeliest first; a binary file is read as raw bytes."""
    plain = unpacked(data, where)
    if _is_binary(plain):
        raw = [Guess(None, read_raw(plain, name)) for name in RAW]
        return [_with_command(item, where) for item in raw if len(item.reading.draws) >= 1]
    readings = guesses(read_records(data, where).column(column))
    if column is not None:
        readings = [Guess(column, item.reading) for item in readings]
    likely = [item for item in _with_others(readings) if item.reading.likelihood >= LEAST]
    return [_with_command(item, where) for item in likely or readings[:1]]


def _is_binary(data: bytes) -> bool:
    try:
        return "\0" in data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return True


def _with_others(found: Sequence[Guess]) -> list[Guess]:
    """Add the second likeliest range of whole numbers and other orders of an alphabet."""
    more = []
    for item in found:
        reading, form = item.reading, item.reading.form
        numbers = [draw + form.low for draw in reading.draws]
        for other in ranges_of(numbers)[1:2] if form.name == INTEGERS else []:
            again = DrawForm(INTEGERS, other.size, other.low, outputs=form.outputs)
            moved = tuple(number - other.low for number in numbers)
            more.append(Guess(item.column, Reading(again, moved, min(other.likelihood, 50))))
        for order in other_orders(form):
            places = [order.index(character) for character in form.alphabet]
            moved = tuple(places[draw] for draw in reading.draws)
            again = replace(form, alphabet=order)
            more.append(Guess(item.column, Reading(again, moved, reading.likelihood - 5)))
    return sorted([*found, *more], key=lambda item: -item.reading.likelihood)


def _with_command(guess: Guess, where: str) -> FileGuess:
    reading, form = guess.reading, guess.reading.form
    if not reading.draws:
        return FileGuess(guess, None)
    words = ["weft", "prng", "analyse", _source(where)]
    if form.name == INTEGERS:
        words += ["--modulus", str(form.modulus), *(["--low", str(form.low)] if form.low else [])]
    else:
        words += ["--form", form.name]
    if form.name == "letters":
        words += ["--alphabet", form.alphabet]
    words += [] if guess.column is None else ["--column", guess.column]
    return FileGuess(guess, shlex.join(words))


def _source(where: str) -> str:
    """Return the argument with which a command reads the same source again."""
    return "-" if where == "standard input" else where


def odd_row(data: bytes, where: str) -> str:
    """Describe the first row that is not a number, if most rows are; empty otherwise."""
    cells = [" ".join(row) for row in read_records(data, where).rows]
    for what, fits in (("whole numbers", INTEGER.fullmatch), ("fractions below 1", is_fraction)):
        odd = [row for row, cell in enumerate(cells, 1) if not fits(cell)]
        if odd and 2 * len(odd) < len(cells):
            odd_cell = repr(cells[odd[0] - 1][:40])
            fitting = f"{len(cells) - len(odd)} of {counted(len(cells), 'row')}"
            return (
                f"row {odd[0]} is {odd_cell}, and {fitting} are {what}: correct it or leave it out"
            )
    return ""


def guess_lines(readings: Sequence[FileGuess], where: str, odd: str = "") -> Iterator[str]:
    """Describe the recognised readings, likeliest first, each with the next command."""
    if not readings:
        yield f"{where}: no form of draws is recognised"
        if odd:
            yield odd
            return
        yield "draws are whole numbers, fractions, tokens, UUIDs, cards or rows of numbers"
        command = shlex.join(["weft", "prng", "analyse", _source(where), "--form", "FORM"])
        yield f"to read them as one of these all the same: {command}"
        return
    for place, item in enumerate(readings[:SHOWN]):
        reading = item.guess.reading
        column = f" in column {item.guess.column}" if item.guess.column else ""
        yield f"{'likely' if place == 0 else 'or'}: {READ_AS[item.form.name]}{column}"
        draws = counted(len(reading.draws), "draw")
        yield f"  {item.form.range_text()}; {draws} below {item.form.modulus}"
        if reading.note:
            yield f"  {reading.note}"
        yield f"  {item.command}" if item.command else "  nothing can be compared"


def reading_text(history: History, modulus: int) -> str:
    """Describe how a history was read."""
    form = history.form
    if form is None:
        return f"read as whole numbers from 0 to {modulus - 1}; --low and --modulus say otherwise"
    maps = f", made by {', '.join(form.outputs)}" if form.outputs and form.outputs != SCALED else ""
    return (
        f"read as {READ_AS[form.name]}, {form.range_text()}: {counted(len(history), 'draw')} below"
        f" {modulus}{maps}; weft prng guess names other readings"
    )
