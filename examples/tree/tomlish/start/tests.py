"""The parser's own tests, run by the harness as the sweep. Protected."""

import json


def score(candidate):
    """Return how many cases hold; one that does not is enough to refuse a candidate."""
    documents = json.loads((candidate.folder / "documents.json").read_text("utf-8"))
    cases, wrong = documents["cases"], documents["wrong"]
    texts = [text for text, _ in cases] + wrong
    results = candidate.call_each("opcodes:meaning", [[text] for text in texts])
    held = [value == {"value": case[1]} for value, case in zip(results, cases, strict=False)]
    held += ["error" in value for value in results[len(cases) :]]
    return {"rows": {"ok": sum(held), "expected": len(held)}}
