"""Four kinds of model behind two functions: `fit` returns bytes, `predict` reads them.

Every fit is deterministic on a given platform: one thread, a fixed seed, no pickle. A library is
imported when a model of its kind is first used.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, cast

import numpy as np

from weft.errors import BugError
from weft.lazy_imports import lazy_module
from weft.searches.prng.arrays import Floats
from weft.searches.prng.pipeline import torchnet
from weft.searches.prng.pipeline.adapt import TrainingParams
from weft.searches.prng.pipeline.optimizer import IntRange, LogRange, Space

if TYPE_CHECKING:
    import lightgbm
    import sklearn.ensemble as ensembles
    import sklearn.exceptions as warnings_of_sklearn
    import sklearn.neural_network as networks
    import xgboost
else:
    lightgbm, xgboost = lazy_module("lightgbm"), lazy_module("xgboost")
    ensembles, networks = lazy_module("sklearn.ensemble"), lazy_module("sklearn.neural_network")
    warnings_of_sklearn = lazy_module("sklearn.exceptions")

Layer: TypeAlias = tuple[Floats, Floats]
"""Weight matrix, inputs by outputs, and bias."""


class ModelParams(TypedDict, total=False):
    """The parameters of a model, recorded as given; each kind has its own subset."""

    trees: int
    depth: int
    min_leaf: int
    learning_rate: float
    width: int
    alpha: float
    layers: list[int]
    epochs: int
    library: str


def fit(kind: str, params: ModelParams, x: Floats, y: Floats, seed: int) -> bytes:
    """Train a model of a kind on rows of features and their labels."""
    return _FITS[kind](params, x, y, seed % 2**31)


def predict(kind: str, model: bytes, x: Floats) -> Floats:
    """Return a model's prediction for each row."""
    if kind not in _PREDICTS:
        raise BugError(f"no model of kind {kind!r}")
    return np.asarray(_PREDICTS[kind](model, x), np.float64)


