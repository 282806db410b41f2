"""Online bin packing: each item goes into the open bin with the highest priority."""

import json
from pathlib import Path

CAPACITY = 150
PARAMS = json.loads(Path(__file__).with_name("params.json").read_text())


def priority(item, free):
    """How gladly a bin with so much room takes the item; whole numbers only."""
    left = free - item
    value = -PARAMS["waste"] * left
    if left == 0:
        value += PARAMS["exact"]
    if 0 < left < PARAMS["sliver_size"]:
        value -= PARAMS["sliver"]
    if free == CAPACITY:
        value -= PARAMS["fresh"]
    return value


def pack(items):
    """Return the bin of each item; equal priorities go to the bin that was opened first."""
    bins, places = [], []
    for item in items:
        fitting = [i for i, free in enumerate(bins) if free >= item]
        choices = [(priority(item, bins[i]), -i, i) for i in fitting]
        choices.append((priority(item, CAPACITY), -len(bins), len(bins)))
        place = max(choices)[2] if fitting else len(bins)
        if place == len(bins):
            bins.append(CAPACITY)
        bins[place] -= item
        places.append(place)
    return places
