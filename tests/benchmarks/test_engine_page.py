"""The page that compares engines: options, merging, targets, tables, chart, scripts."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from benchmarks import engine, enginechart, enginepage, enginetargets, machine
from benchmarks.enginerun import Bench, Figure, MeasurementError, run_json
from benchmarks.rivals import environment
from benchmarks.rivals.__main__ import measure_one
from benchmarks.rivals.ask import Ask
from benchmarks.rivals.table import BY_NAME, DBOS, EXECUTOR, JOBLIB, MEMORY, RIVALS, WEFT, Rival

SCRIPTS = Path(environment.__file__).parent
STEP_US = 5.0
"""Cost of the first engine, and how much more each further engine costs."""


def figure(engine_name: str, load: str, start: str, task_us: float, workers: int = 2) -> Figure:
    seconds = [1000 * task_us / 1e6, 1000 * 1.1 * task_us / 1e6]
    return {"engine": engine_name, "load": load, "n": 1000, "start": start,
            "workers": workers, "seconds": seconds}  # fmt: skip


def compared() -> dict[str, Any]:
    """Figures in which each engine of the table costs one step more than the previous one."""
    figures = []
    for number, rival in enumerate(RIVALS, start=1):
        figures += [
            figure(rival.name, load, start, cost_us + number * STEP_US)
            for load, cost_us in (("tiny", 0.0), ("millisecond", 500.0))
            for start in ("cold", "warm")
        ]
    return {"machine": "here", "workers": 2, "figures": figures, "versions": {"joblib": "1.6.0"},
            "failed": {}}  # fmt: skip


def all_parts() -> dict[str, Any]:
    wide_figures = [figure(WEFT, "tiny", "warm", 14, 16), figure(JOBLIB, "tiny", "warm", 7, 16)]
    same_figures = [
        figure(name, "tiny", start, task_us, 16)
        for name, start, task_us in (
            (WEFT, "warm", 15), (WEFT, "cold", 18), (JOBLIB, "warm", 3), (JOBLIB, "cold", 6)
        )
    ]  # fmt: skip
    return {
        "compare": compared(),
        "same": {"16 of 16": {"machine": "there", "workers": 16, "figures": same_figures}},
        "wide": {"16": {"machine": "there", "figures": wide_figures}},
        "sizes": {"machine": "here", "workers": 2, "figures": [figure(WEFT, "tiny", "cold", 9)]},
        "rounds": {"machine": "here", "rounds": 1000, "seconds": {"weft": 0.25, "executor": None}},
        "slots": {"machine": "here", "costs": [
            {"slots": 64, "block": 1, "n": 100, "seconds": 0.002, "cpu_s": 0.001},
            {"slots": 256, "block": 1, "n": 100}]},
        "busy": {"machine": "here", "shares": [
            {"slots": 16, "n": 100, "efficiency": 0.985, "cpu_s": 0.002},
            {"slots": 64, "n": 100}]},
    }  # fmt: skip


# -- the table of engines and their scripts ----------------------------------------------------


def test_engines_of_the_issue_are_all_in_the_table() -> None:
    names = " ".join(rival.name for rival in RIVALS)
    for word in ("Ray", "Dask", "joblib/loky", "Pool.imap", "ProcessPoolExecutor", "redun",
                 "Optuna, SQLite", "Optuna, journal", "DBOS", "huey", "joblib.Memory"):  # fmt: skip
        assert word in names
    assert len(BY_NAME) == len(RIVALS)


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
def test_script_of_engine_compiles_and_has_its_function(rival: Rival) -> None:
    module, _, function = rival.place.partition(":")
    source = (SCRIPTS / f"{module}.py").read_text("utf-8")
    compile(source, module, "exec")
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    [entry] = [node for node in functions if node.name == function]
    assert [argument.arg for argument in entry.args.args] == ["ask", "watch"]


def test_packages_of_engines_are_pinned() -> None:
    versions = environment.pinned(environment.REQUIREMENTS.read_text("utf-8"))
    packages = {rival.package for rival in RIVALS if rival.package}
    assert packages | {"dask"} == set(versions)
    assert environment.needed(versions, {"distributed"}) == [
        f"dask=={versions['dask']}", f"distributed=={versions['distributed']}"
    ]  # fmt: skip


@pytest.mark.parametrize("place", ["stdlib:pool_chunks", "weft_round:lazy"])
@pytest.mark.parametrize("warm", [False, True])
def test_engine_that_is_always_here_is_measured(place: str, warm: bool) -> None:
    assert measure_one(place, Ask("tiny", 300, warm, 2)) > 0


def test_engine_that_computes_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.loads.wanted_sum", lambda n: 0)
    with pytest.raises(SystemExit, match="summed up to 3, not 0"):
        measure_one("stdlib:pool_chunks", Ask("tiny", 2, False, 1))


# -- options and merging -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (["--part", "nosuch"], "there is no part 'nosuch'"),
        (["--only", "celery"], "there is no engine 'celery'"),
        (["--workers", "2,4"], "belong to --part wide"),
        (["--part", "wide,slots", "--workers", "2,4"], "belong to --part wide"),
    ],
)
def test_wrong_option_is_refused(
    argv: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        engine.main(argv)
    assert caught.value.code == 2
    assert complaint in capsys.readouterr().err


def test_only_chooses_by_part_of_a_name_and_keeps_ours() -> None:
    chosen = engine.parsed(["--only", "huey, optuna"]).only
    assert [rival.name for rival in chosen] == [
        WEFT, "huey, SQLite", "Optuna, journal", "Optuna, SQLite"
    ]  # fmt: skip


def test_package_that_cannot_be_installed_fails_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'no such distribution' >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(SystemExit, match=r"huey==9 cannot .* no such distribution; .* --only"):
        environment._install(broken, "huey==9")


def test_merging_keeps_other_parts_and_other_worker_counts() -> None:
    stored = {**all_parts(), "wide": {"2": {"machine": "a"}, "16": {"machine": "a"}}}
    wide = {"wide": {"16": {"machine": "b"}, "4": {"machine": "b"}}}
    figures = engine.merged(stored, wide)
    assert figures["compare"] == stored["compare"]
    assert {count: body["machine"] for count, body in figures["wide"].items()} == {
        "2": "a", "4": "b", "16": "b"
    }  # fmt: skip
    assert list(figures["wide"]) == ["2", "4", "16"]
    with pytest.raises(SystemExit, match="'costs' is not a part"):
        engine.merged(stored, {"costs": {}})


def test_figures_from_elsewhere_are_put_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine, "PAGES", tmp_path)
    parts = all_parts()
    (tmp_path / "engine.json").write_text(json.dumps({"compare": parts["compare"]}))
    (tmp_path / "wide.json").write_text(json.dumps({"wide": parts["wide"]}))
    engine.main(["--merge", str(tmp_path / "wide.json")])
    page = (tmp_path / "engine.md").read_text()
    assert page in capsys.readouterr().out
    assert "| weft, lazy round | 14.7 (14.0–15.4) |" in page
    assert list(json.loads((tmp_path / "engine.json").read_text())) == ["compare", "wide"]
    assert (tmp_path / "engine.svg").read_text().startswith("<svg")


def test_wide_part_runs_with_what_is_here_and_writes_its_json(tmp_path: Path) -> None:
    figures = tmp_path / "wide.json"
    options = ["--part", "wide", "--workers", "1", "--only", "chunks", "--turns", "1"]
    engine.main([*options, "--share", "0.002", "--json", str(figures)])
    measured = json.loads(figures.read_text())["wide"]["1"]["figures"]
    assert {(f["engine"], f["load"]) for f in measured} == {
        (name, load) for name in (WEFT, "Pool.imap, chunks of 100")
        for load in ("tiny", "millisecond")
    }  # fmt: skip


def test_same_part_gives_every_engine_the_tasks_of_ours(tmp_path: Path) -> None:
    figures = tmp_path / "same.json"
    options = ["--part", "same", "--workers", "1", "--only", "chunks,huey", "--turns", "1"]
    engine.main([*options, "--share", "0.002", "--json", str(figures)])
    [(place, body)] = json.loads(figures.read_text())["same"].items()
    assert place == f"1 of {machine.cores()}"
    assert {(f["engine"], f["start"], f["n"]) for f in body["figures"]} == {
        (name, start, 200) for name in (WEFT, "Pool.imap, chunks of 100")
        for start in ("cold", "warm")
    }  # fmt: skip


def test_merging_the_same_tasks_keeps_other_machines() -> None:
    stored = {"same": {"2 of 16": {"machine": "a"}, "16 of 16": {"machine": "a"}}}
    figures = engine.merged(stored, {"same": {"2 of 2": {"machine": "b"}}})
    assert list(figures["same"]) == ["2 of 2", "2 of 16", "16 of 16"]


# -- failures ----------------------------------------------------------------------------------


def test_engine_that_fails_twice_is_named_and_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    bench = Bench("/bin/false")
    broken = Rival("broken", "stdlib:pool", 10, 1)
    assert bench.compare([broken], "tiny", ["warm", "cold"], 1, turns=2) == []
    assert bench.failures == {"broken": "exit 1: "}
    assert capsys.readouterr().err.count("broken, tiny 10 warm 1: exit 1") == 2


def test_turns_that_would_end_too_late_are_left_out() -> None:
    bench = Bench(sys.executable)
    rival = Rival("chunks", "stdlib:pool_chunks", 10, 1)
    [measured] = bench.compare([rival], "tiny", ["cold"], 1, turns=5, until_s=0.0)
    assert len(measured["seconds"]) == 1


def test_process_that_prints_nothing_has_failed() -> None:
    with pytest.raises(MeasurementError, match="exit 0"):
        run_json("/bin/true")


# -- the page ----------------------------------------------------------------------------------


def test_page_has_a_section_for_each_part_measured() -> None:
    parts = all_parts()
    assert parts.keys() == engine.MEASURES.keys() == enginepage.SECTIONS.keys()
    whole = enginepage.render(parts)
    for name, section in enginepage.SECTIONS.items():
        assert section(parts[name]).strip() in whole
    for rival in RIVALS:
        assert f"| {rival.name} | 1,000 | " in whole
        assert rival.stores in whole


def test_tables_hold_costs_ratios_and_start_up() -> None:
    page = enginepage.compare_section(compared())
    assert "| weft, lazy round | 1,000 | 5.2 (5.0–5.5) | 0.25 |" in page
    huey = next(line for line in page.splitlines() if line.startswith("| huey, SQLite | "))
    number = list(BY_NAME).index("huey, SQLite") + 1
    assert huey.split(" | ")[3] == f"{number}"  # cost relative to ours
    assert huey.endswith("| < 0.1 |")


def test_same_tasks_have_a_ratio_for_each_start() -> None:
    page = enginepage.same_section(all_parts()["same"])
    assert "16 workers on 16 cores (there):" in page
    assert "| weft, lazy round | 1,000 | 15.8 (15.0–16.5) | 5 | 18.9 (18.0–19.8) | 3 |" in page
    assert "| joblib/loky | 1,000 | 3.1 (3.0–3.3) | 1 | 6.3 (6.0–6.6) | 1 |" in page


def test_rounds_and_slots_that_failed_are_shown_as_failed() -> None:
    page = enginepage.render(all_parts())
    assert "| weft | 0.25 |" in page
    assert "| ProcessPoolExecutor | failed |" in page
    assert "| 64 | 1 | 100 | 20.0 | 10.0 |" in page
    assert "| 256 | 1 | 100 | failed | failed |" in page
    assert "| 16 | 100 | 98.5 % | 20.0 |" in page
    assert "| 64 | 100 | failed | failed |" in page


def test_simulated_workers_are_kept_busy_and_never_more_than_that() -> None:
    figures = run_json(sys.executable, "-m", "benchmarks.simulatedworkers", "4", "1000", "400")
    assert 0.5 < figures["efficiency"] <= 1.0
    assert figures["cpu_s"] > 0


def test_engine_that_could_not_be_measured_is_on_the_page() -> None:
    part = compared()
    part["figures"] = [f for f in part["figures"] if f["engine"] not in (DBOS, JOBLIB)]
    part["failed"] = {DBOS: "exit 1: locked"}
    page = enginepage.render({"compare": part})
    assert "Not measured: DBOS, SQLite (exit 1: locked)." in page
    assert "| faster than DBOS, SQLite | ≥ 20 × | not measured | |" in page


def test_targets_are_judged_by_what_was_measured() -> None:
    section = enginetargets.targets(all_parts())
    position = {name: number for number, name in enumerate(BY_NAME, start=1)}
    assert "| a tiny task, 2 workers | ≤ 15 µs | 5.25 µs | yes |" in section
    assert "| a tiny task, 16 workers | ≤ 15 µs | 14.7 µs | yes |" in section
    assert "| × the time of joblib/loky, warm, 16 workers | ≤ 4 × | 5 × | **no** |" in section
    assert "| × the time of joblib/loky, cold, 16 workers | ≤ 4 × | 3 × | yes |" in section
    assert "| × the time of joblib/loky, 4 × the tasks, 16 workers | ≤ 4 × | 2 × | yes |" in section
    assert "| × the time of joblib/loky, warm, 2 workers | ≤ 4 × | not measured | |" in section
    assert f"| faster than {MEMORY} | ≥ 8 × | {position[MEMORY]} × | yes |" in section
    assert f"| faster than {DBOS} | ≥ 20 × | {position[DBOS]} × | **no** |" in section
    assert f"| × the time of {EXECUTOR}, 2 workers | ≤ 0.15 × | 0.125 × | yes |" in section
    assert "| 1 ms tasks, 2 workers | ≥ 95 % | 94.3 % | **no** |" in section
    assert "| a round of one tiny task | ≤ 0.3 ms | 0.25 ms | yes |" in section
    assert section.count("not measured") == 18  # at 16 workers, at 2 of 16 cores, on other pages


def test_targets_on_other_pages_are_judged_by_their_figures() -> None:
    cost = {"seconds": 21.5, "cpu_s": 14.0, "peak_mib": 60.0, "load": 0.1}
    pages = {
        "big": {
            "1000000": {"commands": {"verify": cost, "report": {**cost, "seconds": 9.0}}},
            "10000000": {"commands": {"run": {**cost, "peak_mib": 310.0}, "verify": cost}},
        },
        "jobs": {"costs": {enginetargets.JOBS_ROW: [{"wall_ms": n} for n in (9, 12.5, 40)]}},
    }
    section = enginetargets.targets(pages)
    assert "| verify a million tasks ([big](big.md)) | ≤ 20 s | 21.5 s | **no** |" in section
    assert "| report on a million tasks ([big](big.md)) | ≤ 20 s | 9 s | yes |" in section
    assert "| resume a million tasks ([big](big.md)) | ≤ 15 s | not measured | |" in section
    assert "| memory, 10,000,000 tasks ([big](big.md)) | ≤ 300 MiB | 310 MiB | **no** |" in section
    assert "| a trivial job, 2 workers ([jobs](jobs.md)) | ≤ 15 ms | 12.5 ms | yes |" in section


def test_chart_draws_a_bar_for_each_engine_inside_its_frame() -> None:
    costs = enginepage.warm_costs(compared())
    assert [rival.name for rival, _ in costs] == list(BY_NAME)
    drawn = ET.fromstring(enginechart.draw(costs))
    height = float(drawn.attrib["height"])
    bars = [r for r in drawn.iter() if r.tag.endswith("rect")][len(enginechart.KINDS) :]
    assert len(bars) == len(RIVALS)
    ends = [float(bar.attrib["x"]) + float(bar.attrib["width"]) for bar in bars]
    assert ends == sorted(ends)
    assert max(ends) <= enginechart.WIDTH
    assert all(float(bar.attrib["y"]) < height for bar in bars)
    texts = {item.text for item in drawn.iter() if item.tag.endswith("text")}
    assert set(BY_NAME) | {"10", "100"} <= texts
