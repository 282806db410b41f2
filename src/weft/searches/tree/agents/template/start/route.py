"""Visit every point once and return to the first: the shorter the better."""


def route(points: list[tuple[int, int]]) -> list[int]:
    """Return the order in which to visit the points, as a list of their indices."""
    return list(range(len(points)))
