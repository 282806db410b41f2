"""Apply ideas in the index: a patch, blocks or values change only the files they name.

Nothing is checked out. An idea that does not apply is applied to the root, for which it was
written; the result is merged three-way with the changes on the path to the state.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weft.searches.tree.slot.git import Git, GitFailed
from weft.searches.tree.slot.objects import write_object
from weft.searches.tree.slot.values import Conflict, ParameterIdea, with_values

BLOCK = re.compile(
    r"^FILE: (?P<file>[^\n]+)\n<<<<<<< SEARCH\n(?P<old>.*?)^=======\n(?P<new>.*?)^>>>>>>> REPLACE$",
    re.DOTALL | re.MULTILINE,
)
PLAIN, PROGRAM = "100644", "100755"
THREE_WAY = "three-way"
MERGED_KINDS = ("patch", "blocks")
"""Kinds of ideas written for the text of the root; values are set independently of it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the index."""

    mode: str
    digest: str
    data: bytes


def apply_idea(git: Git, kind: str, idea: bytes, root_tree: str, *, merge: bool) -> str:
    """Apply an idea to the index; return how it was merged, empty if it applied directly.

    Raises Conflict if it does not apply.
    """
    try:
        _apply(git, kind, idea)
        return ""
    except Conflict as error:
        if not merge or kind not in MERGED_KINDS:
            raise
        reason = error
    _merge(git, kind, idea, root_tree, reason)
    return THREE_WAY


def _apply(git: Git, kind: str, idea: bytes) -> None:
    try:
        if kind == "patch":
            git.apply_cached(idea)
        elif kind == "blocks":
            _apply_blocks(git, idea.decode())
        else:
            body = json.loads(idea)
            _apply_values(git, ParameterIdea(body["file"], body["values"]))
    except (GitFailed, OSError, ValueError) as error:  # a folder in the way, bytes not text
        raise Conflict(str(error)) from None


def _apply_blocks(git: Git, text: str) -> None:
    """Replace each block's old text, which must occur in its file exactly once."""
    blocks = [(inside(block["file"].strip()), block) for block in BLOCK.finditer(text)]
    entries = read_entries(git, [name for name, _ in blocks])
    texts = {name: entry.data.decode() for name, entry in entries.items()}
    for name, block in blocks:
        now = texts.get(name, "")
        ends = "\r\n" if "\r\n" in now else "\n"
        old, new = (block[part].replace("\n", ends) for part in ("old", "new"))
        if not old and not now:
            texts[name] = new
        elif not old or now.count(old) != 1:
            raise Conflict(f"{name}: the text to replace is there {now.count(old)} times")
        else:
            texts[name] = now.replace(old, new)
    _write_entries(git, {name: text.encode() for name, text in texts.items()}, entries)


def _apply_values(git: Git, idea: ParameterIdea) -> None:
    name = inside(idea.file)
    entries = read_entries(git, [name])
    if name not in entries:
        raise Conflict(f"{idea.file} is not there")
    data = with_values(idea, entries[name].data)
    _write_entries(git, {name: data}, entries)


def inside(name: str) -> str:
    """Return a normalised path; raises Conflict if it leads outside the repository."""
    path = posixpath.normpath(name)
    if path.startswith(("../", "/")) or path in ("..", ".") or ".git" in path.split("/"):
        raise Conflict(f"{name} is outside the repository")
    return path


# -- the index ----------------------------------------------------------------------------------


def read_entries(git: Git, names: list[str]) -> dict[str, Entry]:
    """Return the named files that are in the index; raises Conflict for a link or a folder."""
    paths = sorted(set(names))
    out = git.run("--literal-pathspecs", "ls-files", "-s", "-z", "--", *paths)
    entries: dict[str, Entry] = {}
    for line in out.split(b"\0")[:-1]:
        about, _, raw = line.partition(b"\t")
        mode, digest, _ = about.decode().split()
        name = os.fsdecode(raw)
        if name not in paths:
            raise Conflict(f"{posixpath.dirname(name)} is a folder")
        if mode not in (PLAIN, PROGRAM):
            raise Conflict(f"{name} is no plain file")
        entries[name] = Entry(mode, digest, git.run("cat-file", "blob", digest))
    return entries


def _write_entries(git: Git, contents: dict[str, bytes], known: dict[str, Entry]) -> None:
    entries = []
    for name, data in sorted(contents.items()):
        digest = write_object(git.folder, "blob", data)
        mode = known[name].mode if name in known else PLAIN
        entries.append(f"{mode},{digest},{name}")
    _update(git, entries)


def _update(git: Git, entries: list[str]) -> None:
    """Add files to the index; git refuses a file in place of a folder, and the reverse."""
    git.run("update-index", "--add", *(w for e in entries for w in ("--cacheinfo", e)))


# -- three-way ----------------------------------------------------------------------------------


def _merge(git: Git, kind: str, idea: bytes, root_tree: str, reason: Conflict) -> None:
    """Merge the idea applied to the root into the index; raises Conflict if that fails too."""
    ours = git.word("write-tree")
    if ours == root_tree:
        raise reason
    place = Path(git.index).with_name("merge")
    aside = git.with_index(place)
    try:
        aside.run("read-tree", root_tree)
        _apply(aside, kind, idea)
        theirs = aside.word("write-tree")
        place.unlink()
        aside.run("read-tree", "-i", "-m", "--aggressive", root_tree, ours, theirs)
        _update(aside, [_merged(aside, name, stages, place) for name, stages in _unmerged(aside)])
        git.run("read-tree", aside.word("write-tree"))
    except (GitFailed, Conflict) as error:
        raise Conflict(f"{reason}; three-way: {error}") from None


def _unmerged(git: Git) -> Iterator[tuple[str, dict[str, tuple[str, str]]]]:
    """Yield every unmerged path with mode and digest of each stage."""
    paths: dict[str, dict[str, tuple[str, str]]] = {}
    for line in git.run("ls-files", "-u", "-z").split(b"\0")[:-1]:
        about, _, raw = line.partition(b"\t")
        mode, digest, stage = about.decode().split()
        paths.setdefault(os.fsdecode(raw), {})[stage] = (mode, digest)
    yield from sorted(paths.items())


def _merged(git: Git, name: str, stages: dict[str, tuple[str, str]], place: Path) -> str:
    """Merge one file and return its index entry."""
    if sorted(stages) != ["1", "2", "3"]:
        raise Conflict(f"{name} is added or removed on one side, changed on the other")
    modes = {mode for mode, _ in stages.values()}
    if len(modes) > 1 or modes.pop() not in (PLAIN, PROGRAM):
        raise Conflict(f"{name} is no plain file, or its mode differs")
    files = []
    for stage in ("2", "1", "3"):
        files.append(str(place.with_name(f"merge-{stage}")))
        Path(files[-1]).write_bytes(git.run("cat-file", "blob", stages[stage][1]))
    try:
        data = git.run("merge-file", "-p", "-q", *files)
    except GitFailed:
        raise Conflict(f"{name}: both sides change the same lines") from None
    return f"{stages['2'][0]},{write_object(git.folder, 'blob', data)},{name}"
