"""The tree agrees with a literal reading of RFC 6962 and with the published vectors."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.ledger.merkle import (
    Frontier,
    check_consistency,
    check_inclusion,
    leaf_hash,
    node_hash,
    prove_consistency,
    prove_inclusion,
    root,
)

SIZES = range(1, 34)
DATA = [bytes([i]) * (i % 5) for i in range(max(SIZES))]
LEAVES = [leaf_hash(data) for data in DATA]

# The tree used by the tests of Certificate Transparency logs.
CT_DATA = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
CT_LEAVES = [leaf_hash(data) for data in CT_DATA]
CT_ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def mth(data: list[bytes]) -> bytes:
    """MTH(D[n]), RFC 6962 §2.1, taken literally."""
    if not data:
        return hashlib.sha256().digest()
    if len(data) == 1:
        return hashlib.sha256(b"\x00" + data[0]).digest()
    k = split(len(data))
    return hashlib.sha256(b"\x01" + mth(data[:k]) + mth(data[k:])).digest()


def path(m: int, data: list[bytes]) -> list[bytes]:
    """PATH(m, D[n]), RFC 6962 §2.1.1, taken literally."""
    if len(data) == 1:
        return []
    k = split(len(data))
    if m < k:
        return [*path(m, data[:k]), mth(data[k:])]
    return [*path(m - k, data[k:]), mth(data[:k])]


def subproof(m: int, data: list[bytes], b: bool) -> list[bytes]:
    """SUBPROOF(m, D[n], b), RFC 6962 §2.1.2, taken literally."""
    if m == len(data):
        return [] if b else [mth(data)]
    k = split(len(data))
    if m <= k:
        return [*subproof(m, data[:k], b), mth(data[k:])]
    return [*subproof(m - k, data[k:], False), mth(data[:k])]


def split(n: int) -> int:
    k = 1
    while k * 2 < n:
        k *= 2
    return k


@pytest.mark.parametrize("size", range(9))
def test_root_of_the_published_tree_is_the_published_one(size: int) -> None:
    assert root(CT_LEAVES[:size]).hex() == CT_ROOTS[size]


def test_proofs_of_the_published_tree_are_the_published_ones() -> None:
    assert [step.hex() for step in prove_inclusion(CT_LEAVES, 5)] == [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]
    assert [step.hex() for step in prove_consistency(CT_LEAVES, 6)] == [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]


@given(st.lists(st.binary(max_size=40), max_size=200))
def test_frontier_of_any_data_has_the_roots_of_the_rfc(data: list[bytes]) -> None:
    tree = Frontier()
    for entry in data:
        tree.append(leaf_hash(entry))
    assert tree.size == len(data)
    assert tree.root() == mth(data) == root([leaf_hash(entry) for entry in data])


def test_frontier_copy_grows_apart() -> None:
    tree = Frontier()
    tree.append(LEAVES[0])
    twin = tree.copy()
    twin.append(LEAVES[1])
    assert (tree.size, tree.root()) == (1, LEAVES[0])
    assert (twin.size, twin.root()) == (2, node_hash(LEAVES[0], LEAVES[1]))


@pytest.mark.parametrize("size", SIZES)
def test_inclusion_every_index_is_proved_as_in_the_rfc(size: int) -> None:
    for index in range(size):
        proof = prove_inclusion(LEAVES[:size], index)
        assert proof == path(index, DATA[:size])
        assert check_inclusion(LEAVES[index], index, size, proof, mth(DATA[:size]))


@pytest.mark.parametrize("size", SIZES)
def test_consistency_every_old_size_is_proved_as_in_the_rfc(size: int) -> None:
    new = mth(DATA[:size])
    for old_size in range(1, size + 1):
        proof = prove_consistency(LEAVES[:size], old_size)
        assert proof == subproof(old_size, DATA[:size], True)
        assert check_consistency(old_size, mth(DATA[:old_size]), size, new, proof)


def altered(proof: list[bytes]) -> list[list[bytes]]:
    """Proofs that are almost the given one: flipped bits, omissions, additions, swaps."""
    flipped = [
        [*proof[:i], bytes([step[0] ^ 1]) + step[1:], *proof[i + 1 :]]
        for i, step in enumerate(proof)
    ]
    dropped = [proof[:i] + proof[i + 1 :] for i in range(len(proof))]
    doubled = [proof[: i + 1] + proof[i:] for i in range(len(proof))]
    swapped = [[*proof[:i], proof[i + 1], proof[i], *proof[i + 2 :]] for i in range(len(proof) - 1)]
    joined = [[proof[0] + proof[1], *proof[2:]]] if len(proof) > 1 else []
    return [
        *flipped, *dropped, *doubled, *swapped, *joined,
        [*proof, bytes(32)], [bytes(32), *proof], [*proof, b""],
    ]  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
def test_inclusion_altered_proof_is_refused(size: int) -> None:
    top = root(LEAVES[:size])
    for index in range(size):
        leaf, proof = LEAVES[index], prove_inclusion(LEAVES[:size], index)
        for wrong in altered(proof):
            assert not check_inclusion(leaf, index, size, wrong, top)
        assert not check_inclusion(leaf_hash(b"other"), index, size, proof, top)
        assert not check_inclusion(leaf, index, size, proof, leaf_hash(b"other"))
        for elsewhere in {*range(-1, size + 2)} - {index}:
            assert not check_inclusion(leaf, elsewhere, size, proof, top)


@pytest.mark.parametrize("size", SIZES)
def test_consistency_altered_proof_is_refused(size: int) -> None:
    new = root(LEAVES[:size])
    for old_size in range(1, size + 1):
        old, proof = root(LEAVES[:old_size]), prove_consistency(LEAVES[:size], old_size)
        for wrong in altered(proof):
            assert not check_consistency(old_size, old, size, new, wrong)
        assert not check_consistency(old_size, leaf_hash(b"other"), size, new, proof)
        assert not check_consistency(old_size, old, size, leaf_hash(b"other"), proof)
        for elsewhere in {*range(-1, size + 2)} - {old_size}:
            assert not check_consistency(elsewhere, old, size, new, proof)


def test_consistency_from_an_empty_tree_needs_its_root_and_no_proof() -> None:
    empty, top = root([]), root(LEAVES)
    assert prove_consistency(LEAVES, 0) == []
    assert check_consistency(0, empty, len(LEAVES), top, [])
    assert check_consistency(0, empty, 0, empty, [])
    assert not check_consistency(0, top, len(LEAVES), top, [])
    assert not check_consistency(0, empty, len(LEAVES), top, [top])


def test_prove_outside_the_tree_is_our_bug() -> None:
    for index in (-1, 5):
        with pytest.raises(AssertionError):
            prove_inclusion(LEAVES[:5], index)
    for old_size in (-1, 6):
        with pytest.raises(AssertionError):
            prove_consistency(LEAVES[:5], old_size)


@given(st.integers(1, 2**70), st.integers(1, 2**70), st.lists(st.binary(max_size=33), max_size=80))
def test_checks_of_nonsense_answer_no(a: int, b: int, proof: list[bytes]) -> None:
    top, other = leaf_hash(b"top"), leaf_hash(b"other")
    assert not check_inclusion(other, a, b, proof, top)
    assert not check_consistency(a, other, b, top, proof)
