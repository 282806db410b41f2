"""Outputs of MT19937 and the tests of draws for a block of seeds, in vector registers.

A block takes a dozen tests for each call, so a test must cost little compared with the seeding. As
in `vectors`, the loops over lanes are written as operations on one wide vector. The reference
definitions are `families.mt19937` and `forms.WordReading.test`.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types

from weft.searches.prng.families import mt19937
from weft.searches.prng.kernels.vectors import (
    INDEX,
    LANES,
    VECTOR,
    WORD,
    constant,
    data_of,
    intrinsic,
    looped,
    row_of,
    splat,
)

FAR = 397
_LANE_BITS = ir.IntType(LANES)


def _tempered(builder: ir.IRBuilder, word: Any) -> Any:
    word = builder.xor(word, builder.lshr(word, constant(11)))
    for places, mask in ((7, mt19937.TEMPER_B), (15, mt19937.TEMPER_C)):
        moved = builder.shl(word, constant(places))
        word = builder.xor(word, builder.and_(moved, constant(mask)))
    return builder.xor(word, builder.lshr(word, constant(18)))


@intrinsic
def output_rows(typing: Any, words: Any, at: Any, misplaced: Any, y: Any, row: Any) -> Any:  # noqa: ARG001
    """Write output `at` of a block of seeds to a row of `y`; `misplaced` takes the wrong bit."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        data = data_of(context, builder, signature.args[0], args[0])
        first, second, far = (
            builder.load(
                row_of(builder, data, builder.add(args[1], ir.Constant(INDEX, more))), align=4
            )
            for more in (0, 1, FAR)
        )
        wrong = builder.icmp_unsigned("!=", args[2], ir.Constant(args[2].type, 0))
        low = builder.and_(builder.select(wrong, first, second), constant(1))
        joined = builder.or_(
            builder.and_(first, constant(mt19937.UPPER)),
            builder.and_(second, constant(mt19937.LOWER)),
        )
        twist = builder.and_(builder.neg(low), constant(mt19937.MATRIX))
        mixed = builder.xor(builder.lshr(joined, constant(1)), twist)
        word = _tempered(builder, builder.xor(far, mixed))
        result = data_of(context, builder, signature.args[3], args[3])
        builder.store(word, row_of(builder, result, args[4]), align=4)
        return context.get_dummy_value()

    return types.void(words, types.int64, types.int64, y, types.int64), code


@intrinsic
def test_lanes(
    typing: Any, y: Any, y_row: Any, tests: Any, test: Any, hits: Any, hits_row: Any, needed: Any  # noqa: ARG001
) -> Any:  # fmt: skip
    """Add the hits of one test for all lanes; return whether a lane has `needed` hits.

    Row `test` of `tests` is a test as described in `hits`. Rows are passed as numbers, not as views
    of an array: a view counts its references, which takes longer than the test.
    """

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        y_data, tests_data, hits_data = (
            data_of(context, builder, signature.args[at], args[at]) for at in (0, 2, 4)
        )
        first = builder.mul(args[3], ir.Constant(INDEX, 5))
        shift, least, inverse, turn, limit = (
            splat(builder, builder.load(builder.gep(tests_data, [_plus(builder, first, column)])))
            for column in range(5)
        )
        word = builder.load(row_of(builder, y_data, args[1]), align=4)
        value = builder.lshr(word, shift)
        product = builder.mul(builder.sub(value, least), inverse)
        turned = _turned(builder, product, turn)
        hit = builder.and_(
            builder.icmp_unsigned("<=", turned, limit), builder.icmp_unsigned(">=", value, least)
        )
        place = row_of(builder, hits_data, args[5])
        total = builder.add(builder.load(place, align=4), builder.zext(hit, VECTOR))
        builder.store(total, place, align=4)
        return _any_reaches(builder, total, args[6])

    index = types.int64
    return types.boolean(y, index, tests, index, hits, index, index), code


@intrinsic
def scan_lanes(
    typing: Any, y: Any, row: Any, draws: Any, call: Any, expected: Any, base: Any, last: Any,  # noqa: ARG001
    cursors: Any, hits: Any, enough: Any,  # noqa: ARG001
) -> Any:  # fmt: skip
    """Do what `hits.scan_output` does if every cursor is below `last`.

    A lane selects its row of `expected`, from `base` on, by comparing its cursor with each number:
    while there are few, this is faster than loading a row for every lane.
    """

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        y_data, draws_data, rows_data, cursor_data, hits_data = (
            data_of(context, builder, signature.args[at], args[at]) for at in (0, 2, 4, 7, 8)
        )
        cursor_row, hits_row = (
            builder.bitcast(data, VECTOR.as_pointer()) for data in (cursor_data, hits_data)
        )
        first = builder.mul(args[3], ir.Constant(INDEX, 3))
        shift, mask, bound = (
            splat(builder, builder.load(builder.gep(draws_data, [_plus(builder, first, column)])))
            for column in range(3)
        )
        rows = builder.gep(rows_data, [builder.mul(args[5], ir.Constant(INDEX, 2))])
        value = builder.load(row_of(builder, y_data, args[1]), align=4)
        value = builder.and_(builder.lshr(value, shift), mask)
        cursor = builder.load(cursor_row, align=4)
        wanted = _chosen(builder, rows, 0, cursor, args[6])
        is_taken = builder.icmp_unsigned("<", value, bound)
        hit = builder.and_(is_taken, builder.icmp_unsigned("==", value, wanted))
        cursor = builder.add(cursor, builder.zext(is_taken, VECTOR))
        total = builder.add(builder.load(hits_row, align=4), builder.zext(hit, VECTOR))
        builder.store(cursor, cursor_row, align=4)
        builder.store(total, hits_row, align=4)
        most = builder.add(total, _chosen(builder, rows, 1, cursor, _plus(builder, args[6], 1)))
        return _any_reaches(builder, most, args[9])

    index = types.int64
    where = (y, index, draws, index, expected, index, index)
    return types.boolean(*where, cursors, hits, index), code


def _chosen(builder: ir.IRBuilder, data: Any, column: int, cursor: Any, end: Any) -> Any:
    """Return, for each lane, the word in a column of the row that its cursor names."""

    def step(builder: ir.IRBuilder, words: Any, index: Any) -> Any:
        at = _plus(builder, builder.mul(index, ir.Constant(INDEX, 2)), column)
        here = builder.icmp_unsigned("==", cursor, splat(builder, builder.trunc(index, WORD)))
        return builder.select(here, splat(builder, builder.load(builder.gep(data, [at]))), words)

    words, _ = looped(builder, constant(0), ir.Constant(INDEX, 0), end, 1, step)
    return words


def _any_reaches(builder: ir.IRBuilder, words: Any, least: Any) -> Any:
    """Return whether any lane is at least `least`."""
    enough = builder.icmp_unsigned(">=", words, splat(builder, builder.trunc(least, WORD)))
    lanes = builder.bitcast(enough, _LANE_BITS)
    return builder.icmp_unsigned("!=", lanes, ir.Constant(_LANE_BITS, 0))


def _plus(builder: ir.IRBuilder, index: Any, more: int) -> Any:
    return builder.add(index, ir.Constant(INDEX, more))


def _turned(builder: ir.IRBuilder, word: Any, places: Any) -> Any:
    """Rotate all lanes right by `places` bits."""
    back = builder.and_(builder.neg(places), constant(31))
    return builder.or_(builder.lshr(word, places), builder.shl(word, back))
