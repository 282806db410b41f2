"""Readers of draws that are numbers, bytes or characters; `rowreaders` has UUIDs, cards and rows.

A reader takes texts and returns a `Reading`, or None if the texts are not of its form. The
likelihood of a reading, from 0 to 100, ranks guesses; `--form NAME` selects a reader regardless.
"""

from __future__ import annotations

import base64
import binascii
import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weft.searches.prng.drawforms import INTEGERS, SCALED, WHOLE, DrawForm, ranges_of
from weft.searches.prng.records import Records

FEWEST = 5
"""Minimum number of records for a form to be recognised."""
WORD = 1 << 32
NUMBER = "number"
ORDERS = ("big", "little", NUMBER)
INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_FLOAT = re.compile(
    r"[+-]?(?:0|1)?\.[0-9]+(?:[eE][+-]?[0-9]{1,3})?|[0-9](?:\.[0-9]+)?[eE]-[0-9]{1,3}"
)
_HEX = re.compile(r"(?:0x)?([0-9a-fA-F]{4,})")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{6,}={0,2}")
LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
HEX = DIGITS + "abcdef"
ALPHABETS = (
    DIGITS, HEX, DIGITS + "ABCDEF", LOWER, UPPER, UPPER + "234567",
    "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
    DIGITS + LOWER, LOWER + DIGITS, DIGITS + UPPER, UPPER + DIGITS, LOWER + UPPER, UPPER + LOWER,
    "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    LOWER + UPPER + DIGITS, UPPER + LOWER + DIGITS, DIGITS + LOWER + UPPER, DIGITS + UPPER + LOWER,
    UPPER + LOWER + DIGITS + "+/", UPPER + LOWER + DIGITS + "-_",
)  # fmt: skip
"""Alphabets of random strings, in the orders that programs commonly use."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Draws as read in a form; `note` states what the reading assumes or omits."""

    form: DrawForm
    draws: tuple[int, ...]
    likelihood: int
    note: str = ""


Reader = Callable[[Records], Reading | None]


def matched(texts: Sequence[str], pattern: re.Pattern[str]) -> list[re.Match[str]] | None:
    """Return the matches of all texts; None unless all match and there are at least FEWEST."""
    matches = [pattern.fullmatch(text.strip()) for text in texts]
    decoded = [match for match in matches if match is not None]
    return decoded if len(decoded) == len(texts) >= FEWEST else None


def one_column(records: Records) -> list[str] | None:
    """Return the cells of records that have one cell each; None if any has another number."""
    if any(len(row) != 1 for row in records.rows):
        return None
    return [row[0] for row in records.rows]


# -- numbers ----------------------------------------------------------------------------------


def read_integers(records: Records) -> Reading | None:
    """Read whole numbers in a range."""
    texts = one_column(records)
    if texts is None or matched(texts, INTEGER) is None:
        return None
    numbers = [int(text) for text in texts]
    if min(numbers) < 0 or max(numbers) >= 1 << 64:
        return None
    best = ranges_of(numbers)[0]
    if best.size > WORD:
        return None
    form = DrawForm(INTEGERS, best.size, best.low, outputs=WHOLE if best.size == WORD else ())
    return Reading(form, tuple(number - best.low for number in numbers), best.likelihood)


