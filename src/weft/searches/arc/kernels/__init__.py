"""Operators as compiled loops over encoded values. Each has a slow plain twin in `weft.searches.arc.ops`."""
