"""One stage of an eval: make its files from the recorded state, change or judge them.

    spec.json ─► private repository ─► worktree ─► idea or command ─► candidate.json + .diff

Run in a bare interpreter: standard library and its neighbours only. Everything lies in the
attempt's folder, so nothing is shared with another eval and nothing outlives it. Git sees no
config, hook, filter or attribute but those in the files. Commits have a fixed author and date.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .values import Conflict, apply_values, inside, mutations

BROKEN = 127
WHO = "weft tree <tree@weft.invalid> 946684800 +0000"
BLOCK = re.compile(
    r"^FILE: (?P<file>[^\n]+)\n<<<<<<< SEARCH\n(?P<old>.*?)^=======\n(?P<new>.*?)^>>>>>>> REPLACE$",
    re.DOTALL | re.MULTILINE,
)
SETTINGS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null", "core.autocrlf=false", "core.symlinks=true",
    "core.fileMode=true", "core.untrackedCache=false", "core.sshCommand=false",
    "credential.helper=", "protocol.allow=never", "gc.auto=0", "submodule.recurse=false",
)  # fmt: skip


class GitFailed(Exception):  # noqa: N818 - named by situation, as all errors here
    """Git refused; the message is what it said."""


class Git:
    """Git on one repository, deaf to every setting of the user and of the machine."""

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
        self._work_tree = work_tree
        if work_tree is not None:
            self._env["GIT_WORK_TREE"] = str(work_tree)
        self._env |= more or {}

    def run(self, *words: str, data: bytes = b"") -> bytes:
        """Run one git command; raises GitFailed."""
        argv = ["git", *(w for setting in SETTINGS for w in ("-c", setting)), *words]
        done = subprocess.run(
            argv, input=data, env=self._env, cwd=self._work_tree, capture_output=True, check=False
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise GitFailed(f"git {words[0]}: {said[-500:] or done.returncode}")
        return done.stdout

    def word(self, *words: str, data: bytes = b"") -> str:
        """Run one git command and return the line it prints."""
        return self.run(*words, data=data).decode().strip()


def restore(git: Git, stream: bytes, diffs: Sequence[bytes]) -> str:
    """Fill an empty repository and its index with the state after `diffs`; return its tree."""
    git.run("init", "-q", "--template=")
    git.run("fast-import", "--quiet", "--force", data=stream)
    git.run("read-tree", "refs/weft/root")
    for diff in diffs:
        git.run("apply", "--cached", "--binary", "--whitespace=nowarn", data=diff)
    return git.word("write-tree")


def difference(git: Git, before: str, after: str) -> bytes:
    """Return what leads from one tree to another, as a patch that holds everything."""
    return git.run(
        "diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff",
        "--no-textconv", "--no-color", before, after,
    )  # fmt: skip


def commit_text(tree: str, parent: str, message: str) -> bytes:
    """Return the bytes of a commit that anyone would make from the same contents."""
    head = f"tree {tree}\nparent {parent}\nauthor {WHO}\ncommitter {WHO}\n"
    return f"{head}\n{message.rstrip()}\n".encode()


def commit_id(text: bytes) -> str:
    """Return the name git gives to a commit with these bytes."""
    return hashlib.sha1(b"commit %d\0" % len(text) + text, usedforsecurity=False).hexdigest()


# -- ideas --------------------------------------------------------------------------------------


def apply_idea(git: Git, kind: str, idea: bytes, work: Path) -> None:
    """Change the worktree as an idea says; raises Conflict when it does not fit."""
    if kind == "patch":
        try:
            git.run("apply", "--whitespace=nowarn", "-", data=idea)
        except GitFailed as error:
            raise Conflict(str(error)) from None
    elif kind == "blocks":
        apply_blocks(idea.decode(), work)
    else:
        apply_values(json.loads(idea), work)


def apply_blocks(text: str, work: Path) -> None:
    """Replace each block's old text, which must stand in its file exactly once."""
    for block in BLOCK.finditer(text):
        path = inside(work, block["file"].strip())
        old, new = block["old"], block["new"]
        now = path.read_text("utf-8") if path.is_file() else ""
        if not old and not now:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(new, "utf-8")
        elif not old or now.count(old) != 1:
            raise Conflict(f"{block['file']}: the text to replace is there {now.count(old)} times")
        else:
            path.write_text(now.replace(old, new), "utf-8")


# -- a stage ------------------------------------------------------------------------------------


