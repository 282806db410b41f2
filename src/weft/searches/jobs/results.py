"""The hooks around a job on the slot: move an existing file aside before, store the result after.

The result is the last JSON object or array on stdout, or the expected file. Everything is read in
pieces, so a result may be larger than memory. A missing or malformed result fails the job; an
earlier line never replaces it.
"""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path
from typing import Any

from weft import hook, note, put_file
from weft.model.results import TaskError
from weft.searches.jobs.jsonresult import BOM, ByteRange, Malformed, check_json, last_json
from weft.worker.command import CommandRun, expand
from weft.worker.ending import Ending
from weft.worker.preflight import JobPlace
from weft.worker.space import NO_ROOM

NODE_TROUBLE = (*NO_ROOM, errno.EIO, errno.EMFILE, errno.ENFILE)
"""Errors that are not the job's fault: the job runs again."""


# -- before -------------------------------------------------------------------------------------


@hook(name="jobs.prepare", literal=True)
def prepare(run: CommandRun) -> dict[str, str]:
    """Check script and folders, and move an existing expected file aside."""
    note(slot=run.slot)
    _check_places(run)
    _check_script(run)
    target = _target(run)
    if target is not None and os.path.lexists(target):
        aside = free_name(target)
        try:
            target.rename(aside)
        except OSError as error:
            why = f"{target} is there already and cannot be moved aside: {error.strerror}"
            raise Ending(TaskError("expected-file-in-the-way", "prepare"), detail=why) from None
        run.moved[target] = aside
        note(moved_aside=aside.name)
    return {}


def _check_places(run: CommandRun) -> None:
    """Refuse paths outside the node's folders before anything is changed."""
    script = expand(run.args["script"], run.names())
    if why := _place(run).problem(script, run.cwd, _target(run)):
        node = run.slot.rpartition("/")[0]
        raise Ending(None, lost=f"node {node}: {why}", cause="machine")


def _place(run: CommandRun) -> JobPlace:
    return JobPlace(str(run.work_dir), run.allow_paths, (str(run.out_dir), str(run.tmp_dir)))


def free_name(path: Path) -> Path:
    """Return the first unused name among NAME.before-1, NAME.before-2 and so on."""
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.before-{number}")):
        number += 1
    return aside


def _check_script(run: CommandRun) -> None:
    recorded = run.args["script_sha256"]
    if not recorded:
        return
    path = Path(expand(run.args["script"], run.names()))
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unlike(run, f"script {path}: {error.strerror}") from None
    if digest != recorded:
        why = f"script {path} has changed since this run started"
        raise _unlike(run, why, f"SHA-256 {digest}, not {recorded}")


def _unlike(run: CommandRun, why: str, more: str = "") -> Ending:
    """Return a loss for a node without the run's script, since another node may have it."""
    node = run.slot.rpartition("/")[0]
    return Ending(
        None, lost=f"node {node}: {why}", detail=f"{why}\n{more}".rstrip(), cause="machine"
    )


def _target(run: CommandRun) -> Path | None:
    target = run.args["target"]
    return Path(expand(target, run.names())) if target else None


# -- after --------------------------------------------------------------------------------------


@hook(name="jobs.collect")
def collect(run: CommandRun) -> dict[str, Any]:
    """Find, check and store the job's result; return its source, size and object."""
    try:
        source, part = _find(run)
        size = part.end - part.start
        return {"source": source, "bytes": size, "object": put_file(part.path, part.start, size)}
    except Malformed as error:
        why = str(error)
    except OSError as error:
        why = f"the result cannot be read: {error.strerror or error}"
        if error.errno in NODE_TROUBLE:
            full = error.errno in NO_ROOM
            reason = f"short of space: {why}" if full else "result-not-stored"
            raise Ending(
                None, lost=reason, detail=why, cause="resource" if full else "worker"
            ) from None
    detail = f"{why}\n\n{run.tail()}".rstrip()
    raise Ending(TaskError("result-invalid", "collect"), detail=detail)


def _find(run: CommandRun) -> tuple[str, ByteRange]:
    channel = run.args["result"]
    if channel in ("stdout", "auto"):
        document = last_json(run.stdout, scalars=run.args["scalars"])
        if document is not None:
            return "stdout", document
        if channel == "stdout":
            kinds = "JSON" if run.args["scalars"] else "a JSON object or array"
            raise Malformed(f"no line of stdout is {kinds}, nor do lines together make one")
    return "file", _expected(run)


def _expected(run: CommandRun) -> ByteRange:
    target = _target(run)
    assert target is not None
    name = f"the expected file {target.name}"
    if not target.is_file():
        raise Malformed(
            f"{name} {'is not a regular file' if target.exists() else 'was not written'}"
        )
    if _place(run).is_outside(target, run.cwd):
        raise Malformed(f"{name} is a link that leads out of the job's folder")
    part = ByteRange(target, 0, target.stat().st_size)
    if run.args["format"] == "json":
        with target.open("rb") as file:
            start = len(BOM) if file.read(len(BOM)) == BOM else 0
        check_json(part.path, start, part.end, name)
    return part
