"""agent.toml: the model, its address and prices, the files it is shown and its prompts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from pathlib import Path
from typing import Any

from weft.searches.tree.agents.prompts import DEFAULTS
from weft.searches.tree.agents.wire import WIRES

MAX_BYTES = 2**20
_PRICE = re.compile(r"[0-9]{1,9}(\.[0-9]{1,12})?")


class SettingsInvalid(Exception):  # noqa: N818 - named by situation
    """An invalid agent.toml; the message names the file and the field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """The fields of agent.toml."""

    api: str
    """Request format: `openai` or `anthropic`."""
    url: str
    model: str
    key_from: str = ""
    """Name of the environment variable with the key; empty for none."""
    stream: bool = True
    max_output_tokens: int = 8192
    idle_timeout_s: float = 120.0
    retries: int = 5
    repairs: int = 1
    """Number of times a model may correct edits that do not apply."""
    ideas: int = 4
    """Number of ideas requested at a time."""
    files: tuple[str, ...] = ("*",)
    """Patterns of the files shown to the model."""
    max_context_chars: int = 60_000
    """Limit for all files together, and for a diff."""
    usd_per_million_input_tokens: str = "0"
    usd_per_million_output_tokens: str = "0"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    """Additional fields of every request."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """The prompts by name; in agent.toml, the files beside it that replace them."""


KINDS: Mapping[str, type | tuple[type, ...]] = {
    "stream": bool, "max_output_tokens": int, "idle_timeout_s": (int, float), "retries": int,
    "repairs": int, "ideas": int, "files": list, "max_context_chars": int, "headers": dict,
    "body": dict, "prompts": dict,
}  # fmt: skip
"""Types of the fields that are not text."""
LEAST: Mapping[str, float] = {
    "max_output_tokens": 1, "idle_timeout_s": 0.001, "retries": 0, "repairs": 0, "ideas": 1,
    "max_context_chars": 1,
}  # fmt: skip


def read_settings(path: Path) -> AgentSettings:
    """Read and check an agent.toml; raises SettingsInvalid."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SettingsInvalid(f"{path.name}: larger than {MAX_BYTES:,} bytes")
        table = tomllib.loads(path.read_bytes().decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsInvalid(f"{path.name}: {' '.join(str(error).split())[:200]}") from None
    known = {item.name for item in fields(AgentSettings)}
    missing = {"api", "url", "model"} - table.keys()
    for name in [*sorted(table.keys() - known), *sorted(missing)]:
        what = "is missing" if name in missing else "is not a field of it"
        raise SettingsInvalid(f"{path.name}: {name} {what}")
    for name, value in table.items():
        if problem := _problem(name, value):
            raise SettingsInvalid(f"{path.name}: {name} {problem}")
    table["prompts"] = {**DEFAULTS, **_prompts(table.get("prompts", {}), path)}
    table["files"] = tuple(table.get("files", ("*",)))
    return AgentSettings(**table)


def _problem(name: str, value: Any) -> str:
    if not _is_of_kind(value, KINDS.get(name, str)):
        return "is of the wrong type"
    if name in LEAST and value < LEAST[name]:
        return f"is below {LEAST[name]:g}"
    if name == "api" and value not in WIRES:
        return f"is none of {', '.join(WIRES)}"
    if name == "url" and not re.match(r"https?://[^/\s]", value):
        return "is not an address that begins with https:// or http://"
    if name.startswith("usd_per_") and not _PRICE.fullmatch(value):
        return 'is not a price as text, such as "0.25"'
    return ""


def _is_of_kind(value: object, kind: type | tuple[type, ...]) -> bool:
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _prompts(names: Mapping[str, Any], path: Path) -> dict[str, str]:
    texts = {}
    for name, file in names.items():
        if name not in DEFAULTS:
            raise SettingsInvalid(f"{path.name}: prompts.{name} is none of {', '.join(DEFAULTS)}")
        try:
            texts[name] = (path.parent / str(file)).read_text("utf-8")
        except (OSError, ValueError) as error:
            raise SettingsInvalid(f"{path.name}: prompts.{name}: {error}") from None
    return texts


def usd_of(settings: AgentSettings, input_tokens: int, output_tokens: int) -> Decimal:
    """Return the exact price of tokens."""
    of_input = Decimal(settings.usd_per_million_input_tokens) * input_tokens
    of_output = Decimal(settings.usd_per_million_output_tokens) * output_tokens
    return (of_input + of_output) / 1_000_000
