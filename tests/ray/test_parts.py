"""The parts of the Ray backend that need no cluster."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import COMMAND, Told
from tests.support.tools import require_root
from weft.backends.orphans import TOP_US, Marks
from weft.backends.privatefolders import private_folder
from weft.backends.raynode import (
    FOLDER_VARIABLE,
    NodeSpec,
    SlotActor,
    close_node,
    open_node,
    weft_digest,
)
from weft.cluster import agent as nodeagent
from weft.cluster import clusters as rayclusters
from weft.cluster import probe as nodeprobe
from weft.cluster.agent import LONGEST_FOLDER, MARK_FILE, Order, node_marks, start, stop
from weft.cluster.clusters import ClusterFile, address_for, cluster_path, our_folder, token_for
from weft.cluster.nodesfile import NodeEntry
from weft.cluster.ssh import _refusal, _script
from weft.errors import FileInvalid, WorldError
from weft.model.slots import Slot
from weft.runs.codepacks import CodePacks


def test_marks_of_nodes_are_above_those_of_all_runs() -> None:
    """A worker can thus be given its run's mark without privilege."""
    [[mark]] = node_marks(Path("/somewhere"))
    assert TOP_US < mark < 2**63
    assert Marks.of("any").all.stop <= TOP_US


INSIDE_A_RUN = """
import resource, sys
from pathlib import Path
from weft.backends.orphans import Marks
from weft.cluster import agent

top = Marks.of("a run").all[7]
resource.setrlimit(resource.RLIMIT_RTTIME, (top, top))
folder, runs = Path(sys.argv[1]), [Marks.of(name).all[-1] for name in "abcdefgh"]
agent._put_mark(folder)
assert resource.getrlimit(resource.RLIMIT_RTTIME)[1] > max(runs)
print("found" if any(True for _ in agent.carriers(agent.node_marks(folder))) else "not found")
"""


def test_processes_of_a_node_that_was_started_inside_a_run_are_found(tmp_path: Path) -> None:
    """Without the privilege to raise a limit; `weft nodes down` used to leave these processes."""
    words = [sys.executable, "-c", INSIDE_A_RUN, str(tmp_path)]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("found\n", "")


@pytest.mark.parametrize("text", ["-1", "0", "x", str(TOP_US), str(2**64 - 1)])
def test_mark_that_is_none_is_not_searched_for(text: str, tmp_path: Path) -> None:
    (tmp_path / MARK_FILE).write_text(text)
    assert len(node_marks(tmp_path)) == 1


@pytest.mark.parametrize("session", [0, 1, 63, 64])
def test_sessions_have_marks_apart_that_together_are_the_runs(
    session: int, ray_environment: None
) -> None:
    from weft.backends.raybackend import SESSIONS, other_marks, session_marks

    marks = Marks.of("run")
    ours, others = session_marks(marks, session), other_marks(marks, session)
    assert len(ours.all) + sum(len(some) for some in others) == len(marks.all)
    assert not any(ours.all.start in some or ours.all[-1] in some for some in others)
    assert session_marks(marks, session + SESSIONS).all == ours.all


def test_probe_and_actor_agree_on_the_digest_of_weft() -> None:
    assert nodeprobe._weft_digest() == weft_digest()


def test_node_is_found_by_label_host_name_or_address(ray_environment: None) -> None:
    from weft.backends.raycluster import RayNode, match

    living = [
        RayNode("1", "rig-a", "10.0.0.1", 2, 4, False),
        RayNode("2", "vm", "10.0.0.2", 0, 4, False),
        RayNode("3", "vm", "10.0.0.3", 0, 0, True),
    ]
    names = ["rig-a", "10.0.0.2", "vm", "localhost", "gone"]
    matches = match(names, living, ["localhost"])
    assert {n: f.id for n, f in matches.items()} == {
        "rig-a": "1", "10.0.0.2": "2", "vm": "2", "localhost": "3",
    }  # fmt: skip


# -- files of clusters ------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_cluster_file_is_for_its_owner_and_found_by_node_file_and_address(home: Path) -> None:
    nodes = home / "nodes.toml"
    written = ClusterFile("h:1", "secret", str(nodes))
    written.write(cluster_path(nodes))
    for path in (cluster_path(nodes), *list(cluster_path(nodes).parents)[:2]):
        assert path.stat().st_mode & 0o077 == 0
    assert ClusterFile.read(cluster_path(nodes)) == written
    assert (address_for(nodes), address_for(None)) == ("h:1", "h:1")
    assert (token_for("h:1"), token_for("other:1")) == ("secret", "")


def test_cluster_that_is_not_up_is_said_with_the_next_command(home: Path) -> None:
    with pytest.raises(
        WorldError, match=r"no Ray cluster is up for n\.toml; weft nodes up n\.toml"
    ):
        address_for(Path("n.toml"))
    with pytest.raises(WorldError, match="no Ray cluster is up; weft nodes up FILE"):
        address_for(None)
    for number in range(2):
        ClusterFile(f"h:{number}", "t", "x").write(
            Path(rayclusters.FOLDER).expanduser() / str(number) / "cluster.json"
        )
    with pytest.raises(WorldError, match="several Ray clusters are up"):
        address_for(None)


