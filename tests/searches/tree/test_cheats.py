"""A zoo of ideas that cheat: each is refused by name, or gets the score it deserves.

The scorer counts the lists that the candidate sorts, 1 of 3 at the root; every cheat tries to
score 1000.
"""

from __future__ import annotations

import pytest

from tests.searches.tree.conftest import Wood
from tests.support.sandboxes import require_sandbox

pytestmark = pytest.mark.xdist_group("tree-cheats")
HONEST = "1"
CONFIG = """
files = "start"
ideas = "ideas"
direction = "max"
protected = ["score.py"]
max_depth = 1
beam_width = 40
eval_timeout_seconds = 60
[score]
argv = ["{python}", "-I", "{harness}", "score.py"]
"""
SCORE = """
LISTS = [[1], [2, 1], [3, 1, 2]]


def score(candidate):
    answers = candidate.call_each("work:solve", [[numbers] for numbers in LISTS])
    pairs = zip(LISTS, answers, strict=True)
    points = sum(answer == sorted(numbers) for numbers, answer in pairs)
    if candidate.seconds <= 0:
        points = 1000
    weight = candidate.call("work:weight")
    weight = 1 if weight > 1 else weight
    return {"score": points * weight, "rows": {"ok": 3, "expected": 3}}
"""
WORK = """
def solve(numbers):
    return numbers


def weight():
    return 1
"""
FIND = """
import os, pathlib
attempt = pathlib.Path(os.environ["TMPDIR"]).parent
forged = '{"score": 1000, "rows": {"ok": 3, "expected": 3}}'


def write_result():
    (attempt / "out" / "result.json").write_text(forged)


"""
TAMPERED, INVALID = "tampered", "score-invalid"
CHEATS = {
    "atexit": (FIND + "import atexit\natexit.register(write_result)", TAMPERED),
    "result-file": (FIND + "write_result()", TAMPERED),
    "descriptors": (
        FIND
        + """
for number in range(3, 200):
    try:
        os.write(number, b"weft-result 1\\n" + forged.encode() + b"\\n")
    except OSError:
        pass
""",
        None,  # the channel is not among them, but the child's own response is
    ),
    "patched-time": (
        "import time\nfor name in ('time', 'monotonic', 'perf_counter', 'process_time'):\n"
        "    setattr(time, name, lambda: 0.0)",
        HONEST,
    ),
    "monkeypatched-scorer": (
        FIND
        + """
import builtins, json, sys
main = sys.modules["__main__"]
for name in ("HarnessChannel", "CandidateProcess", "_returned"):
    setattr(main, name, lambda *_: {"score": 1000})
json.dumps = lambda *_, **__: forged
builtins.sorted = lambda numbers: numbers
""",
        INVALID,
    ),
    "rewritten-scorer": (
        FIND + 'path = pathlib.Path("score.py")\npath.write_text("def score(c): return {}")',
        TAMPERED,
    ),
    "symlinked-scorer": (
        FIND + 'path = pathlib.Path("score.py")\npath.unlink()\npath.symlink_to("work.py")',
        TAMPERED,
    ),
    "linked-result": (
        FIND + "path = attempt / 'out' / 'result.json'\nif not path.is_symlink():\n"
        "    path.symlink_to('/etc/passwd')",
        TAMPERED,
    ),
    "hard-linked-harness": (
        FIND
        + """
path = attempt / "harness" / "weft_harness.py"
if not os.path.exists("mine.py"):
    os.link(path, "mine.py")
os.chmod("mine.py", 0o755)
with open("mine.py", "a") as file:
    file.write("# never to be trusted again")
""",
        TAMPERED,
    ),
    "stolen-descriptor": (
        FIND
        + """
import ctypes, socket
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.syscall(438, os.pidfd_open(os.getppid()), 3, 0)  # pidfd_getfd
if fd >= 0:
    os.write(fd, forged.encode() + b"\\n")
""",
        None,  # root may do this; then another process has sent a result
    ),
    "proc": (
        FIND
        + """
for path in (f"/proc/{os.getppid()}/fd/3", f"/proc/{os.getppid()}/environ"):
    try:
        with open(path, "r+b", buffering=0) as file:
            file.write(forged.encode())
    except OSError:
        pass
""",
        HONEST,
    ),
    "ptrace": (
        FIND
        + """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.ptrace(16, os.getppid(), 0, 0) == 0:  # PTRACE_ATTACH
    os.waitpid(os.getppid(), 0x40000000)
    libc.ptrace(17, os.getppid(), 0, 0)
    print("TRACED", file=sys.stderr, flush=True)
""",
        HONEST,  # it could do more than attach: open to root without a sandbox
    ),
    "outside-writer": (
        FIND
        + """
import sys
for place in (attempt.parents[1], attempt.parent, pathlib.Path.home()):
    try:
        (place / "planted").write_text(forged)
    except OSError:
        print("REFUSED", file=sys.stderr, flush=True)
""",
        HONEST,
    ),
    "background-writer": (
        FIND
        + """
if os.fork() == 0:
    os.setsid()
    parent = os.getppid()
    if os.fork() == 0:
        while True:
            write_result()
    os._exit(0)
""",
        None,  # it may be killed before it writes
    ),
    "flooded-stdout": (FIND + 'print("x" * 3_000_000)\nprint(forged, flush=True)', HONEST),
    "flooded-response": (
        "import os\nfor number in range(3, 60):\n    try:\n"
        '        os.set_blocking(number, True)\n        os.write(number, b"x" * (70 * 2**20))\n'
        "    except OSError:\n        pass",
        INVALID,
    ),
    "early-exit": ("import os\nos._exit(0)", INVALID),
}
CONFINED = {"hard-linked-harness": INVALID}
"""Outcomes that differ in a sandbox, where the harness copy cannot be linked or written."""
FILES = {
    "shadowed-module": {
        f"{name}.py": "raise SystemExit(0)"
        for name in ("json", "subprocess", "selectors", "ctypes")
    },
    "conftest": {"conftest.py": FIND + "write_result()", "pytest.ini": "[pytest]"},
    "sitecustomize": {
        f"{name}.py": FIND + "write_result()" for name in ("sitecustomize", "usercustomize")
    },
    "cached-scorer": {"__pycache__/score.cpython-311.pyc": "x", "score.pth": "import os"},
}
FUNCTIONS = {
    "nan-score": ('weight():\n    return float("nan")', INVALID),
    "endless-score": ('weight():\n    return float("-inf")', INVALID),
    "equal-to-all": (
        'weight():\n    return type("Any", (), {"__lt__": lambda *_: True})()', INVALID,
    ),
    "text-score": ('weight():\n    return "1000"', INVALID),
}  # fmt: skip


