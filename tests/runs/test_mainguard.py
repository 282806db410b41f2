"""`weft.run` at the top level of a file with tasks is refused before anything is written."""

from __future__ import annotations

import subprocess
import sys

import pytest

TASKS = """
import weft

@weft.task
def double(x):
    return 2 * x

@weft.search(version=1)
def s():
    results = yield [double(1), double(2)]
    return [r.value for r in results]

def main():
    print(weft.run(s(), out="run", backend="serial").answer)
"""
GUARDED = 'if __name__ == "__main__":\n    '


def run_python(folder, script, *argv):
    (folder / "script.py").write_text(script)
    return subprocess.run(
        [sys.executable, *argv], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("call", "argv"),
    [
        ('weft.run(s(), out="run")', ["script.py"]),
        ("main()", ["-m", "script"]),
        ("if 1 < 2:\n    main()", ["script.py"]),
        (f"{GUARDED}pass\nmain()", ["script.py"]),
        ("main()", ["-c", "import script"]),
    ],
    ids=["script", "module", "other-if", "after-the-guard", "import"],
)
def test_run_at_top_level_of_a_file_with_tasks_is_refused_and_nothing_written(tmp_path, call, argv):
    script = f"{TASKS}\n{call}\n"
    line = script.rstrip().count("\n") + 1
    ended = run_python(tmp_path, script, *argv)
    assert ended.returncode == 1
    message = ended.stderr.splitlines()[-1]
    assert f"script.py:{line} calls weft.run whenever the file is imported" in message
    assert message.endswith('put the call under: if __name__ == "__main__":')
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "script",
    [
        f"{TASKS}\n{GUARDED}main()\n",
        f"{TASKS}\nif len('a') and '__main__' == __name__:\n    main()\n",
        "from tasks import main\nmain()\n",
    ],
    ids=["guarded", "longer-condition", "tasks-elsewhere"],
)
def test_run_that_no_worker_repeats_is_accepted(tmp_path, script):
    (tmp_path / "tasks.py").write_text(TASKS)
    ended = run_python(tmp_path, script, "script.py")
    assert (ended.returncode, ended.stdout) == (0, "[2, 4]\n"), ended.stderr


def test_cell_that_a_debugger_keeps_in_a_file_is_no_script(tmp_path):
    cell = tmp_path / "cell.py"
    check = "from weft.runs.mainguard import check_guarded\ncheck_guarded()\nprint('checked')"
    cell.write_text(f"{TASKS}\n{check}\n")
    script = f"""
import linecache, sys
path, text = {str(cell)!r}, open({str(cell)!r}).read()
linecache.cache[path] = (len(text), None, text.splitlines(True), path)
names = sys.modules["__main__"].__dict__
{{file}}
exec(compile(text, path, "exec"), names)
"""
    as_cell = run_python(tmp_path, script.format(file="del names['__file__']"), "script.py")
    as_script = run_python(tmp_path, script.format(file="__file__ = path"), "script.py")
    assert as_cell.stdout == "checked\n", as_cell.stderr
    assert "cell.py" in as_script.stderr.splitlines()[-1]
