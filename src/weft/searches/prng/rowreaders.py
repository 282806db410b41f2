"""Readers of records with several draws: UUIDs, deals of cards, `k of n` rows.

Fixed parts of a record, such as the version of a UUID, are omitted, so that every remaining draw
is one call below one modulus.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from weft.searches.prng.drawforms import CARDS, SCALED, DrawForm, ranges_of
from weft.searches.prng.formreaders import FEWEST, HEX, INTEGER, Reading, matched, one_column
from weft.searches.prng.records import Records
from weft.searches.prng.rowforms import row_maps, sorted_reading
from weft.searches.prng.rowmaps import LONGEST

_UUID = re.compile(
    r"\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?", re.I
)
_CARD = re.compile(r"(10|[2-9TJQKA])([SHDCshdc♠♥♦♣])")
SUITS = {"♠": "S", "♥": "H", "♦": "D", "♣": "C"}
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K")
FEWEST_OF_ONE_DEAL = 12
"""Minimum number of cards for a single deal: fewer do not identify a 32-bit seed."""
DECK = tuple(rank + suit for suit in "SHDC" for rank in RANKS)

# -- UUIDs ------------------------------------------------------------------------------------


def _uuids(records: Records) -> list[str] | None:
    texts = one_column(records)
    matches = matched(texts, _UUID) if texts else None
    uuids = [] if matches is None else ["".join(match.groups()).lower() for match in matches]
    random = all(uuid[12] == "4" and uuid[16] in "89ab" for uuid in uuids)
    return uuids if uuids and random else None


def read_uuid_digits(records: Records) -> Reading | None:
    """Read one call per digit except the version's, as in scripts that use Math.random()."""
    uuids = _uuids(records)
    if uuids is None:
        return None
    draws = tuple(int(digit, 16) for uuid in uuids for digit in uuid[:12] + uuid[13:])
    note = "the variant's digit shows two bits of its call: one row in 31 counts as wrong"
    form = DrawForm("uuid-digits", 16, alphabet=HEX, each=31, outputs=SCALED)
    return Reading(form, draws, 75, note)


def read_uuid_parts(records: Records) -> Reading | None:
    """Read the low 12 bits of eight calls of mt_rand(0, 0xffff), as in the PHP manual."""
    uuids = _uuids(records)
    if uuids is None:
        return None
    parts = [int(uuid[at : at + 4], 16) & 0xFFF for uuid in uuids for at in range(0, 32, 4)]
    form = DrawForm("uuid-parts", 4096, each=8, outputs=("bounded", "mod"))
    return Reading(form, tuple(parts), 70, "of each part the low 12 bits, which are not fixed")


def read_uuid_words(records: Records) -> Reading | None:
    """Read four words, lowest first, of uuid.UUID(int=random.getrandbits(128), version=4)."""
    uuids = _uuids(records)
    if uuids is None:
        return None
    words = [int(uuid[at : at + 8], 16) & 0xFFF for uuid in uuids for at in (24, 16, 8, 0)]
    form = DrawForm("uuid-words", 4096, each=4, outputs=("mod",))
    return Reading(form, tuple(words), 65, "of each word the low 12 bits, which are not fixed")


# -- cards and rows ---------------------------------------------------------------------------


def read_cards(records: Records) -> Reading | None:
    """Read all cards of every deal, in order, from a deck in order A to K, SHDC."""
    dealt = _cards(records)
    if not dealt:
        return None
    deals = _decks([card for deal in dealt for card in deal]) or dealt
    each = min(len(deals[0]), LONGEST) if len(deals[0]) < len(DECK) else len(DECK)
    if len({len(deal) for deal in deals}) > 1 or not _are_enough(deals):
        return None
    maps = row_maps(each, len(DECK))
    form = DrawForm(
        CARDS, len(DECK), alphabet=" ".join(DECK), each=each, outputs=maps, row_maps=maps
    )
    note = "from a deck in order A to K, SHDC"
    if each < len(deals[0]):
        note += f"; of each deal the first {each} cards are compared"
    return Reading(form, tuple(card for deal in deals for card in deal[:each]), 80, note)


