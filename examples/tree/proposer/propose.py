"""Propose values for params.json, based on earlier attempts and on the transcript.

A command for `[propose]`: its folder is a copy of the node's files. The context lists what was
tried on the path to the node; the transcript is what this script wrote there. The contract needs
no model; a script that calls one reads and writes the same files.
"""

import json
import os
from pathlib import Path


def place(name):
    return Path(os.environ[f"WEFT_{name}"])


def turns(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


params = json.loads(Path("params.json").read_text())
context = json.loads(place("CONTEXT_FILE").read_text())
refused = [
    json.loads(entry["text"])["values"]
    for entry in context["tried"]
    if not entry["verdict"].startswith("promoted")
]
steps = [int(turn["text"].split()[-1]) for turn in turns(place("TRANSCRIPT_FILE"))]
step = max(1, min(steps, default=24) // 3)

for key, now in sorted(params.items()):
    for value in (now - step, now + step):
        if {key: value} not in refused:
            idea = {"file": "params.json", "values": {key: value}}
            (place("IDEAS_DIR") / f"{key}={value}.json").write_text(json.dumps(idea))

said = {"role": "assistant", "text": f"{context['node']}: all numbers by {step}"}
place("TURNS_FILE").write_text(json.dumps(said) + "\n")
