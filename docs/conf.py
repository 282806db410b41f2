"""Sphinx configuration for these pages: `make docs`.

The pages stay plain Markdown that a repository browser displays; this file only names the theme and
the extensions that read them. The copy button of a console block copies its commands, without
prompts and output.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

_PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))

project = "Weft"
release = version = _PROJECT["project"]["version"]
language = "en"
html_title = f"Weft {release}"
html_theme = "furo"
extensions = ["myst_parser", "sphinx_copybutton"]
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
myst_heading_anchors = 3
exclude_patterns = ["_build"]
highlight_language = "text"
html_copy_source = False
html_show_sphinx = False
