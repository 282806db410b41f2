"""The neural net of step 5, trained by PyTorch if requested explicitly (`--net torch`).

Same net, loss and optimizer as scikit-learn's: ReLU layers, squared error, Adam, an L2 penalty on
the weights, minibatches of at most 200 rows. The result is NumPy arrays, so prediction does not
need PyTorch. With one thread and a fixed seed, the bytes are the same on a given platform.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from weft.lazy_imports import lazy_module
from weft.searches.prng.arrays import Floats

if TYPE_CHECKING:
    import torch

    from weft.searches.prng.pipeline.models import Layer, ModelParams
else:
    torch = lazy_module("torch")

BATCH_ROWS = 200


def train(params: ModelParams, x: Floats, y: Floats, seed: int) -> list[Layer]:
    """Train on scaled rows and return the layers."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(mode=True)
    chance = torch.Generator().manual_seed(seed)
    sizes = (x.shape[1], *params["layers"], 1)
    net = _net(sizes, chance)
    rows, truth = torch.from_numpy(np.ascontiguousarray(x)), torch.from_numpy(y)[:, None]
    adam = torch.optim.Adam(net.parameters(), lr=params["learning_rate"])
    for _ in range(params["epochs"]):
        order = torch.randperm(len(rows), generator=chance)
        for batch in order.split(BATCH_ROWS):
            adam.zero_grad()
            loss = ((net(rows[batch]) - truth[batch]) ** 2).mean() / 2
            penalty = sum((layer.weight**2).sum() for layer in net[::2])
            (loss + params["alpha"] / 2 * penalty / len(batch)).backward()
            adam.step()
    return [(layer.weight.detach().numpy().T, layer.bias.detach().numpy()) for layer in net[::2]]


def _net(sizes: Sequence[int], chance: torch.Generator) -> torch.nn.Sequential:
    """Return linear layers with ReLU between them and Glorot (Xavier) initialisation."""
    parts: list[torch.nn.Module] = []
    for wide, narrow in pairwise(sizes):
        layer = torch.nn.Linear(wide, narrow, dtype=torch.float64)
        torch.nn.init.xavier_uniform_(layer.weight, generator=chance)
        torch.nn.init.zeros_(layer.bias)
        parts += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])