def _decks(cards: Sequence[int]) -> list[Sequence[int]]:
    """Divide cards into decks, dropping an incomplete last one; empty if a deck has repeats.

    Hands from one deck are a single deal, regardless of how many lines they span. Fewer cards
    than a deck are one deal.
    """
    decks = [cards[at : at + len(DECK)] for at in range(0, len(cards), len(DECK))]
    if any(len(set(deck)) < len(deck) for deck in decks):
        return []
    return decks if len(cards) < len(DECK) else [deck for deck in decks if len(deck) == len(DECK)]


def _are_enough(deals: Sequence[Sequence[int]]) -> bool:
    """Whether deals can identify a generator: whole decks, several deals, or many cards."""
    each = len(deals[0])
    return each == len(DECK) or (each > 1 and len(deals) >= FEWEST) or each >= FEWEST_OF_ONE_DEAL


def _cards(records: Records) -> list[list[int]] | None:
    """Return rows of cards as indices into DECK; None if a cell is no card or a row has repeats."""
    deals = []
    for row in records.rows:
        cells = row[0].split() if len(row) == 1 else row
        cards = [_CARD.fullmatch(cell) for cell in cells]
        if not cells or not all(cards):
            return None
        names = [_card(card) for card in cards if card]
        if len(set(names)) < len(names):
            return None
        deals.append([DECK.index(name) for name in names])
    return deals


def _card(match: re.Match[str]) -> str:
    rank = "T" if match[1] == "10" else match[1]
    return rank + SUITS.get(match[2], match[2].upper())


def card_reading(records: Records, at: int, name: str, likelihood: int) -> Reading | None:
    """Read one card of every deal: the one that a shuffle of a sorted deck places first."""
    deals = _cards(records)
    if deals is None or len(deals) < FEWEST or min(map(len, deals)) < 2:
        return None
    form = DrawForm(name, 52, alphabet=" ".join(DECK), skips=(0, 52))
    note = (
        f"the {'first' if at == 0 else 'last'} card of each deal, from a deck in order A to K, SHDC"
    )
    return Reading(form, tuple(deal[at] for deal in deals), likelihood, note)


def read_row_first(records: Records) -> Reading | None:
    """Read the first number of every row of k of n; the other calls of the row are skips."""
    rows = _rows(records)
    if rows is None or _sorted_share(rows) == 100:
        return None
    best = ranges_of([number for row in rows for number in row])[0]
    each = len(rows[0])
    form = DrawForm("row-first", best.size, best.low, skips=(0, 2 * each))
    draws = tuple(row[0] - best.low for row in rows)
    return Reading(form, draws, 60, f"one draw of each row of {each}; the other calls are skips")


def read_row_all(records: Records) -> Reading | None:
    """Read all numbers of rows of k of n, in order; without repeats in a row, skips vary."""
    rows = _rows(records)
    if rows is None or _sorted_share(rows) == 100:
        return None
    numbers = [number for row in rows for number in row]
    best = ranges_of(numbers)[0]
    repeats = any(len(set(row)) < len(row) for row in rows)
    maps = () if repeats else row_maps(len(rows[0]), best.size)
    form = DrawForm("row-all", best.size, best.low, each=len(rows[0]), row_maps=maps)
    note = "" if repeats else "repeated numbers were drawn again: skips vary"
    return Reading(form, tuple(n - best.low for n in numbers), 75 if repeats else 65, note)


def read_row_sorted(records: Records) -> Reading | None:
    """Read rows in ascending order, in which the order of the draws is lost."""
    rows = _rows(records)
    if rows is None or _sorted_share(rows) < 100 or any(len(set(row)) < len(row) for row in rows):
        return None
    return sorted_reading(rows, ranges_of([number for row in rows for number in row])[0])


def _rows(records: Records) -> list[list[int]] | None:
    rows = [list(row[0].split() if len(row) == 1 else row) for row in records.rows]
    if len(rows) < FEWEST or len({len(row) for row in rows}) != 1 or len(rows[0]) < 2:
        return None
    if not all(INTEGER.fullmatch(cell) and len(cell) < 10 for row in rows for cell in row):
        return None
    numbers = [[int(cell) for cell in row] for row in rows]
    return numbers if min(map(min, numbers)) >= 0 else None


def _sorted_share(rows: Sequence[Sequence[int]]) -> int:
    return 100 * sum(list(row) == sorted(row) for row in rows) // len(rows)
