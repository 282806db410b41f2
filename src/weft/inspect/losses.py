"""Nodes and slots that a run lost, and which of them came back; from the manifest's events."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weft.storage.manifest import Manifest

LOST = {"node-lost": "node", "node-refused": "node", "slot-retired": "slot"}
BACK = "node-returned"


@dataclass(frozen=True, slots=True)
class Loss:
    """A node or a slot that went out of service; times are the coordinator's wall clock."""

    what: str
    """`node` or `slot`."""
    name: str
    why: str
    lost_at: float
    back_at: float | None = None

    def line(self) -> str:
        """Describe it in a sentence."""
        why = f" ({self.why})" if self.why else ""
        if self.back_at is None:
            return f"{self.what} {self.name} is lost{why}; what it had went to others"
        away_s = self.back_at - self.lost_at
        return f"{self.what} {self.name} was lost for {away_s:.0f} s{why} and is back"


def read_losses(manifest: Manifest) -> tuple[Loss, ...]:
    """Return every loss of the run's last session, oldest first."""
    losses: list[Loss] = []
    rows = manifest.query("SELECT at, kind, coalesce(detail, '') FROM events ORDER BY id")
    for at, kind, detail in rows:
        name, _, why = detail.partition(": ")
        if kind == "ray-session":
            losses = []
        elif kind in LOST:
            name, _, more = name.partition(" ")
            losses.append(Loss(LOST[kind], name, why or more, at))
        elif kind == BACK:
            losses = [replace(x, back_at=at) if _is_away(x, name) else x for x in losses]
    return tuple(losses)


def _is_away(loss: Loss, name: str) -> bool:
    return loss.name == name and loss.back_at is None
