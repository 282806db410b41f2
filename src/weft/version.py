"""The version of this package, for modules that cannot import it from `weft`."""

__version__ = "0.2.0"
"""The installed version of Weft."""
