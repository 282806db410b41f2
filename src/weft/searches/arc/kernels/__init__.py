"""Operators as compiled loops over encoded values; their plain twins are in `arc.ops`."""