def search_space(kind: str, training: TrainingParams) -> Space:
    """Return the tuning space of a kind, around the training parameters of step 4."""
    trees, depth, leaf = training.trees, training.depth, training.min_leaf
    forest: dict[str, IntRange] = {
        "trees": {"low": max(10, trees // 2), "high": trees, "default": trees},
        "depth": {"low": 2, "high": depth, "default": depth},
        "min_leaf": {"low": 1, "high": max(1, 2 * leaf), "default": leaf},
    }
    rate: LogRange = {"low": 0.02, "high": 0.3, "default": 0.1, "log": True}
    if kind == "random_forest":
        return forest
    if kind in ("xgboost", "lightgbm"):
        return {**forest, "learning_rate": rate}
    width = training.layers[0]
    return {
        "width": {"low": max(4, width // 2), "high": 2 * width, "default": width},
        "alpha": {"low": 0.01, "high": 10.0, "default": 1.0, "log": True},
        "learning_rate": {"low": 1e-4, "high": 0.03, "default": 0.003, "log": True},
    }


def with_training(
    kind: str, params: ModelParams, training: TrainingParams, net: str
) -> ModelParams:
    """Complete tuned parameters with those fixed by step 4 and the request."""
    if kind != "neural_net":
        return params
    widths = [max(2, layer * params["width"] // training.layers[0]) for layer in training.layers]
    return {**params, "layers": widths, "epochs": training.epochs, "library": net}


def _fit_neural_net(params: ModelParams, x: Floats, y: Floats, seed: int) -> bytes:
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    trained = _NETS[params["library"]](params, (x - mean) / scale, y, seed)
    arrays = {"mean": mean, "scale": scale, "low": x.min(axis=0), "high": x.max(axis=0)}
    for layer, (weights, bias) in enumerate(trained):
        arrays |= {f"weights{layer}": weights, f"bias{layer}": bias}
    return _packed(arrays)


def _sklearn_net(params: ModelParams, x: Floats, y: Floats, seed: int) -> list[Layer]:
    net = networks.MLPRegressor(
        hidden_layer_sizes=tuple(params["layers"]),
        alpha=params["alpha"],
        learning_rate_init=params["learning_rate"],
        max_iter=params["epochs"],
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", warnings_of_sklearn.ConvergenceWarning)
        net.fit(x, y)
    return list(zip(net.coefs_, net.intercepts_, strict=True))


def _predict_neural_net(model: bytes, x: Floats) -> Floats:
    arrays = _unpacked(model)
    # later cuts have more draws: a net must not extrapolate beyond its training range
    value = (np.clip(x, arrays["low"], arrays["high"]) - arrays["mean"]) / arrays["scale"]
    layers = sum(name.startswith("bias") for name in arrays)
    for layer in range(layers):
        value = value @ arrays[f"weights{layer}"] + arrays[f"bias{layer}"]
        if layer + 1 < layers:
            value = np.maximum(value, 0.0)
    return value[:, 0]


def _fit_random_forest(params: ModelParams, x: Floats, y: Floats, seed: int) -> bytes:
    forest = ensembles.RandomForestRegressor(
        n_estimators=params["trees"],
        max_depth=params["depth"],
        min_samples_leaf=params["min_leaf"],
        max_features=0.5,
        n_jobs=1,
        random_state=seed,
    ).fit(x, y)
    trees = [tree.tree_ for tree in forest.estimators_]
    starts = np.cumsum([0, *(tree.node_count for tree in trees)])
    return _packed({
        "starts": starts[:-1],
        "left": np.concatenate([tree.children_left for tree in trees]),
        "right": np.concatenate([tree.children_right for tree in trees]),
        "feature": np.concatenate([tree.feature for tree in trees]),
        "threshold": np.concatenate([tree.threshold for tree in trees]),
        "value": np.concatenate([tree.value[:, 0, 0] for tree in trees]),
    })  # fmt: skip


def _predict_random_forest(model: bytes, x: Floats) -> Floats:
    """Walk all rows down each tree; sklearn compares single-precision features."""
    forest = _unpacked(model)
    rows, features = np.arange(len(x)), np.asarray(x, np.float32)
    total = np.zeros(len(x))
    for start in forest["starts"]:
        node = np.zeros(len(x), np.int64)
        while True:
            at = start + node
            inner = forest["left"][at] >= 0
            if not inner.any():
                break
            chosen = features[rows, np.maximum(forest["feature"][at], 0)]
            goes_left = chosen <= forest["threshold"][at]
            below = np.where(goes_left, forest["left"][at], forest["right"][at])
            node = np.where(inner, below, node)
        total += forest["value"][start + node]
    return total / len(forest["starts"])


def _fit_xgboost(params: ModelParams, x: Floats, y: Floats, seed: int) -> bytes:
    settings = {
        "max_depth": params["depth"],
        "min_child_weight": params["min_leaf"],
        "eta": params["learning_rate"],
        "tree_method": "hist",
        "nthread": 1,
        "seed": seed,
        "verbosity": 0,
    }
    data = xgboost.DMatrix(x, label=y, nthread=1)
    booster = xgboost.train(settings, data, num_boost_round=params["trees"])
    return bytes(booster.save_raw("json"))


def _predict_xgboost(model: bytes, x: Floats) -> Floats:
    booster = xgboost.Booster({"nthread": 1})
    booster.load_model(bytearray(model))
    return booster.predict(xgboost.DMatrix(x, nthread=1))


def _fit_lightgbm(params: ModelParams, x: Floats, y: Floats, seed: int) -> bytes:
    settings = {
        "objective": "regression",
        "max_depth": params["depth"],
        "num_leaves": min(31, 2 ** params["depth"]),
        "min_data_in_leaf": params["min_leaf"],
        "learning_rate": params["learning_rate"],
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "seed": seed,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(x, label=y, params={"verbosity": -1})
    return lightgbm.train(settings, data, params["trees"]).model_to_string().encode()


def _predict_lightgbm(model: bytes, x: Floats) -> Floats:
    booster = lightgbm.Booster(model_str=model.decode())
    return np.asarray(booster.predict(x, num_threads=1), np.float64)


def _packed(arrays: Mapping[str, Floats]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **cast(Mapping[str, Any], arrays))
    return buffer.getvalue()


def _unpacked(model: bytes) -> dict[str, Floats]:
    with np.load(io.BytesIO(model), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


_NETS = {"sklearn": _sklearn_net, "torch": torchnet.train}
_FITS = {
    "neural_net": _fit_neural_net,
    "random_forest": _fit_random_forest,
    "xgboost": _fit_xgboost,
    "lightgbm": _fit_lightgbm,
}
_PREDICTS = {
    "neural_net": _predict_neural_net,
    "random_forest": _predict_random_forest,
    "xgboost": _predict_xgboost,
    "lightgbm": _predict_lightgbm,
}
