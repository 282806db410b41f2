"""Exports a run of `weft.optuna.study` to an Optuna storage, for Optuna's plots and dashboard.

    ledger ── results by round ──► the study's own steps ──► trials ──► sqlite, journal file, …

The trials come from driving the search with its recorded results, so an interrupted run can be
exported too; times come from the manifest. The run is only read, and its code is not imported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import InputError, ManifestDamaged, StorageFailed
from weft.inspect.access import open_manifest, run_named, state_of
from weft.inspect.resultrows import LedgerResults
from weft.inspect.results import RunResults
from weft.lazy_imports import lazy_module
from weft.model.codec import from_json
from weft.model.results import Result
from weft.model.tasks import StreamRound
from weft.model.values import Object, from_wire
from weft.optuna.plan import StudyPlan, check_installed
from weft.optuna.samplers import frozen_trials
from weft.optuna.search import SEARCH, StudyLog, stream_trials, study_steps
from weft.optuna.tasks import ask
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import parse_at, whole_lines

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial
else:
    optuna = lazy_module("optuna")

Rounds = Mapping[int, list[Result]]


@dataclass(slots=True)
class RecordedStudy:
    """A study as its ledger records it."""

    plan: StudyPlan
    log: StudyLog = field(default_factory=StudyLog)
    keys: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Keys of the evaluations of each trial."""


def to_study(
    run: str | Path, *, storage: str | Any | None = None, name: str | None = None
) -> optuna.Study:
    """Copy the run in the folder `run`, finished or not, to an Optuna storage; return the study.

    `storage` is what `optuna.create_study` takes: `sqlite:///study.db`, a journal storage, or None
    for memory. The study is named after the run's folder unless `name` is given; a name that
    already exists in the storage is refused. Unfinished trials are RUNNING.
    """
    check_installed("optuna", "optuna")
    path = Path(run)
    folder = RunFolder(path)
    folder.require_run()
    with run_named(path):
        recorded = read_study(folder)
    study = _new_study(recorded.plan, storage, name or path.absolute().name)
    study.set_user_attr("weft_run", folder.read_run_file().run_id)
    study.set_user_attr("weft_state", state_of(folder))
    study.add_trials(_frozen(recorded, _times(folder)))
    return study


def read_study(folder: RunFolder) -> RecordedStudy:
    """Rebuild a study from its recorded results; raises InputError for a run of another search."""
    records = [parse_at(line, seq) for seq, line in enumerate(whole_lines(folder.ledger))]
    genesis: dict[str, Any] = records[0].body if records else {"search": "nothing yet"}
    if genesis["search"] != SEARCH:
        raise InputError(
            f"{folder.path} holds {genesis['search']}, not a study",
            hint=f"runs of {SEARCH} can be exported",
        )
    recorded = RecordedStudy(from_json(StudyPlan, from_wire(genesis["config"]["args"]["plan"])))
    rounds: dict[int, list[Result]] = defaultdict(list)
    source = LedgerResults(folder)
    for result in RunResults(folder.path, source, source.rounds()):
        rounds[result.round].append(result)
    inputs = {name: Object(digest) for name, digest in genesis["inputs"].items()}
    _follow(recorded, rounds, inputs)
    return recorded


def _follow(recorded: RecordedStudy, rounds: Rounds, inputs: Mapping[str, Object]) -> None:
    """Send the study the results of each round; of an unfinished round, add them to its trials."""
    plan, log = recorded.plan, recorded.log
    steps, number = study_steps(plan, inputs, log), 0
    try:
        step = next(steps)
        while True:
            results = rounds.get(number, [])
            if isinstance(step, StreamRound):
                log.trials += stream_trials(results, len(plan.spec.directions))
                recorded.keys.update({r.args["number"]: [r.key] for r in results})
                return
            is_ask = step[0].function == ask.name
            for trial, result in zip(() if is_ask else log.alive, results, strict=False):
                recorded.keys[trial.number].append(result.key)
            if len(results) < len(step):
                for trial, result in zip(() if is_ask else log.alive, results, strict=False):
                    trial.take(plan, log.level, result)
                return
            step = steps.send(results)
            number += 1
    except StopIteration:
        return


def _times(folder: RunFolder) -> dict[str, tuple[float, float]]:
    """Return when each task started and ended, by its key; empty without a manifest."""
    try:
        with open_manifest(folder) as manifest:
            rows = manifest.query(
                "SELECT key, started_at, finished_at FROM tasks WHERE finished_at IS NOT NULL"
            )
    except (OSError, StorageFailed, ManifestDamaged):
        return {}
    return {key: (start or end, end) for key, start, end in rows}


def _new_study(plan: StudyPlan, storage: Any, name: str) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with _refused_in_a_line(storage, name):
        return optuna.create_study(
            storage=storage, study_name=name, directions=list(plan.spec.directions)
        )


@contextmanager
def _refused_in_a_line(storage: Any, name: str) -> Iterator[None]:
    try:
        yield
    except optuna.exceptions.DuplicatedStudyError:
        raise InputError(
            f"{storage} already has a study named {name!r}",
            hint="give another name, or delete that study first",
        ) from None
    except Exception as error:  # from any database driver
        reason = " ".join(str(error).split())
        raise InputError(f"{storage}: {reason:.200}", hint="write sqlite:///study.db") from error


def _frozen(recorded: RecordedStudy, times: Mapping[str, tuple[float, float]]) -> list[FrozenTrial]:
    """Return all trials in Optuna's form, by number."""
    plan, log = recorded.plan, recorded.log
    evaluations = len(plan.rungs.levels) if plan.rungs else 1
    under_way = [trial.ended(evaluations) for trial in log.batch]
    trials = frozen_trials(plan.spec, [*log.trials, *under_way])
    for number, trial in enumerate(trials):
        keys = recorded.keys.get(number, [])
        trial.set_user_attr("weft_keys", keys)
        spans = [times[key] for key in keys if key in times]
        if spans:
            trial.datetime_start = datetime.fromtimestamp(spans[0][0])
            trial.datetime_complete = datetime.fromtimestamp(spans[-1][1])
        is_open = number >= len(log.trials) and under_way[number - len(log.trials)].state
        if is_open == "pruned":  # its batch may still promote it
            trial.state = optuna.trial.TrialState.RUNNING
            trial.values, trial.datetime_complete = None, None
    return trials
