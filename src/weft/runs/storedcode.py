"""The notebook code that a run stores in `code/`, and whether it may be executed.

    cells ─► module text ─ store_code ─► RUN/code/<module>.py ─ load_stored ─► resume, replay

A module's name contains the hash of its text, so altered code is detected. Whoever can write the
whole folder can also rename it; so the user's state folder holds a digest of each run's code, and
unknown code is executed only after `--accept code`.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from weft.cells import is_stored_name
from weft.cells.stored import code_digest, is_module_name, load, module_name, names_in
from weft.errors import CodeChanged, ObjectDamaged
from weft.model.tasks import SearchCall
from weft.runs.history import lives_at
from weft.storage.disk import Disk
from weft.storage.folder import RunFile, RunFolder
from weft.storage.heads import CodeNote, HeadsList
from weft.storage.plainfile import is_plain_file, read_plain

CACHE = "__pycache__"
COPY = "this is a copy"
NESTED = 2
"""Components of `code/<module>.py` inside a run folder."""


def store_code(folder: RunFolder, code: Mapping[str, str], disk: Disk) -> None:
    """Write exactly these modules to the run's `code` folder."""
    check_code_folder(folder)
    disk.make_folder(folder.code)
    for name, text in code.items():
        path = folder.code / f"{name}.py"
        if not path.is_file() or path.read_bytes() != text.encode():
            disk.replace(path, text.encode(), mode=0o444)
    drop_compiled(folder)
    for path in sorted(folder.code.iterdir()):
        if path.suffix != ".py" or path.stem not in code:
            path.unlink()


def drop_compiled(folder: RunFolder) -> None:
    """Remove what workers compiled: nothing checks it, and Python would execute it."""
    shutil.rmtree(folder.code / CACHE, ignore_errors=True)


def check_code_folder(folder: RunFolder) -> None:
    """Refuse a `code` folder with files that are not ours: workers import from it."""
    entries = sorted(folder.code.iterdir()) if folder.code.is_dir() else []
    for path in entries:
        is_ours = re.fullmatch(r"weft_cell_[0-9a-f]{16}\.py(\.tmp)?", path.name)
        if path.name != CACHE and not is_ours:
            raise ObjectDamaged(
                f"{path} is not code of this run", hint="remove it if you know where it comes from"
            )


def load_stored(
    folder: RunFolder,
    import_path: str,
    run_id: str,
    accept: tuple[str, ...],
    heads: HeadsList,
    host: str,
) -> Callable[..., SearchCall] | None:
    """Execute the code that a run stores and return its search; None if it stores none.

    Raises `ObjectDamaged` for altered code, and `CodeChanged` for code that may be someone
    else's, unless that is accepted.
    """
    module, _, name = import_path.partition(":")
    if not is_module_name(module):
        return None
    code = read_code(folder, module)
    reason = why_untrusted(folder, run_id, code, heads, host)
    if reason and "code" not in accept:
        also = "; a resume takes --accept copy too" if reason.startswith(COPY) else ""
        files = ", ".join(f"code/{name}.py" for name in code)
        raise CodeChanged(
            f"{folder.path} would execute the notebook code stored in it ({files}): {reason}",
            hint=f"read it, then continue with --accept code{also}",
        )
    search: Callable[..., SearchCall] | None = getattr(load(code[module], code), name, None)
    if search is None or not getattr(search, "is_search", False):
        raise ObjectDamaged(f"{folder.code / module}.py has no search {name}")
    return search


def check_stored(folder: RunFolder, run_file: RunFile) -> None:
    """Raise `ObjectDamaged` unless the code that the run stores is intact; executes nothing."""
    path = run_file.imports.get(run_file.search, run_file.search)
    module = path.partition(":")[0]
    if is_module_name(module):
        read_code(folder, module)


def read_code(folder: RunFolder, module: str) -> dict[str, str]:
    """Return the text of a stored module and of those that it imports, checked, by name."""
    code: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = folder.code / f"{name}.py"
        if name in code or (name != module and not is_plain_file(path, NESTED)):
            continue  # a name in a comment
        code[name] = _checked_text(path, name)
        waiting += names_in(code[name])
    return dict(sorted(code.items()))


def _checked_text(path: Path, name: str) -> str:
    try:
        text = read_plain(path, NESTED).decode()
    except (FileNotFoundError, NotADirectoryError):
        raise ObjectDamaged(f"{path} is missing: the code of this run", hint="restore it") from None
    except UnicodeDecodeError:
        text = ""
    if module_name(text) != name:
        raise ObjectDamaged(
            f"{path} was altered: its text does not match its name", hint="restore it"
        )
    return text


def why_untrusted(
    folder: RunFolder, run_id: str, code: Mapping[str, str], heads: HeadsList, host: str
) -> str:
    """Return why stored code may be someone else's; empty if this user ran it in this folder."""
    if not code:
        return ""
    note = heads.code(run_id)
    if note is None:
        return "this run was not begun here"
    if note.digest != code_digest(code):
        return "it has changed since this run started"
    if note.home.is_elsewhere(folder.home(host)) and lives_at(note.home, run_id):
        return f"{COPY}, the original is in {note.home.path}"
    return ""


def keep_code(
    folder: RunFolder,
    run_id: str,
    code: Mapping[str, str],
    heads: HeadsList,
    host: str,
    disk: Disk,
) -> None:
    """Store a run's code, and note outside the run that this user ran or accepted it."""
    if not code:
        return
    store_code(folder, code, disk)
    note = CodeNote(code_digest(code), folder.home(host))
    if heads.code(run_id) != note:
        heads.note_code(run_id, note)


def replaced_code(sources: Mapping[str, str], code: Mapping[str, str], accepted: bool) -> list[str]:
    """Return the recorded cell modules that `code` no longer has; refused unless accepted.

    A search that declares its name is still the same search after its cells are edited.
    """
    replaced = [name for name in sorted(sources) if is_stored_name(name) and name not in code]
    if replaced and not accepted:
        raise CodeChanged(
            "the cells, or values that they use, have changed since this run started",
            hint="restore them, start a new --out, or continue with --accept code"
            ' (in Python: accept=["code"])',
        )
    return replaced
