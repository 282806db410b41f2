"""Typed artifacts between the steps: JSON or Parquet bytes, each an object by its content hash.

Every JSON artifact names its kind; reading one as another kind is an error, and so is an
artifact of another schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from weft.errors import InputError
from weft.model.values import Object, canonical, from_wire, to_wire
from weft.prng.pipeline.plan import Plan
from weft.prng.pipeline.reference import ScorerConfig
from weft.prng.pipeline.scoring import Scorer, scorer_of
from weft.prng.pipeline.streams import Split, Stream
from weft.prng.pipeline.window import WindowParams
from weft.worker.context import get, put

SCHEMA_VERSION = 1
SCORED = "scored."
"""Chunks of the scored table are artifacts `scored.00000`, `scored.00001`, …"""


def pack(kind: str, body: Mapping[str, Any]) -> bytes:
    """Write a JSON artifact in its one canonical form."""
    wire: Any = to_wire({"kind": kind, "schema_version": SCHEMA_VERSION, **body})
    return canonical(wire).encode()


def unpack(kind: str, data: bytes) -> dict[str, Any]:
    """Read a JSON artifact of a kind."""
    raw: Any = from_wire(json.loads(data))
    if raw.get("kind") != kind or raw.get("schema_version") != SCHEMA_VERSION:
        raise InputError(f"an artifact is {raw.get('kind')!r}, not {kind!r} of schema 1")
    return dict(raw)


def keep(kind: str, body: Mapping[str, Any]) -> Object:
    """Store a JSON artifact as an object of the run."""
    return put(pack(kind, body))


def read(kind: str, reference: Object) -> dict[str, Any]:
    """Read a JSON artifact of the run."""
    return unpack(kind, get(reference))


@dataclass(frozen=True, slots=True)
class Ground:
    """What most tasks stand on: plan, split and, after step 1, the chosen window."""

    plan: Plan
    split: Split
    params: WindowParams | None = None
    counts: tuple[Any, ...] = ()
    tried: int = 0
    """Hypotheses of all trials together."""

    def window(self) -> WindowParams:
        """Return the chosen window."""
        assert self.params is not None
        return self.params

    def streams(self) -> tuple[Stream, ...]:
        """Return the streams as the chosen window looks at them."""
        return self.split.mode(self.window().sessions)

    def scorer(self, config: ScorerConfig) -> Scorer:
        """Return the scorer with some parameters."""
        return scorer_of(self.plan, self.split, self.window(), self.counts, config)


def ground(plan: Mapping[str, Any], split: Object, window: Object | None = None) -> Ground:
    """Read what a task stands on."""
    known = Plan.from_dict(plan), Split.from_dict(read("split", split))
    if window is None:
        return Ground(*known)
    chosen = read("window", window)
    return Ground(
        *known, WindowParams(**chosen["params"]), tuple(chosen["counts"]), chosen["tried"]
    )


def window_of(params: WindowParams, rest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the window artifact's body."""
    return {"params": asdict(params), **rest}
