"""A small text compressor: transforms, then a binary range coder with one model per context.

The root is a static order-0 coder: it measures how often each bit of each byte is set and sends
these numbers first. Every idea changes one of the marked places.
"""

# Transforms are pairs (forward, backward) of lists of numbers below 512, applied in this order.

#
# capitals
#
CAPITALS = None
#
# frequent words
#
WORDS = None
#
# differences
#
DELTA = None
#
# block sorting
#
SORTING = None
#
# recent symbols first
#
RECENT = None
#
# runs of zeros
#
RUNS = None
#
# the coder: how a probability (of 65536) moves after each bit, if it does
#
LEARN = None
#
# the first probabilities, when they move
#
START = 32768
#
# how much the last bits count
#
RATE = 4
#
# which model codes a symbol, from the two before it
#
CONTEXT = None
#
# end of the marked places
#

BITS = 9
TOP = 1 << 24
ONE = 65536


def stages():
    """Return the transforms in use."""
    found = [CAPITALS, WORDS, DELTA, SORTING, RECENT, RUNS]
    return [stage for stage in found if stage is not None]


def compress(data):
    """Return the compressed bytes."""
    symbols = list(data)
    for forward, _ in stages():
        symbols = forward(symbols)
    head = len(symbols).to_bytes(3, "big")
    return head + encode(symbols)


def decompress(data):
    """Return what compress was given."""
    symbols = decode(data[3:], int.from_bytes(data[:3], "big"))
    for _, backward in reversed(stages()):
        symbols = backward(symbols)
    return bytes(symbols)


def context_of(one, two):
    """Return the model for the symbol after these two."""
    return 0 if CONTEXT is None else CONTEXT(one, two)


def measure(symbols):
    """Count the bits of all symbols; return probabilities of 0 in 255ths, as bytes."""
    counts = [[1, 1] for _ in range(1 << BITS)]
    for symbol in symbols:
        node = 1
        for shift in range(BITS - 1, -1, -1):
            bit = symbol >> shift & 1
            counts[node][bit] += 1
            node = node * 2 + bit
    used = [255 * zero // (zero + one) for zero, one in counts]
    return bytes(min(254, max(1, value)) for value in used)


class Models:
    """Probabilities that a bit is 0, by context and place in the symbol."""

    def __init__(self, first):
        self.first = first
        self.tables = {}

    def table(self, context):
        """Return the table of a context; a new one starts with the first probabilities."""
        found = self.tables.get(context)
        if found is None:
            found = self.tables[context] = list(self.first)
        return found


def first_table(head):
    """Return the first probabilities: those that were sent, or START."""
    if LEARN is not None:
        return [START] * (1 << BITS)
    return [value * 257 for value in head]


def encode(symbols):
    """Code symbols with a carry-less range coder (as in LZMA: Pavlov 1998)."""
    head = b"" if LEARN is not None else measure(symbols)
    models, out = Models(first_table(head)), bytearray()
    low, width, cache, waiting = 0, 0xFFFFFFFF, 0, 1
    one = two = 0
    for symbol in symbols:
        table, node = models.table(context_of(one, two)), 1
        for shift in range(BITS - 1, -1, -1):
            bit = symbol >> shift & 1
            bound = (width >> 16) * table[node]
            if bit:
                low += bound
                width -= bound
            else:
                width = bound
            if LEARN is not None:
                table[node] = LEARN(table[node], bit)
            node = node * 2 + bit
            while width < TOP:
                width <<= 8
                low, cache, waiting = shift_low(out, low, cache, waiting)
        one, two = symbol, one
    for _ in range(5):
        low, cache, waiting = shift_low(out, low, cache, waiting)
    return head + bytes(out)


def shift_low(out, low, cache, waiting):
    """Send a byte whose value can no longer change."""
    if low < 0xFF000000 or low >= 1 << 32:
        carry = low >> 32
        while waiting:
            out.append(cache + carry & 255)
            cache, waiting = 255, waiting - 1
        cache = low >> 24 & 255
    return (low & 0x00FFFFFF) << 8, cache, waiting + 1


def decode(data, count):
    """Return the symbols that encode was given."""
    head = b"" if LEARN is not None else data[: 1 << BITS]
    models, position = Models(first_table(head)), len(head) + 5
    code = int.from_bytes(data[len(head) + 1 : position], "big")
    width, symbols, one, two = 0xFFFFFFFF, [], 0, 0
    for _ in range(count):
        table, node = models.table(context_of(one, two)), 1
        for _ in range(BITS):
            bound = (width >> 16) * table[node]
            if code < bound:
                width, bit = bound, 0
            else:
                code, width, bit = code - bound, width - bound, 1
            if LEARN is not None:
                table[node] = LEARN(table[node], bit)
            node = node * 2 + bit
            while width < TOP:
                width <<= 8
                byte = data[position] if position < len(data) else 0
                code, position = code << 8 | byte, position + 1
        one, two = node - (1 << BITS), one
        symbols.append(one)
    return symbols
