"""The version of this package, for those below the package's own front."""

__version__ = "0.2.0"
"""The installed version of Weft."""
