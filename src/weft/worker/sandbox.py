"""Confines a command with bubblewrap: a private view of the files, no network, no neighbours.

    / read-only ─► home, /tmp, /run and the run folder hidden ─► what it needs shown again, its
    own folders writable ─► new process, network and IPC namespaces, no capabilities

Whether a machine supports this is tested by doing it, once per run and node.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROGRAM = "bwrap"
HIDDEN = ("/tmp", "/var/tmp", "/run")  # noqa: S108 - hidden, not used
"""Folders that, like the home folder, are replaced by empty private ones in memory."""
RESOLVERS = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager")
"""Possible targets of the link /etc/resolv.conf; shown to commands with network."""
NAMESPACES = ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
ALWAYS = ("--new-session", "--die-with-parent", "--cap-drop", "ALL")
PROBE_TIMEOUT_S = 60.0
_CHECK = """
: > "$1/inside" || exit 3
(: > "$2/outside") 2>/dev/null && exit 4
[ $$ -lt 20 ] || exit 5
echo held
"""
_FAILED_CHECKS = {
    3: "a folder of its own is not writable",
    4: "a folder outside is writable",
    5: "other processes are visible",
}


@dataclass(frozen=True, slots=True)
class Isolation:
    """The program that confines commands on this machine, or why there is none."""

    program: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SandboxView:
    """One command's view of the machine's files; whatever is not listed is read-only."""

    hidden: Sequence[str]
    readable: Sequence[str]
    """Shown again if they are below something hidden."""
    writable: Sequence[str]
    cwd: str
    network: bool = False
    home: str = field(default_factory=lambda: os.path.expanduser("~"))  # noqa: PTH111 - "~" stays

    def arguments(self, program: str) -> list[str]:
        """Return the arguments to put before a command's own."""
        network = [] if self.network else ["--unshare-net"]
        return [
            program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *self._mounts(),
            *NAMESPACES, *network, *ALWAYS, "--chdir", self.cwd,
        ]  # fmt: skip

    def _mounts(self) -> list[str]:
        """Return mounts over the read-only view, outer folders first, so that inner ones win."""
        hidden = [path for path in map(os.path.realpath, self._hidden()) if Path(path).is_dir()]
        hidden = [path for path in dict.fromkeys(hidden) if path != "/"]
        mounts = [(path, 0, "--tmpfs", "") for path in hidden]
        readable_paths = [*self.readable, *(RESOLVERS if self.network else ())]
        for rank, option, paths in ((1, "--ro-bind", readable_paths), (2, "--bind", self.writable)):
            for path in paths:
                mounts += [
                    (target, rank, option, os.path.realpath(path))
                    for target in _targets(path, hidden)
                    if rank == 2 or (_is_below(target, hidden) and target not in hidden)
                ]
        return [word for mount in _ordered(mounts) for word in mount]

    def _hidden(self) -> list[str]:
        return [*HIDDEN, *([self.home] if self.home.startswith("/") else []), *self.hidden]


def _targets(path: str, hidden: Sequence[str]) -> list[str]:
    """Return where to show a path: its real path, and as written if a hidden link leads there."""
    real, written = os.path.realpath(path), os.path.abspath(path)  # noqa: PTH100 - links stay
    if not os.path.exists(real):  # noqa: PTH110 - a plain string
        return []
    return [real] if written == real or not _is_below(written, hidden) else [real, written]


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _ordered(mounts: Sequence[tuple[str, int, str, str]]) -> list[list[str]]:
    """Sort mounts by depth, then by rank and path; keep one per path and rank."""
    unique = {(path, rank): (option, source) for path, rank, option, source in mounts}
    places = sorted(unique, key=lambda place: (place[0].count("/"), place[1], place[0]))
    words = []
    for place in places:
        option, source = unique[place]
        words.append([option, *([source] if source else []), place[0]])
    return words


def interpreter_folders(*interpreters: str) -> list[str]:
    """Return the folders that interpreters need, and those of Weft itself."""
    folders = [sys.prefix, sys.base_prefix, str(Path(__file__).parents[1])]
    for interpreter in interpreters:
        real = os.path.realpath(interpreter)
        folders += [os.path.dirname(os.path.dirname(path)) for path in (interpreter, real)]  # noqa: PTH120
    return list(dict.fromkeys(folder for folder in folders if folder.startswith("/")))


def program_folders(search_path: str) -> list[str]:
    """Return the folders of a PATH, or their parents if programs there usually need them.

    `~/.pyenv/shims` needs `~/.pyenv`; the whole home folder and `~/.local`, which is full of other
    things, are not shown for the programs in them.
    """
    folders = []
    for folder in filter(None, search_path.split(":")):
        prefix, name = os.path.split(folder.rstrip("/"))
        is_own = name in ("bin", "sbin", "shims") and os.path.basename(prefix) != ".local"  # noqa: PTH119
        at_home = prefix in ("/", os.path.expanduser("~"))  # noqa: PTH111 - a string
        folders.append(prefix if is_own and not at_home else folder)
    return list(dict.fromkeys(folders))


def find_isolation() -> Isolation:
    """Confine a small command as all others will be, and check that the sandbox holds."""
    program = shutil.which(PROGRAM)
    if program is None:
        return Isolation("", f"{PROGRAM} is not installed (Debian: apt-get install bubblewrap)")
    with tempfile.TemporaryDirectory(prefix="weft-sandbox-") as place:
        folder = Path(os.path.realpath(place))
        (folder / "own").mkdir()
        view = SandboxView([], [place], [str(folder / "own")], str(folder / "own"))
        problem = _problem([*view.arguments(program), "--", "/bin/sh", "-c", _CHECK, "sh",
                            str(folder / "own"), str(folder)])  # fmt: skip
    return Isolation("", problem) if problem else Isolation(program)


def _problem(words: Sequence[str]) -> str:
    """Run the check; return why it failed, empty if it succeeded."""
    try:
        completed = subprocess.run(
            words, capture_output=True, check=False, stdin=subprocess.DEVNULL,
            timeout=PROBE_TIMEOUT_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{PROGRAM} cannot be started: {error}"[:300]
    if completed.returncode == 0 and completed.stdout == b"held\n":
        return ""
    lines = completed.stderr.decode("utf-8", "replace").strip().splitlines()
    reason = _FAILED_CHECKS.get(completed.returncode) or (
        lines[-1] if lines else "no reason is given"
    )
    return f"{PROGRAM} does not work here: {reason}"[:300]
