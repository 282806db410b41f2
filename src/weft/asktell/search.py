"""The search `optimize`: ask for a batch, evaluate it, tell, until the trials are used up.

It only makes decisions. The optimizer runs in the task `asktell.ask`, whose points are recorded;
see `weft.asktell.optimizers` for how it is rebuilt there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft.asktell import history
from weft.asktell.history import AskStep
from weft.asktell.objective import (
    AnyTask,
    Objective,
    check_parameters,
    load,
    objective_of,
    path_of,
    plain,
    with_code,
)
from weft.asktell.optimizers import ByValue, advance, keep, next_points, revived
from weft.asktell.trials import DIRECTIONS, Direction, TrialRecord, answer, numbers_of
from weft.define import INPUTS, SEED, search, task
from weft.errors import SearchInvalid
from weft.model.codec import Table, from_json, to_json
from weft.model.results import Result
from weft.model.tasks import Milestone, SearchBody, SearchCall
from weft.model.values import Argument, Object, Value

BATCH = 8
"""Default number of trials asked for at a time."""
SEEDS = 2**32
"""Seeds of numerical libraries have 32 bits."""


@task(name="asktell.ask")
def ask(
    optimizer: str, options: Table, direction: str, count: int, state: Object | None,
    told: list[Table], *, seed: int = SEED,
) -> dict[str, Value]:  # fmt: skip
    """Restore the optimizer, tell it the last batch, ask for the next one."""
    steps, ended = history.read(state), history.read_told(told)
    first_seed = (steps[0].seed if steps else seed) % SEEDS
    make = load(optimizer, "optimizer")
    if getattr(make, "is_callback", False):
        trials = [trial for step in steps for trial in step.told] + list(ended)
        worst = float("inf" if direction == "minimize" else "-inf")
        points = next_points(make, trials, worst, options, first_seed)[:count]
        live = None
    else:
        key = state.digest if state else ""
        live = revived(key, steps, lambda: ByValue(make(seed=first_seed, **options)))
        points = advance(live, ended, count)
    step = AskStep(ended, tuple(points), seed, [optimizer, dict(options), direction], state)
    new_state = history.append(steps, step)
    if live is not None:
        keep(new_state.digest, live)
    return {"params": points, "state": new_state}


def _libraries(args: Mapping[str, Argument]) -> tuple[str, ...]:
    names = args.get("libraries") or ()
    assert isinstance(names, Sequence)
    return tuple(str(name) for name in names)


@search(name="asktell.optimize", version=1, libraries=_libraries)
def run_optimize(
    objective: Table, optimizer: str, options: Table, trials: int, batch: int, direction: str,
    fixed: Table, libraries: Sequence[str], *, inputs: Mapping[str, Object] = INPUTS,
) -> SearchBody:  # fmt: skip
    """Decide what to ask and when to stop; `optimize` creates the arguments."""
    del libraries  # bound into the genesis
    evaluated = from_json(Objective, objective)
    log: list[TrialRecord] = []
    yield Milestone("trials", (1, batch) * -(-trials // batch))
    state: Object | None = None
    ended: list[TrialRecord] = []
    while len(log) < trials:
        count = min(batch, trials - len(log))
        records: list[Table] = [to_json(trial) for trial in ended]
        [proposal] = yield [ask(optimizer, options, direction, count, state, records)]
        points: list[dict[str, Value]] = proposal.value["params"]
        if not points:
            break
        results = yield [evaluated.call({**fixed, **inputs, **point}) for point in points]
        ended = [
            ended_trial(len(log) + number, point, result)
            for number, (point, result) in enumerate(zip(points, results, strict=True))
        ]
        log += ended
        state = proposal.value["state"]
    return answer(log, [direction])


def ended_trial(number: int, params: Mapping[str, Value], result: Result) -> TrialRecord:
    """Return the record of a trial that was evaluated once."""
    values = numbers_of(result.value, 1, result.function) if result.ok else None
    if values is None:
        return TrialRecord(number, params, "failed")
    return TrialRecord(number, params, "complete", values)


def optimize(
    objective: AnyTask | str | Mapping[str, Value],
    optimizer: Callable[..., Any] | str,
    *,
    trials: int,
    batch: int | None = None,
    direction: str = "minimize",
    options: Mapping[str, Value] | None = None,
    fixed: Mapping[str, Value] | None = None,
    libraries: Sequence[str] = (),
) -> SearchCall:
    """Search for the best arguments of a task, the `objective`, with any optimizer.

    At most `trials` are evaluated; `direction` is minimize or maximize.

    `optimizer` is created as `optimizer(seed=…, **options)` and has `ask()` and `tell(params,
    value)`, or it is a `@weft.asktell.callback` function. Each batch (8 trials unless `batch` is
    given) is asked for at once and evaluated in parallel; a callback optimizer decides itself how
    many points it needs at a time, up to `batch`. `fixed` are extra arguments of every evaluation;
    inputs of the run are passed by name. `libraries` names the packages whose version can change
    the outcome.
    """
    evaluated, parameters = objective_of(objective)
    check_parameters(evaluated, parameters, fixed or {})
    path, function = path_of(optimizer, "optimizer")
    if batch is None:
        batch = trials if getattr(function, "is_callback", False) else BATCH
    check_counts(trials=trials, batch=batch)
    way = direction_of(direction)
    call = run_optimize(
        plain(evaluated), path, dict(options or {}), trials, min(batch, trials), way,
        dict(fixed or {}), list(libraries),
    )  # fmt: skip
    return with_code(call, evaluated)


optimize.is_search = True  # type: ignore[attr-defined] # marks the function
optimize.search_name = "asktell.optimize"  # type: ignore[attr-defined] # marks the function


def check_counts(**counts: object) -> None:
    """Refuse a value that is not a count of 1 or more."""
    for name, count in counts.items():
        if type(count) is not int or count < 1:
            raise SearchInvalid(f"{name} must be a count of 1 or more, not {count!r}")


def direction_of(word: str) -> Direction:
    """Return the direction that a word names; refuse any other word."""
    for direction in DIRECTIONS:
        if word == direction:
            return direction
    raise SearchInvalid(f"a direction is {' or '.join(map(repr, DIRECTIONS))}, not {word!r:.40}")
