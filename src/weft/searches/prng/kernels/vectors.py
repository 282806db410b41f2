"""The seedings of MT19937 and .NET for a block of seeds, in vector registers.

A word of a seed depends on the word before it: a shift, an XOR, a multiplication and an addition,
about seven cycles in sequence. Eight registers of seeds side by side fill that time, and no more
than eight fit beside the constants. LLVM's own vectoriser uses fewer, so the loops are written as
operations on one wide vector, which LLVM splits into registers of AVX2 or AVX-512. The reference
definitions are `families.mt19937.seeding` and `families.cpython.by_array`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import extending
from numba.core import types

from weft.searches.prng.families import cpython, mt19937

REGISTERS = 8
NATIVE = 16 if llvm.get_host_cpu_features().get("avx512f") else 8
"""32-bit words that a register of this machine holds."""
LANES = REGISTERS * NATIVE
"""Seeds processed at a time."""
UNROLLED = 6
WORD, INDEX = ir.IntType(32), ir.IntType(64)
VECTOR = ir.VectorType(WORD, LANES)
_ZEROS = ir.Constant(VECTOR, None)
_NOTHING = ir.Constant(VECTOR, ir.Undefined)

NUMBERS = np.arange(mt19937.SIZE + 1, dtype=np.uint32)
"""The number of each word, which the seeding adds to it."""
BASE_WORDS = np.array(mt19937.seeding(cpython.BASE_SEED)[: mt19937.SIZE], np.uint32)
"""The block that init_by_array mixes a key into."""

Step = Callable[[ir.IRBuilder, Any, Any], Any]


def intrinsic(define: Callable[..., Any]) -> Any:
    """Declare a numba intrinsic; callers omit the first argument of `define`."""
    return extending.intrinsic(define)


def constant(value: int) -> ir.Constant:
    """Return a constant word in all lanes."""
    return ir.Constant(VECTOR, [value] * LANES)


def splat(builder: ir.IRBuilder, word: Any) -> Any:
    """Return a word that is known only at run time, in all lanes."""
    first = builder.insert_element(_NOTHING, word, ir.Constant(WORD, 0))
    return builder.shuffle_vector(first, _NOTHING, _ZEROS)


def data_of(context: Any, builder: ir.IRBuilder, array: Any, value: Any) -> Any:
    """Return a pointer to the words of an array."""
    return context.make_array(array)(context, builder, value).data


def _word_at(builder: ir.IRBuilder, data: Any, index: Any) -> Any:
    """Load one word into all lanes; on x86 this takes only a load."""
    return splat(builder, builder.load(builder.gep(data, [index])))


def row_of(builder: ir.IRBuilder, data: Any, index: Any) -> Any:
    """Return a pointer to a row of a block of lanes."""
    at = builder.mul(index, ir.Constant(INDEX, LANES))
    return builder.bitcast(builder.gep(data, [at]), VECTOR.as_pointer())


def _folded(builder: ir.IRBuilder, words: Any, factor: int) -> Any:
    """Return (words ^ words >> 30) · factor, with which every seeding step begins."""
    mixed = builder.xor(words, builder.lshr(words, constant(30)))
    return builder.mul(mixed, constant(factor))


def looped(
    builder: ir.IRBuilder, words: Any, first: Any, end: Any, unrolled: int, step: Step
) -> tuple[Any, Any]:
    """Emit a loop that applies a step per index, `unrolled` at a time; return words and index."""
    before = builder.block
    head, body = builder.append_basic_block("head"), builder.append_basic_block("body")
    after = builder.append_basic_block("after")
    builder.branch(head)
    builder.position_at_end(head)
    lanes, index = builder.phi(VECTOR), builder.phi(INDEX)
    lanes.add_incoming(words, before)
    index.add_incoming(first, before)
    following = builder.add(index, ir.Constant(INDEX, unrolled))
    builder.cbranch(builder.icmp_signed("<=", following, end), body, after)
    builder.position_at_end(body)
    carried = lanes
    for more in range(unrolled):
        carried = step(builder, carried, builder.add(index, ir.Constant(INDEX, more)))
    lanes.add_incoming(carried, builder.block)
    index.add_incoming(following, builder.block)
    builder.branch(head)
    builder.position_at_end(after)
    return lanes, index


def _carried(builder: ir.IRBuilder, row: Any, first: Any, end: Any, step: Step) -> None:
    """Emit the steps first..end-1 on the words of a row, and store the result."""
    words, index = looped(builder, builder.load(row, align=4), first, end, UNROLLED, step)
    words, _ = looped(builder, words, index, end, 1, step)
    builder.store(words, row, align=4)


@intrinsic
def carry_words(typing: Any, x: Any, numbers: Any, at: Any, to: Any) -> Any:  # noqa: ARG001
    """Advance a block of seeds from words `at` to words `to` (init_genrand of 2002)."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        row = builder.bitcast(
            data_of(context, builder, signature.args[0], args[0]), VECTOR.as_pointer()
        )
        added = data_of(context, builder, signature.args[1], args[1])

        def step(builder: ir.IRBuilder, words: Any, index: Any) -> Any:
            product = _folded(builder, words, mt19937.INIT)
            return builder.add(product, _word_at(builder, added, index))

        one = ir.Constant(INDEX, 1)
        _carried(builder, row, builder.add(args[2], one), builder.add(args[3], one), step)
        return context.get_dummy_value()

    return types.void(x, numbers, types.int64, types.int64), code


