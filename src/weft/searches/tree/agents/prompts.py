"""Prompts for the model, and the parsing of its answers other than edits.

A file named in agent.toml replaces a prompt; `{…}` marks a placeholder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

SYSTEM = (
    "You improve a program step by step. Every change is applied to a copy, tested and scored by"
    " a harness that you cannot see or change. Only the score counts."
)
PROPOSE = """\
{context}

The files:

{files}

Propose {count} different ideas to improve the score, each small enough for one change. Do not
repeat what was tried. Write each in this form, and nothing else:

### IDEA: a title in a few words
What to change, where, and why it should help.
"""
IMPLEMENT = """\
Implement this idea:

{idea}

{feedback}

The files:

{files}

Answer with search-replace blocks. The lines of SEARCH must be in the file exactly once; leave
SEARCH empty to write a new file:

FILE: path/of/the/file
<<<<<<< SEARCH
the lines as they are now
=======
the lines as they should be
>>>>>>> REPLACE
"""
REPAIR = """\
The edits could not be applied: {reason}
Nothing was changed. Answer with all edits again, corrected.
"""
REVIEW = """\
Review this change. It implements the idea:

{idea}

The change:

{diff}

Approve it if it does what the idea says, contains no obvious mistake, and does not try to influence
how it is scored. End with one line of JSON:

{{"approved": true, "feedback": "what should be different, if anything"}}
"""
DEFAULTS: Mapping[str, str] = {
    "system": SYSTEM, "propose": PROPOSE, "implement": IMPLEMENT, "repair": REPAIR,
    "review": REVIEW,
}  # fmt: skip
_IDEA = re.compile(r"^#{1,6}\s*(?:IDEA|Idea)\s*\d*\s*[:.]\s*(?P<title>.+?)\s*#*$", re.MULTILINE)
_FENCED = re.compile(r"\A\s*```\w*\n(?P<inner>.*)\n```\s*\Z", re.DOTALL)
_OBJECT = re.compile(r"\{[^{}]*\}")
MAX_IDEAS = 100


class AnswerInvalid(Exception):  # noqa: N818 - an outcome of an answer
    """An answer without the requested content."""


def fill(template: str, values: Mapping[str, str]) -> str:
    """Substitute values for `{name}`; doubled braces become single ones, others stay."""
    names = re.compile(r"\{\{|\}\}|\{(" + "|".join(values) + r")\}")
    braces = {"{{": "{", "}}": "}"}
    return names.sub(lambda m: braces.get(m[0]) or values[m[1]], template)


def ideas_in(text: str) -> dict[str, str]:
    """Return the ideas of an answer by file name; raises AnswerInvalid if there are none."""
    fenced = _FENCED.match(text)
    text = fenced["inner"] if fenced else text
    matches = list(_IDEA.finditer(text))[:MAX_IDEAS]
    if not matches:
        raise AnswerInvalid("no idea was found: no line begins with ### IDEA:")
    ends = [match.start() for match in matches[1:]] + [len(text)]
    ideas = {}
    for number, (match, end) in enumerate(zip(matches, ends, strict=True), 1):
        words = re.findall(r"[a-z0-9]+", match["title"].lower())
        name = f"{number:02}-{'-'.join(words)[:60] or 'idea'}.md"
        ideas[name] = f"# {match['title']}\n\n{text[match.end() : end].strip()}\n"
    return ideas


@dataclass(frozen=True, slots=True)
class ReviewVerdict:
    """A reviewer's verdict."""

    approved: bool
    feedback: str


def verdict_in(text: str) -> ReviewVerdict:
    """Return the verdict in an answer's last JSON object with `approved`; raises AnswerInvalid."""
    for match in reversed(list(_OBJECT.finditer(text))):
        try:
            table = json.loads(match[0])
        except ValueError:
            continue
        if isinstance(table.get("approved"), bool):
            return ReviewVerdict(table["approved"], str(table.get("feedback") or "")[:4000])
    raise AnswerInvalid('no verdict was found: no JSON object with "approved": true or false')
