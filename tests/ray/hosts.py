"""Machines to log in to: an sshd per host on a loopback port, each with its own home."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.waiting import HANG_S

SRC = Path(__file__).resolve().parents[2] / "src"
SSHD = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {keys}
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
SetEnv {env}
"""
CLIENT = """
Host {name}
  HostName 127.0.0.1
  Port {port}
  HostKeyAlias {name}
  IdentityFile {key}
  IdentitiesOnly yes
"""


@dataclass
class Hosts:
    """A folder with keys, a client config, and a home for every host."""

    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def config(self) -> Path:
        return self.folder / "config"

    def home(self, name: str) -> Path:
        return self.folder / name

    def start(self, name: str, **env: str) -> None:
        """Start a host; `env` is added to the environment of its sessions."""
        home = self.home(name)
        (home / "sshd").mkdir(parents=True)
        _new_key(home / "sshd" / "host")
        self.name(name, next(port for _ in range(5) if (port := self._listening(home, env))))

    def _listening(self, home: Path, env: Mapping[str, str]) -> int | None:
        """Start a host's sshd and return its port; None if the port was taken meanwhile."""
        port = _free_port()
        variables = {"HOME": str(home), "PYTHONPATH": str(SRC), **env}
        text = SSHD.format(
            port=port,
            folder=home / "sshd",
            keys=self.folder / "key.pub",
            env=" ".join(f'{name}="{value}"' for name, value in variables.items()),
        )
        (home / "sshd" / "config").write_text(text)
        argv = [shutil.which("sshd", path=_system_path()), "-D", "-e", "-f"]
        with (home / "sshd" / "log").open("wb") as log:
            process = subprocess.Popen([*argv, str(home / "sshd" / "config")], stderr=log)
        self.processes.append(process)
        return port if _answers(process, port) else None

    def name(self, name: str, port: int, key: str = "key") -> None:
        """Add a host to the client config."""
        with self.config.open("a") as file:
            file.write(CLIENT.format(name=name, port=port, key=self.folder / key))


def _system_path() -> str:
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(process: subprocess.Popen[bytes], port: int) -> bool:
    """Whether a process answers at its port; waits until it does or ends."""
    end_s = time.monotonic() + HANG_S
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process.poll() is None
        except OSError:
            assert time.monotonic() < end_s, "sshd does not answer"
            time.sleep(0.02)
    return False


def _new_key(path: Path) -> None:
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)]
    subprocess.run(argv, check=True)


@contextmanager
def hosts_in(folder: Path) -> Iterator[Hosts]:
    """Hosts that are stopped at the end of the block."""
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    _new_key(folder / "key")
    _new_key(folder / "other")
    hosts = Hosts(folder)
    try:
        yield hosts
    finally:
        for process in hosts.processes:
            process.kill()
            process.wait()


def entry(name: str, gpus: int = 0, **fields: object) -> Mapping[str, object]:
    """A node in a classic file."""
    usual = {"python_env": sys.executable, "cpu_count": 2}
    return {"hostname": name, "gpu_count": gpus, **usual, **fields}
