"""Git on a slot: deaf to every setting of the user and of the machine, always the same bytes.

Git sees no config, hook, filter or attribute but those in the files themselves.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

ROOT_REF = "refs/weft/root"
SETTINGS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null", "core.autocrlf=false", "core.symlinks=true",
    "core.fileMode=true", "core.untrackedCache=false", "core.sshCommand=false",
    "credential.helper=", "protocol.allow=never", "gc.auto=0", "submodule.recurse=false",
)  # fmt: skip
WORDS = ("git", *(word for setting in SETTINGS for word in ("-c", setting)))


class GitFailed(Exception):  # noqa: N818 - named by situation, as all errors here
    """Git refused; the message is what it printed."""


class Git:
    """Git on one repository, with a worktree and an index of its own if need be."""

    def __init__(
        self,
        folder: Path,
        work_tree: Path | None = None,
        more: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder = folder.absolute()
        self._env = {
            "PATH": os.environ.get("PATH", os.defpath),  # noqa: TID251 - to find git itself
            "LC_ALL": "C", "HOME": os.devnull, "GIT_DIR": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1", "GIT_ALLOW_PROTOCOL": "none",
        }  # fmt: skip
        self.work_tree = work_tree
        if work_tree is not None:
            self._env["GIT_WORK_TREE"] = str(work_tree)
        self._env |= more or {}

    def run(self, *words: str, data: bytes = b"") -> bytes:
        """Run one git command; raises GitFailed."""
        done = subprocess.run(
            [*WORDS, *words],
            input=data,
            env=self._env,
            cwd=self.work_tree,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            message = done.stderr.decode("utf-8", "replace").strip()
            raise GitFailed(f"git {words[0]}: {message[-500:] or done.returncode}")
        return done.stdout

    def word(self, *words: str, data: bytes = b"") -> str:
        """Run one git command and return the line it prints."""
        return self.run(*words, data=data).decode().strip()

    def apply_cached(self, diff: bytes) -> None:
        """Change the index as a patch says."""
        self.run("apply", "--cached", "--binary", "--whitespace=nowarn", "-", data=diff)


def difference(git: Git, before: str, after: str) -> bytes:
    """Return what leads from one tree to another, as a patch that holds everything."""
    return git.run(
        "diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff",
        "--no-textconv", "--no-color", before, after,
    )  # fmt: skip


def changed_paths(git: Git, before: str, after: str) -> list[str]:
    """Return the paths in which two trees differ, sorted."""
    names = git.run("diff-tree", "-r", "-z", "--no-renames", "--name-only", before, after)
    return sorted(n.decode("utf-8", "backslashreplace") for n in names.split(b"\0") if n)


def add_commit(git: Git, text: bytes) -> str:
    """Store a commit and return its name; its parent need not be there."""
    return git.word("hash-object", "-t", "commit", "-w", "--stdin", data=text)
