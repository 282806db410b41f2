"""`weft tree init`: write a search whose agents call a model into a folder."""

from __future__ import annotations

from pathlib import Path

from weft.errors import InputError, UsageError

TEMPLATE = Path(__file__).parent / "template"
KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
URLS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
MODEL = "name-of-the-model"
FILES = ("tree.toml", "agent.toml", "start/route.py", "start/score.py")


def write_template(folder: Path, template: str) -> list[Path]:
    """Write a search whose agents call a model; raises InputError if a file already exists."""
    if template not in KEYS:
        raise UsageError(f"--template must be openai or anthropic, not {template!r:.40}")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file", hint="choose another folder")
    targets = [folder / name for name in FILES]
    for path in targets:
        if path.exists():
            raise InputError(f"{path} already exists", hint="choose another folder")
    values = {"@API@": template, "@KEY@": KEYS[template], "@URL@": URLS[template], "@MODEL@": MODEL}
    for name, path in zip(FILES, targets, strict=True):
        text = (TEMPLATE / name).read_text("utf-8")
        for mark, value in values.items():
            text = text.replace(mark, value)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return targets
