"""python make_gjs.py > gjs.jsonl: Math.random() of SpiderMonkey, which gjs runs.

It cannot be seeded, so the state is solved for: the lowest bit of a sum is linear in the bits of
the state, and 170 such bits determine it. The other 52 bits of all outputs are then the vector.
"""

import json
import subprocess

COUNT, EQUATIONS = 240, 170
SCRIPT = f"print(JSON.stringify(Array.from({{length: {COUNT}}}, () => Math.random())))"


def solved(low_bits: list[int]) -> tuple[int, int]:
    """Return the words of the state before the first output, given the low bit of each."""
    first, second = [1 << at for at in range(64)], [1 << (64 + at) for at in range(64)]
    rows: dict[int, int] = {}
    for bit in low_bits:
        moved = [first[at] ^ (first[at - 23] if at >= 23 else 0) for at in range(64)]
        new = [
            moved[at] ^ second[at] ^ (moved[at + 17] if at < 47 else 0)
            ^ (second[at + 26] if at < 38 else 0)
            for at in range(64)
        ]  # fmt: skip
        first, second = second, new
        row = (first[0] ^ second[0]) << 1 | bit
        while row > 1 and row.bit_length() in rows:
            row ^= rows[row.bit_length()]
        if row > 1:
            rows[row.bit_length()] = row
    state = 0
    for length in sorted(rows):  # from the lowest unknown up
        row = rows[length]
        known = (row >> 1) & state
        if (known.bit_count() + row) & 1:
            state |= 1 << (length - 2)
    return state & (1 << 64) - 1, state >> 64


def main() -> None:
    """Print the streams of two processes."""
    for modulus in (1000, 52):
        result = subprocess.run(["gjs", "-c", SCRIPT], capture_output=True, text=True, check=True)
        values = json.loads(result.stdout)
        words = [int(value * 2**53) for value in values]
        low, high = solved([word & 1 for word in words[:EQUATIONS]])
        line = {"family": "spidermonkey", "output": "scaled", "modulus": modulus}
        line["state"] = f"{low:016x}{high:016x}"
        print(json.dumps({**line, "first": [int(value * modulus) for value in values]}))


if __name__ == "__main__":
    main()