def read_signed(records: Records) -> Reading | None:
    """Read signed 32-bit words, as returned by Java's nextInt()."""
    texts = one_column(records)
    if texts is None or matched(texts, INTEGER) is None:
        return None
    numbers = [int(text) for text in texts]
    if not -(WORD // 2) <= min(numbers) < 0 or max(numbers) >= WORD // 2:
        return None
    likelihood = 90 if max(numbers) > WORD // 8 else 30
    form = DrawForm("signed", WORD, outputs=("raw", "mod"))
    return Reading(form, tuple(number % WORD for number in numbers), likelihood)


def read_words64(records: Records) -> Reading | None:
    """Read 64-bit words, signed or unsigned; only their high halves are used."""
    texts = one_column(records)
    if texts is None or matched(texts, INTEGER) is None:
        return None
    numbers = [int(text) for text in texts]
    if max(abs(number) for number in numbers) < 1 << 53:
        return None
    if not -(1 << 63) <= min(numbers) <= max(numbers) < 1 << 64:
        return None
    draws = tuple(number % (1 << 64) >> 32 for number in numbers)
    form = DrawForm("words64", WORD, outputs=("high",))
    return Reading(form, draws, 85, "the low halves of the words are left out")


def read_floats(records: Records) -> Reading | None:
    """Read fractions below 1; the last two digits of short ones are dropped as rounded."""
    texts = one_column(records)
    if texts is None or matched(texts, _FLOAT) is None:
        return None
    values = [float(text) for text in texts]
    if not 0 <= min(values) <= max(values) < 1:
        return None
    digits = max(len(text.partition(".")[2].partition("e")[0]) for text in texts)
    modulus = WORD if digits >= 11 else 10 ** max(1, digits - 2)
    draws = tuple(min(modulus - 1, int(value * modulus)) for value in values)
    note = "" if digits >= 11 else f"{digits} digits: the last two are taken as rounded"
    return Reading(DrawForm("floats", modulus, outputs=SCALED), draws, 90, note)


def is_fraction(text: str) -> bool:
    """Whether a cell is a fraction x with 0 <= x < 1."""
    return _FLOAT.fullmatch(text) is not None and 0 <= float(text) < 1


# -- tokens -----------------------------------------------------------------------------------


def hex_bytes(records: Records) -> tuple[list[bytes], int] | None:
    """Return the bytes of hexadecimal tokens, and the likelihood of that reading."""
    texts = one_column(records)
    matches = matched(texts, _HEX) if texts else None
    if matches is None or any(len(match[1]) % 2 for match in matches):
        return None
    likelihood = 80 if any(re.search("[a-fA-F]", match[1]) for match in matches) else 20
    return [bytes.fromhex(match[1]) for match in matches], likelihood


def base64_bytes(records: Records) -> tuple[list[bytes], int] | None:
    """Return the bytes of base64 tokens, and the likelihood of that reading."""
    texts = one_column(records)
    if texts is None or matched(texts, _BASE64) is None:
        return None
    decoded = []
    for text in texts:
        plain = text.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            decoded.append(base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True))
        except (binascii.Error, ValueError):
            return None
    used = set("".join(texts))
    padded = any(text.endswith("=") for text in texts)
    return decoded, 85 if padded else 60 if used & set("+/_-") else 10


def bytes_reading(
    source: tuple[list[bytes], int] | None, name: str, order: str | None
) -> Reading | None:
    """Convert bytes to draws: each byte, or each four bytes as a word in the given order.

    With NUMBER, the words of a chunk are big-endian and its last word was drawn first.
    """
    if source is None:
        return None
    chunks, likelihood = source
    if order is None:
        draws = tuple(byte for chunk in chunks for byte in chunk)
        return Reading(DrawForm(name, 256, each=len(chunks[0])), draws, likelihood - 5)
    if any(len(chunk) % 4 for chunk in chunks):
        return None
    words: list[int] = []
    for chunk in chunks:
        parts = [chunk[at : at + 4] for at in range(0, len(chunk), 4)]
        own = [int.from_bytes(part, "little" if order == "little" else "big") for part in parts]
        words += reversed(own) if order == NUMBER else own
    form = DrawForm(name, WORD, each=len(chunks[0]) // 4, outputs=("raw", "mod"))
    return Reading(form, tuple(words), likelihood - 8 - 2 * ORDERS.index(order))


def read_letters(records: Records, alphabet: str | None = None) -> Reading | None:
    """Read strings over an alphabet; every character is a draw."""
    texts = one_column(records)
    if not texts or (alphabet is None and len(texts) < FEWEST):
        return None
    used = set("".join(texts))
    fitting = (
        [alphabet] if alphabet else [candidate for candidate in ALPHABETS if used <= set(candidate)]
    )
    if not fitting or not used <= set(fitting[0]):
        return None
    best = min(fitting, key=len)
    form = DrawForm("letters", len(best), alphabet=best, each=len(texts[0]))
    draws = tuple(best.index(character) for text in texts for character in text)
    return Reading(form, draws, _letters_likelihood(texts, best))


def _letters_likelihood(texts: Sequence[str], alphabet: str) -> int:
    if alphabet == DIGITS and not any(text.startswith("0") and len(text) > 1 for text in texts):
        return 10  # whole numbers are far more likely
    same_length = len({len(text) for text in texts}) == 1 and len(texts[0]) > 1
    unused = 100 - 100 * len(set("".join(texts))) // len(alphabet)
    return max(1, (70 if same_length else 15) - unused // 3)


def other_orders(form: DrawForm) -> list[str]:
    """Return the alphabets with the same characters in another order."""
    same = [candidate for candidate in ALPHABETS if set(candidate) == set(form.alphabet)]
    return (
        [candidate for candidate in same if candidate != form.alphabet]
        if form.name == "letters"
        else []
    )


def read_hex_digits(records: Records) -> Reading | None:
    """Read hexadecimal tokens; every digit is a draw."""
    texts = one_column(records)
    matches = matched(texts, _HEX) if texts else None
    if matches is None:
        return None
    likelihood = 79 if any(re.search("[a-fA-F]", match[1]) for match in matches) else 15
    draws = tuple(int(digit, 16) for match in matches for digit in match[1])
    return Reading(
        DrawForm("hex-digits", 16, alphabet=HEX, each=len(matches[0][1])), draws, likelihood
    )
