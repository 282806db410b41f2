"""Runs programs on nodes through the system's `ssh`: never a password, never an unknown host.

Host keys are looked up in ~/.weft/known_hosts and in the user's own file; an unknown one is
refused or, with `accept_new`, stored in the first. Everything else follows the user's ssh config.
On nodes that are this machine, programs run without ssh.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.cluster.clusters import our_folder
from weft.cluster.host import names_of_here
from weft.cluster.nodesfile import NodeEntry
from weft.errors import NodeUnreachable

CONNECT_S = 10
PATIENCE_S = 180.0
NO_CONNECTION = 255
NOT_FOUND = (126, 127)
SSH_PROBLEMS = (
    ("Permission denied", "its ssh refuses our key", "ssh-copy-id {host}"),
    ("Too many authentication failures", "its ssh refuses our keys", "name one in ~/.ssh/config"),
    ("REMOTE HOST IDENTIFICATION HAS CHANGED", "its host key has changed", "ssh-keygen -R {host}"),
    ("Host key verification failed", "its host key is not known", "--accept-new-keys, or ssh once"),
    ("Could not resolve hostname", "there is no such host", "fix its hostname"),
    ("Connection refused", "nothing answers at its ssh port", "start sshd there"),
    ("timed out", "it does not answer", "is it on, and in reach?"),
    ("No route to host", "it cannot be reached", "is it on, and in reach?"),
    ("Network is unreachable", "it cannot be reached", "is it on, and in reach?"),
)
"""What ssh prints, what it means, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Shell:
    """How nodes are reached."""

    config: Path | None = None
    accept_new: bool = False

    def ask(self, entry: NodeEntry, arguments: str, stdin: str, mark: str) -> Any:
        """Run the node's Python with `arguments` and `stdin`; return its JSON answer after `mark`.

        Raises NodeUnreachable if it cannot be reached, has no such Python or gives no answer.
        """
        here = entry.hostname in names_of_here()
        argv = _local(entry, arguments) if here else self._argv(entry, arguments)
        try:
            process = subprocess.run(
                argv, input=stdin, capture_output=True, text=True, timeout=PATIENCE_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise _trouble(entry, f"no answer for {PATIENCE_S:.0f} s", "") from None
        except OSError as error:
            raise _trouble(entry, f"{argv[0]}: {error.strerror}", "install ssh") from None
        answers = [line for line in process.stdout.splitlines() if line.startswith(mark)]
        if not answers:
            raise _refusal(entry, process.returncode, process.stderr)
        return json.loads(answers[-1].removeprefix(mark))

    def _argv(self, entry: NodeEntry, arguments: str) -> list[str]:
        strict = "accept-new" if self.accept_new else "yes"
        host_files = f"{our_folder(make=self.accept_new)}/known_hosts ~/.ssh/known_hosts"
        options = ["BatchMode=yes", f"ConnectTimeout={CONNECT_S}", "ServerAliveInterval=15"]
        options += [f"StrictHostKeyChecking={strict}", f"UserKnownHostsFile={host_files}"]
        argv = ["ssh", *(["-F", str(self.config)] if self.config else [])]
        argv += [word for option in options for word in ("-o", option)]
        argv += ["-l", entry.username] if entry.username else []
        return [*argv, "--", entry.hostname, f"exec sh -c {shlex.quote(_script(entry, arguments))}"]


def _script(entry: NodeEntry, arguments: str) -> str:
    """Return a shell line that finds the node's interpreter as a run would, and executes it."""
    if not entry.python_env:
        return f"exec python3 {arguments}"
    python = entry.python_env
    if not python.startswith(("/", "~")):
        python = f"{entry.script_path or '~'}/{python}"
    python = python if python.startswith(("/", "~")) else f"~/{python}"
    bare = "/" not in entry.python_env and not entry.python_env.startswith("~")
    lookup = f'[ -e "$p" ] || p={shlex.quote(entry.python_env)}; ' if bare else ""
    home = '"$HOME"/' if python.startswith("~/") else ""
    path = home + shlex.quote(python.removeprefix("~/") if home else python)
    return (
        f'p={path}; {lookup}case "$p" in */activate*) p="${{p%/*}}/python";; esac; '
        f'if [ -d "$p" ]; then p="$p/bin/python"; fi; exec "$p" {arguments}'
    )


def _local(entry: NodeEntry, arguments: str) -> list[str]:
    if entry.python_env:
        return ["sh", "-c", _script(entry, arguments)]
    return [sys.executable, *shlex.split(arguments)]


def _refusal(entry: NodeEntry, code: int, stderr: str) -> NodeUnreachable:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    last = lines[-1][:300] if lines else f"exit {code}"
    if code == NO_CONNECTION:
        for sign, meaning, advice in SSH_PROBLEMS:
            if sign in stderr:
                return _trouble(entry, meaning, advice.format(host=entry.hostname))
        return _trouble(entry, last, f"ssh {entry.hostname}")
    if code in NOT_FOUND:
        python = entry.python_env or "python3"
        return _trouble(entry, f"it has no Python at {python}", "fix python_env in the node file")
    return _trouble(entry, last, "weft nodes check FILE")


def _trouble(entry: NodeEntry, problem: str, hint: str) -> NodeUnreachable:
    return NodeUnreachable(f"node {entry.hostname}: {problem}", hint=hint)