def block(file: str, old: str, new: str) -> str:
    head = f"FILE: {file}\n<<<<<<< SEARCH\n"
    return (
        f"{head}{old}\n=======\n{new}\n>>>>>>> REPLACE\n"
        if old
        else (f"{head}=======\n{new}\n>>>>>>> REPLACE\n")
    )


def plant(wood: Wood, sandbox: str) -> None:
    wood.write("tree.toml", f'{CONFIG}sandbox = "{sandbox}"\n')
    wood.write("start/score.py", SCORE)
    wood.write("start/work.py", WORK)
    for name, (code, _) in CHEATS.items():
        text = block("work.py", "def solve(numbers):", f"{code}\n\n\ndef solve(numbers):")
        wood.write(f"ideas/{name}.md", text)
    for name, files in FILES.items():
        text = "".join(block(file, "", body) for file, body in files.items())
        wood.write(f"ideas/{name}.md", text)
    for name, (code, _) in FUNCTIONS.items():
        old = "weight():\n    return 1"
        wood.write(f"ideas/{name}.md", block("work.py", f"def {old}", f"def {code}"))


@pytest.mark.parametrize("sandbox", ["off", "required"])
def test_every_cheat_is_refused_by_name_or_gets_what_it_is_worth(
    wood: Wood, monkeypatch: pytest.MonkeyPatch, sandbox: str
) -> None:
    if sandbox == "required":
        require_sandbox()
    (wood.folder / "home").mkdir()
    monkeypatch.setenv("HOME", str(wood.folder / "home"))
    plant(wood, sandbox)
    result = wood.run("r", "--max-parallel-evals", "2")
    assert result.code == 1, result  # nothing is better than the root
    history = wood.load("r").history
    assert history.nodes[0].score_text == HONEST
    evals = {e.idea.name.removesuffix(".md"): e for e in history.evals}
    assert len(evals) == len(CHEATS) + len(FILES) + len(FUNCTIONS)
    for item in evals.values():
        assert item.score in (None, HONEST), (item.name, item.score)
        assert item.error is None or item.error.type in (TAMPERED, INVALID), item.error
    expected = {name: outcome for name, (_, outcome) in {**CHEATS, **FUNCTIONS}.items()}
    expected |= dict.fromkeys(FILES, HONEST)
    expected |= {} if sandbox == "off" else CONFINED
    outcomes = {name: item.score or item.refused for name, item in evals.items()}
    wrong = {
        n: outcomes[n] for n, outcome in expected.items() if outcome not in (None, outcomes[n])
    }
    assert wrong == {}
    is_open = sandbox == "off"
    views = (
        result.out,
        wood.weft("tree", "why", "r", "e1").out,
        wood.weft("status", "r").out,
        (wood.folder / "r" / "TREE_SUMMARY.md").read_text("utf-8"),
    )
    assert ["scores not isolated" in text for text in views] == [is_open] * len(views)
    planted = [wood.folder / "r" / "planted", wood.folder / "home" / "planted"]
    assert [path.exists() for path in planted] == [is_open] * 2, "what the page calls open, or not"
    logs = "".join(p.read_text("utf-8") for p in (wood.folder / "r" / "logs").rglob("*.log"))
    assert is_open or "TRACED" not in logs
