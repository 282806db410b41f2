"""The Merkle tree of RFC 6962 §2.1 over leaf hashes, each proof with its check.

Knows hashes only, not what they are hashes of. `leaves` are always leaf hashes; `Frontier`
grows a tree in O(log n) memory. Checks accept untrusted data; they return False and never raise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

HASH_BYTES = 32
_sha256 = hashlib.sha256


def leaf_hash(data: bytes) -> bytes:
    """Hash one entry: SHA-256(0x00 || data), RFC 6962 §2.1."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash an inner node: SHA-256(0x01 || left || right), RFC 6962 §2.1."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Frontier:
    """An append-only tree, kept as the roots of its full subtrees, largest first."""

    __slots__ = ("_peaks", "size")

    def __init__(self) -> None:
        self.size = 0
        self._peaks: list[bytes] = []

    def append(self, leaf: bytes) -> None:
        """Add one leaf hash, joining subtrees of equal size."""
        size = self.size
        self.size = size + 1
        while size & 1:
            leaf = node_hash(self._peaks.pop(), leaf)
            size >>= 1
        self._peaks.append(leaf)

    def extend(self, leaves: Sequence[bytes]) -> None:
        """Add leaf hashes in order, like repeated `append`, but level by level."""
        nodes, left, ends = list(leaves), self.size, list[bytes]()
        self.size += len(nodes)
        while nodes:
            if left & 1:
                nodes.insert(0, self._peaks.pop())
            if len(nodes) & 1:
                ends.append(nodes.pop())
            pairs = zip(nodes[::2], nodes[1::2], strict=True)
            nodes = [_sha256(b"\x01" + a + b).digest() for a, b in pairs]
            left >>= 1
        self._peaks += reversed(ends)

    def root(self) -> bytes:
        """Return MTH of the leaves so far; for none, the hash of no bytes (RFC 6962 §2.1)."""
        if not self._peaks:
            return hashlib.sha256(b"").digest()
        top = self._peaks[-1]
        for peak in reversed(self._peaks[:-1]):
            top = node_hash(peak, top)
        return top

    @property
    def peaks(self) -> tuple[bytes, ...]:
        """The roots of its full subtrees, largest first; with the size, its whole state."""
        return (*self._peaks,)

    @staticmethod
    def of(size: int, peaks: Sequence[bytes]) -> Frontier:
        """Return the tree with this size and these peaks."""
        tree = Frontier()
        tree.size, tree._peaks = size, [*peaks]
        return tree

    def copy(self) -> Frontier:
        """Return an independent copy."""
        return Frontier.of(self.size, self._peaks)


def root(leaves: Sequence[bytes]) -> bytes:
    """Return MTH(D[n]) of RFC 6962 §2.1."""
    return _root_between(leaves, 0, len(leaves))


def prove_inclusion(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """Return PATH(index, D[n]) of RFC 6962 §2.1.1, the leaf's sibling first."""
    assert 0 <= index < len(leaves), f"no leaf {index} in a tree of {len(leaves)}"
    low, high = 0, len(leaves)
    path: list[bytes] = []
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            path.append(_root_between(leaves, middle, high))
            high = middle
        else:
            path.append(_root_between(leaves, low, middle))
            low = middle
    return path[::-1]


def check_inclusion(
    leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes
) -> bool:
    """Return whether the proof leads from `leaf` at `index` to `root` (RFC 9162 §2.1.3.2)."""
    if not 0 <= index < size or not _are_hashes(leaf, root, *proof):
        return False
    node, last, top = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return False
        if node & 1 or node == last:
            top = node_hash(sibling, top)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            top = node_hash(top, sibling)
        node, last = node >> 1, last >> 1
    return last == 0 and top == root


def prove_consistency(leaves: Sequence[bytes], old_size: int) -> list[bytes]:
    """Return PROOF(old_size, D[n]) of RFC 6962 §2.1.2; empty for an empty or an equal tree."""
    assert 0 <= old_size <= len(leaves), f"{old_size} leaves of a tree of {len(leaves)}"
    if old_size == 0:
        return []
    low, high = 0, len(leaves)
    path: list[bytes] = []
    while high != old_size:
        middle = low + _split(high - low)
        if old_size <= middle:
            path.append(_root_between(leaves, middle, high))
            high = middle
        else:
            path.append(_root_between(leaves, low, middle))
            low = middle
    if low:  # the old tree is not a subtree of the new one: start from its last full part
        path.append(_root_between(leaves, low, high))
    return path[::-1]


def check_consistency(
    old_size: int, old_root: bytes, size: int, root: bytes, proof: Sequence[bytes]
) -> bool:
    """Return whether the tree `root` begins with the tree `old_root` (RFC 9162 §2.1.4.2)."""
    if not 0 <= old_size <= size or not _are_hashes(old_root, root, *proof):
        return False
    if old_size == size:
        return not proof and old_root == root
    if old_size == 0:
        return not proof and old_root == hashlib.sha256(b"").digest()
    path = list(proof) if old_size & (old_size - 1) else [old_root, *proof]
    return bool(path) and _join_both(old_size - 1, size - 1, path) == (old_root, root)


def _join_both(node: int, last: int, path: list[bytes]) -> tuple[bytes, bytes] | None:
    """Compute old and new root together, steps 3 to 5 of RFC 9162 §2.1.4.2."""
    while node & 1:
        node, last = node >> 1, last >> 1
    old = new = path[0]
    for sibling in path[1:]:
        if last == 0:
            return None
        if node & 1 or node == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            new = node_hash(new, sibling)
        node, last = node >> 1, last >> 1
    return (old, new) if last == 0 else None


def _root_between(leaves: Sequence[bytes], low: int, high: int) -> bytes:
    tree = Frontier()
    for position in range(low, high):
        tree.append(leaves[position])
    return tree.root()


def _split(size: int) -> int:
    """Return the largest power of two smaller than `size` (k of RFC 6962 §2.1)."""
    return 1 << ((size - 1).bit_length() - 1)


def _are_hashes(*values: bytes) -> bool:
    return all(len(value) == HASH_BYTES for value in values)
