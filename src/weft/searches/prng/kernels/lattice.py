"""Lattice reduction (LLL) and the nearest plane (Babai), for small dimensions.

Bases are integers of at most 52 bits and stay exact; the orthogonalisation that guides the
reduction is in doubles. A badly reduced basis can make the search miss a state, but not report a
false one: every state found is compared with the draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS

DELTA = 0.99
MAX_ROUNDS = 20_000
"""Rounds after which a reduction ends unfinished; a few hundred are usual."""


@KERNELS.kernel
def orthogonal(basis: Any, k: int, star: Any, mu: Any, norm: Any) -> None:
    """Compute row k of the orthogonal basis from the rows before it."""
    size = basis.shape[1]
    for c in range(size):
        star[k, c] = float(basis[k, c])
    for j in range(k):
        dot = 0.0
        for c in range(size):
            dot += float(basis[k, c]) * star[j, c]
        mu[k, j] = dot / norm[j]
        for c in range(size):
            star[k, c] -= mu[k, j] * star[j, c]
    norm[k] = 0.0
    for c in range(size):
        norm[k] += star[k, c] * star[k, c]


@KERNELS.kernel
def shorten(basis: Any, k: int, star: Any, mu: Any, norm: Any) -> None:
    """Subtract multiples of earlier rows from row k until none is left to subtract."""
    for _ in range(64):
        orthogonal(basis, k, star, mu, norm)
        changed = False
        for j in range(k - 1, -1, -1):
            times = np.rint(mu[k, j])
            if times == 0.0:
                continue
            changed = True
            whole = np.int64(times)
            for c in range(basis.shape[1]):
                basis[k, c] -= whole * basis[j, c]
            for i in range(j):
                mu[k, i] -= times * mu[j, i]
            mu[k, j] -= times
        if not changed:
            return


@KERNELS.entry
def reduce_basis(basis: Any) -> Any:
    """Reduce the rows of an int64 basis in place; return the orthogonal basis of the result."""
    rows = basis.shape[0]
    star, mu = np.zeros(basis.shape, np.float64), np.zeros((rows, rows), np.float64)
    norm = np.zeros(rows, np.float64)
    k = 0
    for _ in range(MAX_ROUNDS):
        if k == rows:
            break
        shorten(basis, k, star, mu, norm)
        if k == 0 or norm[k] >= (DELTA - mu[k, k - 1] * mu[k, k - 1]) * norm[k - 1]:
            k += 1
            continue
        for c in range(basis.shape[1]):
            basis[k, c], basis[k - 1, c] = basis[k - 1, c], basis[k, c]
        k -= 1
    return star


@KERNELS.entry
def nearest(basis: Any, star: Any, target: Any) -> Any:
    """Return a lattice vector near the target, taking planes from the last to the first."""
    rest = target.copy()
    for k in range(basis.shape[0] - 1, -1, -1):
        dot, norm = 0.0, 0.0
        for c in range(basis.shape[1]):
            dot += float(rest[c]) * star[k, c]
            norm += star[k, c] * star[k, c]
        whole = np.int64(np.rint(dot / norm))
        for c in range(basis.shape[1]):
            rest[c] -= whole * basis[k, c]
    return target - rest