def main(spec_file: str) -> int:
    """Carry one stage out; the exit code is that of the user's command."""
    spec = json.loads(Path(spec_file).read_text("utf-8"))
    folder, work = Path(spec_file).parent, Path(spec["worktree"])
    work.mkdir()
    git = Git(folder / "repo.git", work)
    diffs = [Path(name).read_bytes() for name in spec["diffs"]]
    tree = restore(git, Path(spec["root"]).read_bytes(), diffs)
    assert tree == spec["tree"], f"restored {tree}, recorded {spec['tree']}"
    git.run("checkout-index", "-a", "-f")
    if spec["stage"] == "propose":
        return _propose(spec, work)
    if spec["stage"] != "implement":
        return _judge(spec, work)
    return _implement(spec, git, tree, work)


def _implement(spec: Mapping[str, Any], git: Git, tree: str, work: Path) -> int:
    try:
        if spec["argv"]:
            code = _command(spec, work)
            if code:
                return code
        else:
            apply_idea(git, spec["idea_kind"], Path(spec["idea_file"]).read_bytes(), work)
    except Conflict as error:
        return _refuse(spec, "apply-conflict", str(error))
    git.run("add", "-A", ".")
    after = git.word("write-tree")
    if after == tree:
        return _refuse(spec, "no-change", "the idea changed nothing")
    diff = difference(git, tree, after)
    names = git.run("diff-tree", "-r", "-z", "--no-renames", "--name-only", tree, after)
    Path(spec["candidate"]).with_suffix(".diff").write_bytes(diff)
    told = {
        "tree": after,
        "commit": commit_id(commit_text(after, spec["parent_commit"], spec["message"])),
        "changed": sorted(n.decode("utf-8", "backslashreplace") for n in names.split(b"\0") if n),
    }
    Path(spec["candidate"]).write_text(json.dumps(told), "utf-8")
    return 0


def _propose(spec: Mapping[str, Any], work: Path) -> int:
    """Write idea files about the state of a node: mutations of values, then the command's own."""
    folder = Path(spec["ideas_dir"])
    try:
        for table in spec["mutations"]:
            for idea in mutations(table, work, f"{spec['seed']}/{table['file']}"):
                name = ",".join(f"{key}={json.dumps(v)}" for key, v in idea["values"].items())
                (folder / f"{name[:200]}.json").write_text(json.dumps(idea), "utf-8")
    except Conflict as error:
        return _refuse(spec, "apply-conflict", str(error))
    Path(spec["candidate"]).write_text("{}", "utf-8")
    return _command(spec, work) if spec["argv"] else 0


def _judge(spec: Mapping[str, Any], work: Path) -> int:
    """Run a command that looks at the candidate; protected files must be the same after it."""
    before = seal_of(work, spec["protected"])
    code = _command(spec, work)
    if code == 0 and seal_of(work, spec["protected"]) != before:
        return _refuse(spec, "tampered", "a protected file changed while the command ran")
    Path(spec["candidate"]).write_text(json.dumps({"seal": before}), "utf-8")
    return code


def seal_of(work: Path, patterns: Sequence[str]) -> str:
    """Return one hash over the names and bytes of all protected files."""
    seal = hashlib.sha256()
    for path in sorted(p for p in work.rglob("*") if p.is_file() or p.is_symlink()):
        name = path.relative_to(work).as_posix()
        if is_protected(name, patterns):
            data = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
            seal.update(f"{name}\0{hashlib.sha256(data).hexdigest()}\n".encode())
    return seal.hexdigest()


def is_protected(name: str, patterns: Sequence[str]) -> bool:
    """Whether a path, or a folder it lies in, fits a pattern."""
    return any(fnmatch.fnmatchcase(name, p) or name.startswith(f"{p}/") for p in patterns)


def _refuse(spec: Mapping[str, Any], kind: str, why: str) -> int:
    Path(spec["candidate"]).write_text(json.dumps({"refused": kind, "why": why}), "utf-8")
    print(f"{kind}: {why}", file=sys.stderr)
    return 0


def _command(spec: Mapping[str, Any], work: Path) -> int:
    """Run the user's command; end the way it ended."""
    environment = dict(os.environ)  # noqa: TID251 - as the slot made it
    environment |= spec["env"] | {"WEFT_DEADLINE": str(int(time.time() + spec["timeout_s"]))}  # noqa: TID251 - for the command only
    try:
        code = subprocess.run(spec["argv"], cwd=work, env=environment, check=False).returncode
    except FileNotFoundError as error:
        print(f"{spec['argv'][0]}: {error.strerror}", file=sys.stderr)
        return BROKEN
    except OSError as error:
        print(f"{spec['argv'][0]}: {error.strerror}", file=sys.stderr)
        return BROKEN - 1
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(-code, signal.SIG_DFL) if -code not in (9, 19) else None
        os.kill(os.getpid(), -code)
    return code
