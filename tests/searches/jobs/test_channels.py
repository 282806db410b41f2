"""Real jobs on real slots: which output becomes the result, and which makes a job fail."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import sys
from pathlib import Path

import pytest

from tests.searches.jobs.conftest import Shop, shell
from weft.model.attempts import Finished, Lost
from weft.searches.jobs import results
from weft.worker.command import CommandRun
from weft.worker.ending import Ending

LOG = '{"step": 1}'
SAYS = "import json,sys; print(json.dumps({'argv': sys.argv[1:]}))"
LONG = "for i in $(seq 60); do echo line $i; done; echo '{\"cut\": [1, 2'"
JOBS = [
    shell("stdout", f"echo noise; echo '{LOG}'; echo '[1, 2]'; echo '[INFO] done'"),
    shell("empty-list", "echo '[]'"),
    shell("scalar-asked", "echo 7", scalars=True),
    shell("scalar", "echo 7"),
    shell("file", "echo '{\"f\": 1}' > f.json; echo '{\"orphan\": 1}'", expected_output="f.json"),
    shell("orphan-only", "echo '{\"orphan\": 1}'", expected_output="never.json"),
    shell("old-file", "true", expected_output="old.json"),
    shell("fresh-file", "echo '\"new\"' > fresh.json", expected_output="fresh.json"),
    shell("auto-stdout", f"echo '{LOG}'; echo '[]' > as.json", expected_output="as.json",
          result="auto"),
    shell("auto-file", "echo text; echo '[]' > af.json", expected_output="af.json", result="auto"),
    shell("auto-cut", "echo '{\"cut'; echo '[]' > ac.json", expected_output="ac.json",
          result="auto"),
    shell("stdout-chosen", f"echo '{LOG}'; echo '[]' > sc.json", expected_output="sc.json",
          result="stdout"),
    shell("bytes", "printf 'a\\000b' > b.bin", expected_output="b.bin", format="bytes"),
    shell("bad-file", "printf '{\\n \"a\": x}' > bad.json", expected_output="bad.json"),
    shell("cut-off", f"echo '{LOG}'; {LONG}"),
    shell("silent", "true"),
    shell("exit-3", f"echo '{LOG}'; echo why >&2; exit 3"),
    shell("own-folder", "echo '[3]' > $WEFT_OUT_DIR/x.json", expected_output="{out_dir}/x.json"),
    shell("sub", "echo '[4]' > x.json", expected_output="x.json", cwd="sub"),
    {"job_id": "script", "script": "say.py", "args": ["{attempt}", "{x}"], "gpu": 0},
]  # fmt: skip
WANTED = {
    "stdout": ("stdout", b"[1, 2]"),
    "empty-list": ("stdout", b"[]"),
    "scalar-asked": ("stdout", b"7"),
    "scalar": ("result-invalid", b""),
    "file": ("file", b'{"f": 1}\n'),
    "orphan-only": ("result-invalid", b""),
    "old-file": ("result-invalid", b""),
    "fresh-file": ("file", b'"new"\n'),
    "auto-stdout": ("stdout", LOG.encode()),
    "auto-file": ("file", b"[]\n"),
    "auto-cut": ("result-invalid", b""),
    "stdout-chosen": ("stdout", LOG.encode()),
    "bytes": ("file", b"a\0b"),
    "bad-file": ("result-invalid", b""),
    "cut-off": ("result-invalid", b""),
    "silent": ("result-invalid", b""),
    "exit-3": ("exit", b""),
    "own-folder": ("file", b"[3]\n"),
    "sub": ("file", b"[4]\n"),
    "script": ("stdout", b'{"argv": ["1", "{x}"]}'),
}


def test_every_channel_gives_what_the_rules_say(shop: Shop) -> None:
    (shop.folder / "say.py").write_text(SAYS)
    (shop.folder / "sub").mkdir()
    for name in ("old", "fresh"):
        (shop.folder / f"{name}.json").write_text('{"old": 1}')
    shop.write(JOBS)
    result = shop.run("run", "--workers", "4", "-q")
    assert result.code == 4, result
    assert shop.results("run") == WANTED
    check_told(shop, result.out)
    check_explained(shop)
    check_moved_aside(shop)
    check_answer(shop)
    check_fetched(shop)


def check_told(shop: Shop, out: str) -> None:
    rows = {line.split()[0]: line for line in out.splitlines()}
    assert "result-invalid" in rows["cut-off"]
    assert "exit 3" in rows["exit-3"]
    assert "completed" in rows["bytes"]
    assert hashlib.sha256(b"a\0b").hexdigest()[:12] in rows["bytes"]
    assert "sequential would be" in rows["runtime"]
    assert out.splitlines()[-1].startswith("head ")


def check_explained(shop: Shop) -> None:
    """Check that `weft explain` shows the parse error with its place, then the last 40 lines."""
    keys = {job.job_id: job.key for job in shop.seen("run")}
    explained = shop.weft("explain", "run", keys["cut-off"]).out
    assert "is not JSON: parse error: premature EOF (line 1, column 14)" in explained
    block = [line.strip() for line in explained.splitlines()]
    printed = block[block.index("line 22") : block.index('{"cut": [1, 2') + 1]
    assert printed == [*(f"line {i}" for i in range(22, 61)), '{"cut": [1, 2']
    assert len(printed) == 40
    assert "line 21" not in block
    explained = shop.weft("explain", "run", keys["bad-file"]).out
    assert "the expected file bad.json is not JSON" in explained
    assert "(line 2, column 7)" in explained
    explained = shop.weft("explain", "run", keys["orphan-only"]).out
    assert "the expected file never.json was not written" in explained
    assert "why" in shop.weft("explain", "run", keys["exit-3"]).out


def check_moved_aside(shop: Shop) -> None:
    """Check that existing files are preserved and not taken for results."""
    assert not (shop.folder / "old.json").exists()
    for name in ("old", "fresh"):
        assert (shop.folder / f"{name}.json.before-1").read_text() == '{"old": 1}'
    assert (shop.folder / "fresh.json").read_text() == '"new"\n'
    notes = {t.args["args"]["job_id"]: t.notes for t in shop.view("run").tasks()}
    assert notes["fresh-file"]["moved_aside"] == "fresh.json.before-1"
    assert "moved_aside" not in notes["file"]


def check_answer(shop: Shop) -> None:
    report = shop.run("run", "--workers", "4", "--json").json
    assert report["status"] == "unknown"
    answer = report["answer"]["detail"]
    assert [row["job_id"] for row in answer] == [job["job_id"] for job in JOBS]
    by_id = {row["job_id"]: row for row in answer}
    assert by_id["empty-list"]["status"] == "completed"
    assert by_id["empty-list"]["bytes"] == 2
    assert by_id["exit-3"]["error"] == {"type": "exit", "stage": "run", "exit_code": 3}
    assert by_id["silent"]["error"]["stage"] == "collect"
    assert {row["job_id"] for row in report["jobs"]} == set(by_id)


def check_fetched(shop: Shop) -> None:
    report = shop.weft("jobs", "fetch", "run", "--to", "got", "--json").json
    names = {Path(file["path"]).name: file for file in report["files"]}
    assert sorted(names) == sorted(
        ["stdout.json", "empty-list.json", "scalar-asked.json", "file.json", "fresh-file.json",
         "auto-stdout.json", "auto-file.json", "stdout-chosen.json", "bytes.bin",
         "own-folder.json", "sub.json", "script.json"]
    )  # fmt: skip
    for name, file in names.items():
        data = (shop.folder / "got" / name).read_bytes()
        assert data == WANTED[file["job_id"]][1]
        assert hashlib.sha256(data).hexdigest() == file["sha256"]
    before = sorted((shop.folder / "got").iterdir())
    second = shop.weft("jobs", "fetch", "run", "--to", "got", "stdout")
    assert (second.code, "already exists" in second.err) == (3, True)
    assert sorted((shop.folder / "got").iterdir()) == before
    assert shop.weft("jobs", "fetch", "run", "--to", "some", "bytes").code == 0
    assert [p.name for p in (shop.folder / "some").iterdir()] == ["bytes.bin"]
    for name, reason in (("silent", "has no result"), ("nobody", "has no job")):
        result = shop.weft("jobs", "fetch", "run", "--to", "none", name)
        assert (result.code, reason in result.err) == (3, True)
    assert not (shop.folder / "none").exists()


def test_fetch_notices_damage_and_leaves_nothing(shop: Shop) -> None:
    shop.write([shell("a", "echo '{\"a\": 1}'")])
    assert shop.run("run", "-q").code == 0
    digest = shop.seen("run")[0].digest
    assert digest is not None
    stored = shop.folder / "run" / "objects" / digest[:2] / digest[2:]
    stored.chmod(0o644)
    stored.write_text("{}")
    result = shop.weft("jobs", "fetch", "run", "--to", "got")
    assert (result.code, "do not match" in result.err) == (5, True)
    stored.unlink()
    assert shop.weft("jobs", "fetch", "run", "--to", "got").code == 5
    assert list((shop.folder / "got").iterdir()) == []


def test_fetch_of_another_run_is_refused(shop: Shop) -> None:
    result = shop.weft("jobs", "fetch", shop.folder, "--to", "got")
    assert (result.code, "not a run folder" in result.err) == (3, True)


def test_secret_by_name_appears_nowhere_on_disk(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "s3cr3t-9f2e71"
    monkeypatch.setenv("API_KEY", secret)
    shop.write(
        [
            shell("uses", 'test "${#API_KEY}" = 13 && echo []', env_from=["API_KEY"]),
            shell("fails", "exit 9", env_from=["API_KEY"]),
            shell("without", 'test -z "$API_KEY" && echo []'),
        ]
    )
    assert shop.run("run", "-q").code == 4
    assert [job.status for job in shop.seen("run")] == ["completed", "failed", "completed"]
    shop.weft("report", "run")
    files = [path for path in shop.folder.rglob("*") if path.is_file()]
    assert len(files) > 8
    assert [path for path in files if secret.encode() in path.read_bytes()] == []


def test_folder_and_interpreter_of_the_node_are_used(shop: Shop) -> None:
    work_dir, env = shop.folder / "there", shop.folder / "env" / "bin"
    work_dir.mkdir()
    env.mkdir(parents=True)
    (env / "python").write_text(f'#!/bin/sh\necho mine\nexec {sys.executable} "$@"\n')
    (env / "python").chmod(0o755)
    (work_dir / "where.py").write_text("import os, json; print(json.dumps([os.getcwd()]))")
    node = {"hostname": "localhost", "gpu_count": 1, "script_path": "there"}
    shop.write(
        [{"job_id": "a", "script": "where.py", "timeout_s": 60}],
        json.dumps({"nodes": [{**node, "python_env": str(shop.folder / "env")}]}),
    )
    assert shop.run("run", "--nodes", "nodes.json", "-q").code == 0
    assert shop.results("run")["a"] == ("stdout", json.dumps([str(work_dir)]).encode())
    logs = [p.read_text() for p in (shop.folder / "run" / "logs").rglob("*.out")]
    assert logs[0].startswith("mine\n")
    ledger = (shop.folder / "run" / "ledger.jsonl").read_text()
    assert str(shop.folder) not in ledger
    assert str(shop.folder) + "/there" not in (shop.folder / "run" / "run.toml").read_text()


@pytest.mark.parametrize(("number", "ends"), [(errno.ENOSPC, "lost"), (errno.EACCES, "failed")])
def test_result_that_cannot_be_stored_is_the_nodes_fault_only_if_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, ends: str
) -> None:
    def broken(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    out = tmp_path / "1.out"
    out.write_text("[]\n")
    channel = {"result": "stdout", "scalars": False, "target": "", "format": "json"}
    run = CommandRun(channel, tmp_path, tmp_path, out, out, 1, 0, "a/gpu0")
    monkeypatch.setattr(results, "put_file", broken)
    with pytest.raises(Ending) as caught:
        results.collect(run)
    end = caught.value.outcome(1)
    assert isinstance(end, Lost if ends == "lost" else Finished)
    assert os.strerror(number) in end.detail


def test_pretty_printed_and_bom_headed_output_are_results(shop: Shop) -> None:
    says = (
        "import json; print('noise'); print(json.dumps({'a': [1, {'b': 2}]}, indent=2)); print('x')"
    )
    (shop.folder / "pretty.py").write_text(says)
    shop.write(
        [
            {"job_id": "pretty", "script": "pretty.py", "gpu": 0},
            shell("bom", "printf '\\357\\273\\277{\"a\": 1}\\r\\n'"),
            shell("bom-file", "printf '\\357\\273\\277[1]' > b.json", expected_output="b.json"),
        ]
    )
    assert shop.run("run", "-q").code == 0
    assert shop.results("run") == {
        "pretty": ("stdout", json.dumps({"a": [1, {"b": 2}]}, indent=2).encode()),
        "bom": ("stdout", b'{"a": 1}'),
        "bom-file": ("file", b"\xef\xbb\xbf[1]"),
    }
