"""`weft tree` as a product, its parts given as import paths: listing it imports nothing."""

from __future__ import annotations

from weft import Product

PRODUCT = Product(
    name="tree",
    summary="Beam search over the states of a git repository: ideas tried, scored and combined.",
    app="weft.searches.tree.cli:app",
    searches={
        "tree.run": "weft.searches.tree.search:tree",
        "tree.validate": "weft.searches.tree.validation:validate",
    },
    titles={"tree.run": "Tree search", "tree.validate": "Tree validation"},
    pages="weft.searches.tree.report:pages",
    lines="weft.searches.tree.report:lines",
    follow="weft.searches.tree.follow:follow_run",
    finish="weft.searches.tree.run:write_summary",
    command_needs="weft.searches.tree.isolation:command_needs",
    check_resume="weft.searches.tree.scorerfiles:check_resume",
    extra="tree",
    former_names={"weft.tree.search:tree": "tree.run"},
)