@intrinsic
def carry_and_keep(typing: Any, x: Any, numbers: Any, words: Any, at: Any, to: Any) -> Any:  # noqa: ARG001
    """Do what `carry_words` does, storing every word on the way in its row of `words`."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        data = [data_of(context, builder, signature.args[at], args[at]) for at in range(3)]
        row = builder.bitcast(data[0], VECTOR.as_pointer())

        def step(builder: ir.IRBuilder, words: Any, index: Any) -> Any:
            product = _folded(builder, words, mt19937.INIT)
            carried = builder.add(product, _word_at(builder, data[1], index))
            builder.store(carried, row_of(builder, data[2], index), align=4)
            return carried

        one = ir.Constant(INDEX, 1)
        _carried(builder, row, builder.add(args[3], one), builder.add(args[4], one), step)
        return context.get_dummy_value()

    return types.void(x, numbers, words, types.int64, types.int64), code


@intrinsic
def subtract_rows(typing: Any, table: Any, result: Any, one: Any, other: Any) -> Any:  # noqa: ARG001
    """Write row `one` of a table minus row `other` to row `result`; add 2^31 - 1 if negative."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        data = data_of(context, builder, signature.args[0], args[0])
        left, right = (builder.load(row_of(builder, data, args[at]), align=4) for at in (2, 3))
        word = builder.sub(left, right)
        lift = builder.and_(builder.ashr(word, constant(31)), constant(0x7FFFFFFF))
        builder.store(builder.add(word, lift), row_of(builder, data, args[1]), align=4)
        return context.get_dummy_value()

    return types.void(table, types.int64, types.int64, types.int64), code


@intrinsic
def mix_keys(
    typing: Any, x: Any, keys: Any, base: Any, words: Any, first: Any, end: Any  # noqa: ARG001
) -> Any:  # fmt: skip
    """Run the first pass of init_by_array over words first..end-1, each from the one before.

    `x` holds the word before `first`; `base` is the block that the keys are mixed into. The results
    are written to the rows of `words`.
    """

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        data = [data_of(context, builder, signature.args[at], args[at]) for at in range(4)]
        row, key_row = (builder.bitcast(data[at], VECTOR.as_pointer()) for at in (0, 1))
        keys = builder.load(key_row, align=4)

        def step(builder: ir.IRBuilder, words: Any, index: Any) -> Any:
            product = _folded(builder, words, cpython.FIRST_MULTIPLIER)
            mixed = builder.add(builder.xor(product, _word_at(builder, data[2], index)), keys)
            builder.store(mixed, row_of(builder, data[3], index), align=4)
            return mixed

        _carried(builder, row, args[4], args[5], step)
        return context.get_dummy_value()

    return types.void(x, keys, base, words, types.int64, types.int64), code


@intrinsic
def mix_again(typing: Any, x: Any, numbers: Any, words: Any, first: Any, end: Any) -> Any:  # noqa: ARG001
    """Run the second pass of init_by_array: compute final words first..end-1 in rows of `words`."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        data = [data_of(context, builder, signature.args[at], args[at]) for at in range(3)]
        row = builder.bitcast(data[0], VECTOR.as_pointer())

        def step(builder: ir.IRBuilder, words: Any, index: Any) -> Any:
            product = _folded(builder, words, cpython.SECOND_MULTIPLIER)
            place = row_of(builder, data[2], index)
            mixed = builder.xor(product, builder.load(place, align=4))
            mixed = builder.sub(mixed, _word_at(builder, data[1], index))
            builder.store(mixed, place, align=4)
            return mixed

        _carried(builder, row, args[3], args[4], step)
        return context.get_dummy_value()

    return types.void(x, numbers, words, types.int64, types.int64), code
