"""What stays of a tree run beside its record, for people: names of commits, files of rejects.

    RUN/repo.git   refs/weft/n<id> for nodes, refs/weft/e<id> for evals
    RUN/kept/e<id> the files of an eval that was not promoted, if asked for

All of it follows from the record and is made again whenever the summary is written.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from weft.inspect.report.view import RunView
from weft.model.values import Object
from weft.searches.tree.history import Eval
from weft.searches.tree.load import TreeRun
from weft.searches.tree.search import NAME
from weft.searches.tree.slot.git import Git, add_commit
from weft.searches.tree.slot.store import State, open_state

REJECTED, FAILED = "rejected", "failed"
"""What `--keep-…` may ask for."""


def name_commits(run: Path, tree_run: TreeRun) -> None:
    """Give the commits of nodes and evals names in the run's own repository."""
    git = Git(run / "repo.git")
    if not git.folder.is_dir():
        return
    root = RunView(run, NAME).read(Object(tree_run.inputs["root-commit"]))
    commit = add_commit(git, root)
    if b"\nparent " in root.partition(b"\n\n")[0]:
        (git.folder / "shallow").write_text(f"{commit}\n", "utf-8")
    named = {f"refs/weft/n{n.node_id}": n.commit for n in tree_run.history.nodes}
    named |= {
        f"refs/weft/e{e.eval_id}": e.candidate.commit for e in tree_run.history.evals if e.candidate
    }
    for lock in sorted((git.folder / "refs").rglob("*.lock")):
        lock.unlink(missing_ok=True)  # of a command that was killed while it did this
    there = _present(git, sorted(set(named.values())))
    lines = [f"update {ref} {name}\n" for ref, name in named.items() if name in there]
    git.run("update-ref", "--stdin", data="".join(lines).encode())


def _present(git: Git, commits: list[str]) -> set[str]:
    """Return those commits that are there; one made on another machine or imported is not."""
    request = "".join(f"{name}\n" for name in commits).encode()
    lines = git.run("cat-file", "--batch-check", data=request).decode().splitlines()
    return {line.split()[0] for line in lines if not line.endswith("missing")}


def keep_rejected(run: Path, tree_run: TreeRun) -> None:
    """Write the files of every eval that has some and was not promoted."""
    for item in tree_run.history.evals:
        place = run / "kept" / item.name
        rejected = item.candidate and item.candidate.diff and item.node_id is None
        if rejected and not place.exists():
            _write_files(run, tree_run, item, place)


def _write_files(run: Path, tree_run: TreeRun, item: Eval, place: Path) -> None:
    view = RunView(run, NAME)
    assert item.candidate is not None
    assert item.candidate.diff is not None
    diffs = [*item.parent.steps, item.candidate.diff]
    state = State(
        item.candidate.tree,
        lambda: view.read(Object(tree_run.inputs["root"])),
        lambda: [view.read(diff) for diff in diffs],
    )
    aside = place.with_name(f"{place.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    open_state(run / "repo.git", state, aside, files=True)
    (aside / "worktree").rename(place)
    shutil.rmtree(aside)
