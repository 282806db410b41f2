"""The product definition of `weft prng`: parts by import path, so that listing imports nothing."""

from __future__ import annotations

from weft import Product

PRODUCT = Product(
    name="prng",
    summary="Which generator and seed produced these draws, and what comes next; or no signal.",
    app="weft.searches.prng.cli:app",
    searches={
        "prng.analyse": "weft.searches.prng.search:analyse",
        "prng.pipeline": "weft.searches.prng.pipeline.search:pipeline",
    },
    titles={"prng.analyse": "PRNG analysis", "prng.pipeline": "PRNG pipeline"},
    pages="weft.searches.prng.report:pages",
    lines="weft.searches.prng.report:lines",
    extra="prng",
    search_extras={"prng.pipeline": "ml"},
    former_names={
        "weft.prng.analyse:analyse": "prng.analyse",
        "weft.prng.pipeline.search:pipeline": "prng.pipeline",
    },
)
