"""`weft arc` as a product: its parts as import paths, so that listing it imports nothing."""

from __future__ import annotations

from weft import Product

PRODUCT = Product(
    name="arc",
    summary="Program search for ARC-AGI puzzles: explainable, reproducible, UNKNOWN when in doubt.",
    app="weft.searches.arc.cli:app",
    searches={"arc.solve": "weft.searches.arc.search:solve"},
    titles={"arc.solve": "ARC puzzles"},
    pages="weft.searches.arc.report:pages",
    lines="weft.searches.arc.report:lines",
    warm_up="weft.searches.arc.compile:compile_kernels",
    preload="weft.searches.arc.warm:load",
    extra="arc",
    former_names={"weft.arc.lanes:solve": "arc.solve"},
)