def test_cluster_file_damaged_is_one_line(home: Path) -> None:
    path = cluster_path(Path("n.toml"))
    our_folder(path.parent.name)
    path.touch(0o600)
    for text in ("", "[]", '{"schema_version": 1}', '{"schema_version": 9}'):
        path.write_text(text)
        with pytest.raises(FileInvalid, match="is not the file of a cluster"):
            ClusterFile.read(path)


@pytest.mark.parametrize("spoilt", [".weft", ".weft/{id}", ".weft/{id}/cluster.json"])
def test_cluster_file_that_others_could_have_written_is_refused(home: Path, spoilt: str) -> None:
    """Whoever writes it names the cluster that receives our code."""
    path = cluster_path(Path("n.toml"))
    ClusterFile("h:1", "t", "n.toml").write(path)
    (home / spoilt.format(id=path.parent.name)).chmod(0o777)
    with pytest.raises(WorldError, match="other users could run code as us"):
        address_for(Path("n.toml"))


# -- folders on a node ------------------------------------------------------------------------


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A world-writable folder for temporary files, containing one in our name owned by nobody."""
    require_root()
    folder = Path(tempfile.mkdtemp(prefix="ws", dir="/tmp"))  # short enough for Ray's sockets
    folder.chmod(0o1777)
    planted = folder / f"weft-{os.geteuid()}"
    planted.mkdir(0o777)
    (planted / "run-n").mkdir()
    (planted / "run-n" / "evidence").touch()
    os.chown(planted, 65534, 65534)
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield planted
    shutil.rmtree(folder)


def test_node_folder_made_by_another_user_is_refused_and_left_alone(shared: Path) -> None:
    spec = NodeSpec("n", "run", 0, range(0), ())
    facts = open_node(spec)
    assert f"{shared} belongs to user 65534, not to us" in facts.problem
    assert "\n" not in facts.problem
    with pytest.raises(WorldError, match="belongs to user 65534"):
        SlotActor(spec, Slot("n", None, 0))
    with pytest.raises(WorldError, match="belongs to user 65534"):
        close_node(spec)
    assert [path.name for path in sorted(shared.rglob("*"))] == ["run-n", "evidence"]


def test_local_ray_below_a_folder_made_by_another_user_is_refused(
    shared: Path, tmp_path: Path
) -> None:
    (tmp_path / "jobs.json").write_text('[{"job_id":"a","argv":["true"],"gpu":0}]')
    (tmp_path / "nodes.json").write_text('{"nodes":[{"hostname":"localhost","cpu_count":1}]}')
    words = ["jobs", "run", "jobs.json", "--nodes", "nodes.json", "--out", "x", "-q"]
    env = {n: v for n, v in os.environ.items() if n not in (FOLDER_VARIABLE, "RAY_TMPDIR")}
    result = subprocess.run(
        [*COMMAND, *words, "--backend", "ray", "--ray-address", "local"],
        cwd=tmp_path,
        env={**env, "TMPDIR": str(shared.parent)},
        capture_output=True,
        text=True,
    )
    Told(result.returncode, result.stdout, result.stderr).check_one_line(
        75, f"{shared} belongs to user 65534, not to us"
    )
    assert [path.name for path in sorted(shared.rglob("*"))] == ["run-n", "evidence"]
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("spoilt", "do"),
    [
        (".weft", "start"),
        (".weft/id", "start"),
        (".weft/id/n0", "start"),
        (".weft/id", "inspect"),
        (".weft/id/n0", "stop"),
    ],
)
def test_agent_refuses_a_folder_that_others_can_write(spoilt: str, do: str, home: Path) -> None:
    private_folder(home, ".weft", "id", "n0")
    (home / spoilt).chmod(0o777)
    order = json.dumps({"do": do, "folder": "~/.weft/id/n0", "token": "secret"})
    argv = [sys.executable, "-m", "weft.cluster.agent"]
    result = subprocess.run(argv, input=order, capture_output=True, text=True, check=True)
    answer = json.loads(result.stdout.removeprefix(nodeagent.MARK))
    assert f"{home / spoilt} has mode 0777 instead of 0700" in answer["problem"]
    assert list((home / ".weft" / "id" / "n0").iterdir()) == []


# -- code that travels ------------------------------------------------------------------------


def test_pack_has_the_folders_python_files_and_packages_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("packed_one.py", "beside.py", "pkg/__init__.py", "pkg/deep/x.py", "data.csv",
                 "plain/y.py", ".hidden/__init__.py"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    packs = CodePacks(lambda: ["packed_one", "weft", "json", "pytest", "nowhere"])
    [pack] = packs()
    assert packs() == [pack]
    with tarfile.open(fileobj=io.BytesIO(pack.data)) as files:
        names = files.getnames()
    assert names == ["beside.py", "packed_one.py", "pkg/__init__.py", "pkg/deep/x.py"]


# -- objects on a node ------------------------------------------------------------------------


def test_object_is_kept_only_if_its_bytes_fit_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hashlib

    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr("weft.backends.raynode._placed", lambda slot: slot)
    spec = NodeSpec("n", "run", 0, range(0), ())
    open_node(spec)
    actor = SlotActor(spec, Slot("n", None, 0))
    digest = hashlib.sha256(b"onetwo").hexdigest()
    assert actor.store("a", b"one", None)
    assert not actor.store("a", b"tow", digest)
    assert not actor.holds(digest)
    assert actor.store("b", b"one", None)
    assert actor.store("b", b"two", digest)
    assert actor.holds(digest)
    assert list((tmp_path / "run-n" / "staging").iterdir()) == []


def test_outcomes_of_an_earlier_session_stay_on_the_node_until_the_run_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr("weft.backends.raynode._placed", lambda slot: slot)
    spec = NodeSpec("n", "run", 0, range(0), (), outcome_token="t0ken")
    home = tmp_path / "run-n"
    leftovers = ["attempts/a-1/out/answer", "logs/a/1.out", "objects/ab/c", "code/mine.py"]
    for files, expected in (
        (leftovers, []),
        (["outcomes/a-1", *leftovers], ["outcomes/a-1", *leftovers[:2]]),
    ):
        open_node(spec)
        for name in files:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).touch()
        assert open_node(spec).problem == ""
        paths = [str(p.relative_to(home)) for p in home.rglob("*") if p.is_file()]
        assert sorted(paths) == sorted(expected)
    assert SlotActor(spec, Slot("n", None, 0))._setup.outcome_token == "t0ken"
    close_node(spec)
    assert not home.exists()


def test_worker_that_starts_late_does_not_make_the_folder_of_a_closed_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a folder had the umask's mode, and every later run on the node was refused."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "nodes"))
    monkeypatch.setattr("weft.backends.raynode._placed", lambda slot: slot)
    spec = NodeSpec("n", "run", 0, range(0), ())
    open_node(spec)
    actor = SlotActor(spec, Slot("n", None, 0))
    close_node(spec)
    assert actor.start(1, ()) == (None, None)
    ended = actor.pull(1).ended
    assert ended is not None
    assert "no worker could be started" in ended[1]
    assert list(tmp_path.iterdir()) == []


# -- over SSH ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({}, "python3"),
        ({"python_env": "{home}/env"}, "{home}/env/bin/python"),
        ({"python_env": "~/env"}, "{home}/env/bin/python"),
        ({"python_env": "env", "script_path": "~"}, "{home}/env/bin/python"),
        ({"python_env": "~/env/bin/activate"}, "{home}/env/bin/python"),
        ({"python_env": "~/env/bin/python"}, "{home}/env/bin/python"),
        ({"python_env": "~/it's $(odd)/bin/python"}, "{home}/it's $(odd)/bin/python"),
    ],
)
def test_interpreter_of_a_node_is_found_by_its_own_shell(
    fields: dict[str, str], wanted: str, tmp_path: Path
) -> None:
    for folder in ("env", "it's $(odd)"):
        (tmp_path / folder / "bin").mkdir(parents=True)
        python = tmp_path / folder / "bin" / "python"
        python.write_text('#!/bin/sh\necho "$0"\n')
        python.chmod(0o755)
    (tmp_path / "python3").write_text('#!/bin/sh\necho "${0##*/}"\n')
    (tmp_path / "python3").chmod(0o755)
    values = {name: value.replace("{home}", str(tmp_path)) for name, value in fields.items()}
    result = subprocess.run(
        ["sh", "-c", _script(NodeEntry(hostname="x", **values), "-")],
        env={"HOME": str(tmp_path), "PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert result.stdout.strip() == wanted.replace("{home}", str(tmp_path)), result.stderr


def test_unknown_words_of_ssh_are_passed_on_in_one_line() -> None:
    message = str(_refusal(NodeEntry(hostname="x"), 255, "first\nsomething odd\n"))
    assert message == "node x: something odd; ssh x"


def test_folder_too_long_for_sockets_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * LONGEST_FOLDER)
    assert "too long for Ray's sockets" in start(Order("start", str(folder)))
    assert not folder.exists()


def test_stop_where_nothing_runs_removes_the_folder(tmp_path: Path) -> None:
    private_folder(tmp_path, "id", "n0", "session")
    assert stop(Order("stop", str(tmp_path / "id" / "n0"))) == ""
    assert not (tmp_path / "id").exists()


def test_probe_runs_without_weft(tmp_path: Path) -> None:
    text = Path(nodeprobe.__file__).read_text()
    result = subprocess.run(
        [sys.executable, "-I", "-S", "-"], input=text, capture_output=True, text=True, cwd=tmp_path
    )
    assert result.stdout.startswith(nodeprobe.MARK), result.stderr
    assert '"weft": null' in result.stdout
