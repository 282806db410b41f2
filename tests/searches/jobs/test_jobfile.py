"""Jobs files: all forms give the same jobs, and every error is reported in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import FileInvalid
from weft.model.codec import from_json
from weft.searches.jobs.job import Job
from weft.searches.jobs.jobfile import read_jobs

RAW: list[dict[str, Any]] = [
    {"job_id": "a", "script": "train.py", "args": ["--lr", "0.1"], "timeout_s": 30},
    {"job_id": "b.2_c-d", "argv": ["true"], "gpu": 0, "env": {"A": "1"}, "env_from": ["KEY"]},
    {"job_id": "c", "script": "x.py", "cwd": "sub", "expected_output": "out.json", "retries": 2},
    {"job_id": "d", "script": "x.py", "expected_output": "o", "result": "auto", "scalars": True},
    {"job_id": "e", "script": "x.py", "expected_output": "w", "format": "bytes", "memory_mb": 64},
]
TOML = """
[[jobs]]
job_id = "a"
script = "train.py"
args = ["--lr", "0.1"]
timeout_s = 30
[[jobs]]
job_id = "b.2_c-d"
argv = ["true"]
gpu = 0
env = {A = "1"}
env_from = ["KEY"]
[[jobs]]
job_id = "c"
script = "x.py"
cwd = "sub"
expected_output = "out.json"
retries = 2
[[jobs]]
job_id = "d"
script = "x.py"
expected_output = "o"
result = "auto"
scalars = true
[[jobs]]
job_id = "e"
script = "x.py"
expected_output = "w"
format = "bytes"
memory_mb = 64
"""


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_all_forms_of_a_file_give_the_same_jobs(tmp_path: Path) -> None:
    forms = {
        "list.json": json.dumps(RAW),
        "table.json": json.dumps({"jobs": RAW}),
        "lines.jsonl": "\n".join(map(json.dumps, RAW)) + "\n\n",
        "jobs.toml": TOML,
    }
    read = [read_jobs(write(tmp_path, name, text), 3600.0) for name, text in forms.items()]
    assert read[0] == read[1] == read[2] == read[3]
    a, b, c, d, e = read[0]
    assert (a.timeout_s, b.timeout_s, a.gpu, b.gpu) == (30.0, 3600.0, 1, 0)
    assert [job.result for job in read[0]] == ["stdout", "stdout", "file", "auto", "file"]
    assert a.words() == ["{python}", "{work_dir}/train.py", "--lr", "0.1"]
    assert (a.folder(), c.folder()) == ("{work_dir}", "{work_dir}/sub")
    assert (b.target(), c.target()) == ("", "{work_dir}/sub/out.json")
    assert (b.env, b.env_from, c.retries, e.memory_mb) == ({"A": "1"}, ("KEY",), 2, 64)
    assert (d.scalars, e.format) == (True, "bytes")


def test_job_survives_its_recorded_form(tmp_path: Path) -> None:
    for job in read_jobs(write(tmp_path, "jobs.json", json.dumps(RAW)), 60.0):
        assert from_json(Job, json.loads(json.dumps(job.to_dict()))) == job


ONE = {"job_id": "one", "argv": ["true"]}
BAD: list[tuple[list[Any], str]] = [
    ([ONE, ONE], "job 2 ('one'): job 1 has the same job_id"),
    ([{**ONE, "gpus": 1}], "job 1 ('one'): gpus: unknown field"),
    ([ONE, {"argv": ["true"]}], "job 2 ('?'): job_id: is missing"),
    ([{**ONE, "job_id": "a/b"}], "job 1 ('a/b'): job_id"),
    ([{**ONE, "job_id": "a b"}], "job_id"),
    ([{**ONE, "job_id": ".."}], "job_id"),
    ([{**ONE, "job_id": "a\n"}], "job_id"),
    ([{**ONE, "job_id": ""}], "job_id"),
    ([{**ONE, "job_id": "x" * 129}], "job_id"),
    ([{**ONE, "job_id": "a\u202e"}], "job_id"),
    ([{**ONE, "job_id": 7}], "job_id"),
    ([{"job_id": "one"}], "give either script or argv"),
    ([{**ONE, "script": "x.py"}], "give either script or argv"),
    ([{**ONE, "argv": []}], "argv"),
    ([{**ONE, "argv": [""]}], "the first argument is the program"),
    ([{**ONE, "argv": "ls -l"}], "argv"),
    ([{**ONE, "argv": ["a\0b"]}], "argv.0"),
    ([{**ONE, "args": [1]}], "args.0"),
    ([{**ONE, "gpu": 2}], "gpu"),
    ([{**ONE, "gpu": True}], "gpu"),
    ([{**ONE, "gpu": -1}], "gpu"),
    ([{**ONE, "timeout_s": 0}], "timeout_s"),
    ([{**ONE, "timeout_s": "60"}], "timeout_s"),
    ([{**ONE, "timeout_s": 1e300}], "timeout_s"),
    ([{**ONE, "retries": 101}], "retries"),
    ([{**ONE, "memory_mb": 0}], "memory_mb"),
    ([{**ONE, "result": "log"}], "result"),
    ([{**ONE, "result": "file"}], "needs expected_output"),
    ([{**ONE, "result": "auto"}], "needs expected_output"),
    ([{**ONE, "format": "xml"}], "format"),
    ([{**ONE, "format": "bytes"}], "needs a result file"),
    ([{**ONE, "expected_output": "x", "scalars": True}], "scalars applies only to stdout"),
    ([{**ONE, "expected_output": ""}], "expected_output"),
    ([{**ONE, "env": {"A=B": "1"}}], "env"),
    ([{**ONE, "env": {"A": 1}}], "env.A"),
    ([{**ONE, "env_from": ["$KEY"]}], "env_from.0"),
    ([{**ONE, "env": {"A": "1"}, "env_from": ["A"]}], "A is in both env and env_from"),
    ([{**ONE, "cwd": ""}], "cwd"),
    ([{**ONE, "env": {"CUDA_VISIBLE_DEVICES": "0,1"}}], "CUDA_VISIBLE_DEVICES is set by the slot"),
    ([{**ONE, "env_from": ["HIP_VISIBLE_DEVICES"]}], "HIP_VISIBLE_DEVICES is set by the slot"),
    ([{**ONE, "env_from": ["HIP_VISIBLE_DEVICES"], "gpu": 0}], "a job with gpu = 0 sees no GPU"),
    ([{**ONE, "env": {"CUDA_VISIBLE_DEVICES": "0"}, "gpu": 0}], "sees no GPU"),
    (
        [
            {**ONE, "cwd": "..", "expected_output": "x"},
            {**ONE, "job_id": "two", "cwd": "a/../..", "expected_output": "./x"},
        ],
        "that of job 'one' too",
    ),
    ([{**ONE, "expected_output": "/etc/motd"}], "expected_output is absolute"),
    ([{**ONE, "expected_output": "../x"}], "expected_output has a `..`"),
    ([{**ONE, "expected_output": "a/../../x"}], "expected_output has a `..`"),
    ([{**ONE, "expected_output": "{out_dir}/../../x"}], "expected_output has a `..`"),
    (["true"], "job 1 ('?')"),
    ([], "0 jobs; there must be 1 to"),
    (
        [
            {**ONE, "expected_output": "sub/./x.json"},
            {**ONE, "job_id": "two", "cwd": "sub", "expected_output": "x.json"},
        ],
        "job 2 ('two'): expected_output is that of job 'one' too",
    ),
]


@pytest.mark.parametrize(("jobs", "said"), BAD)
def test_bad_job_is_one_line_with_file_and_entry(tmp_path: Path, jobs: Any, said: str) -> None:
    path = write(tmp_path, "jobs.json", json.dumps(jobs))
    with pytest.raises(FileInvalid) as caught:
        read_jobs(path, 60.0)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert said in text
    assert "\n" not in text
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("j.json", "", 'is empty; write [{"job_id": …}, …] or [[jobs]]'),
        ("j.jsonl", "\n", 'is empty; write [{"job_id": …}, …] or [[jobs]]'),
        ("j.json", "{", "not valid JSON: Expecting property name enclosed in double quotes"),
        ("j.json", "\njobs", "not valid JSON: Expecting value (line 2 column 1); correct it there"),
        ("j.json", "7", "no list of jobs"),
        ("j.json", '{"tasks": []}', "unknown field 'tasks'"),
        ("j.json", '{"jobs": {}}', "no list of jobs"),
        ("j.json", '[{"job_id": "a", "job_id": "b"}]', "duplicate key"),
        ("j.json", "[" * 100_000, "nested too deeply"),
        ("j.json", b"\xff", "UTF-8"),
        ("j.json", '[{"job_id": "a", "argv": ["x"], "timeout_s": NaN}]', "NaN"),
        ("j.jsonl", '{"job_id": "a", "argv": ["x"]}\n{"job_id"', "line 2"),
        ("j.toml", "[[jobs]", "line 1"),
        ("j.toml", b"\xff\xfe", "utf-8"),
        ("j.toml", "x = 1", "unknown field 'x'"),
    ],
)
def test_file_of_a_wrong_form_is_one_line(
    tmp_path: Path, name: str, text: str | bytes, said: str
) -> None:
    with pytest.raises(FileInvalid) as caught:
        read_jobs(write(tmp_path, name, text), 60.0)
    assert said in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_folder_and_giant_are_refused(tmp_path: Path) -> None:
    (tmp_path / "giant.json").touch()
    with (tmp_path / "giant.json").open("r+b") as file:
        file.truncate(1 << 30)
    for name, reason in (("none.json", "does not exist"), (".", "regular file"),
                         ("giant.json", "larger than"), ("a\0b", "does not exist")):  # fmt: skip
        with pytest.raises(FileInvalid, match=reason):
            read_jobs(tmp_path / name, 60.0)


def test_same_expected_name_is_fine_where_it_cannot_meet(tmp_path: Path) -> None:
    jobs = [
        {**ONE, "expected_output": "{out_dir}/x.json"},
        {**ONE, "job_id": "two", "expected_output": "{out_dir}/x.json"},
        {**ONE, "job_id": "three", "expected_output": "x.json", "cwd": "a"},
        {**ONE, "job_id": "four", "expected_output": "x.json", "cwd": "b"},
        {**ONE, "job_id": "five", "expected_output": "x-{seed}.json"},
        {**ONE, "job_id": "six", "expected_output": "x-{seed}.json"},
        {**ONE, "job_id": "seven", "expected_output": "x.json", "cwd": "../a"},
        {**ONE, "job_id": "eight", "gpu": 0, "env": {"CUDA_VISIBLE_DEVICES": ""}},
    ]
    read = read_jobs(write(tmp_path, "jobs.json", json.dumps(jobs)), 60.0)
    assert read[0].target() == "{out_dir}/x.json"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
FIELDS = st.sampled_from([*RAW[0], *RAW[1], *RAW[2], *RAW[4], "result", "scalars", "zzz"])
ENTRIES = st.lists(st.dictionaries(FIELDS, VALUES, max_size=6) | VALUES, max_size=4)


@given(entries=ENTRIES, data=st.binary(max_size=200), suffix=st.sampled_from(["json", "toml"]))
def test_any_file_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, entries: Any, data: bytes, suffix: str
) -> None:
    folder = tmp_path_factory.mktemp("fuzz", numbered=True)
    texts = [("a.json", json.dumps(entries).encode()), (f"b.{suffix}", data), ("c.jsonl", data)]
    for name, text in texts:
        message = ""
        try:
            read_jobs(write(folder, name, text), 60.0)
        except FileInvalid as error:
            message = str(error)
        assert "\n" not in message
