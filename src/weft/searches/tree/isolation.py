"""The needs of a tree search's commands: a sandbox, and secret variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.model.codec import from_json
from weft.model.sandbox import MODES
from weft.product import CommandNeeds
from weft.searches.tree.config import JUDGING, Stage, TreeConfig

NOT_ISOLATED = "scores not isolated"
OPEN = "candidate code could reach other processes, the network and files outside its folder"


def command_needs(args: Mapping[str, Any]) -> CommandNeeds:
    """Return the strictest sandbox mode of any stage, and the names of all variables."""
    config = from_json(TreeConfig, args["config"])
    stages = [] if config.dry_run else _commands(config)
    modes = {stage.sandbox for stage in stages}
    strictest = next((mode for mode in ("required", "auto") if mode in modes), MODES[-1])
    variables = sorted({name for stage in stages for name in stage.env_from})
    return CommandNeeds(strictest, tuple(variables))


def isolation_notes(config: TreeConfig, unconfined: bool) -> list[str]:
    """Return a note if scores are not isolated; `unconfined`: a judging command had no sandbox.

    The config's setting is reported even before anything has run.
    """
    if config.dry_run:
        return []
    off = [name for name in JUDGING if name in config.stages and _is_off(config.stages[name])]
    if off:
        return [f'{NOT_ISOLATED}: [{off[0]}] has sandbox = "off"; {OPEN}']
    return [f"{NOT_ISOLATED}: there was no sandbox; {OPEN}"] if unconfined else []


def _is_off(stage: Stage) -> bool:
    return bool(stage.argv) and not stage.recorded and stage.sandbox == "off"


def _commands(config: TreeConfig) -> list[Stage]:
    stages = (stage for _, stage in sorted(config.stages.items()))
    return [stage for stage in stages if stage.argv and not stage.recorded]
