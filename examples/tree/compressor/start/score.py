"""Compress the text and give it back. Protected: an idea may not change it or the text.

The harness of Weft runs it: the candidate's code compresses in one process and decompresses in
another, and hands back bytes, which are counted and compared here.
"""

from pathlib import Path

TEXT = Path("text.txt").read_bytes()


def score(candidate):
    """Return the result: the size of the compressed text, and whether it comes back exactly."""
    packed = candidate.call("codec:compress", TEXT)
    exact = isinstance(packed, bytes) and candidate.call("codec:decompress", packed) == TEXT
    return {"score": len(packed), "rows": {"ok": int(exact), "expected": 1}}
