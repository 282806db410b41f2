"""The config file of a tree search: TOML in which every field is checked and known.

Only reads the file; the caller checks that the repository and the ideas exist.
Values given by flags replace those of the file before anything is checked.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from weft.errors import FileInvalid, UsageError
from weft.model.codec import from_json
from weft.model.fields import first_problem
from weft.model.values import JsonValue
from weft.searches.tree.config import (
    APPROVE,
    CHANNEL,
    JUDGING,
    NO_LIMIT_S,
    RESULT_FD,
    STAGES,
    Stage,
    TreeConfig,
)
from weft.searches.tree.ideatables import STRICT, GridTable, MutationTable, Named, ParameterTable
from weft.searches.tree.runfiles import names_harness

MAX_BYTES = 4 * 2**20
PLACEHOLDER = re.compile(
    r"\{(idea_file|worktree|out_dir|result_file|feedback_file|eval_id|seed|python|work_dir|tmp_dir|harness|harness_dir)\}"
)


def _shaped(pattern: str, meaning: str, *, whole: bool = False) -> BeforeValidator:
    """Validate text against a pattern; `whole` also accepts an integer, as its text."""
    shape = re.compile(pattern)

    def check(value: object) -> str:
        is_whole = whole and isinstance(value, int) and not isinstance(value, bool)
        text = str(value) if is_whole else value
        if not isinstance(text, str) or not shape.fullmatch(text):
            raise ValueError(f"must be {meaning}")
        return text

    return BeforeValidator(check)


def _as_list(value: object) -> object:
    """Accept a single text as a list of one."""
    return [value] if isinstance(value, str) else value


SEVERAL = (BeforeValidator(_as_list), Field(min_length=1, max_length=20))
DECIMAL = r"[0-9]{1,30}(\.[0-9]{1,30})?"
NUMBER = "a whole number, or a decimal in quotes such as"
Text = Annotated[str, Field(max_length=100_000, pattern=r"^[^\x00]*$")]
Variable = Annotated[str, _shaped(r"[A-Za-z_][A-Za-z0-9_]{0,199}", "the name of a variable")]
Function = Annotated[
    str, _shaped(r"[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_]*", "module:function")
]
Amount = Annotated[str, _shaped(DECIMAL, f'{NUMBER} "0.5", not negative', whole=True)]
Score = Annotated[str, _shaped(f"-?{DECIMAL}", f'{NUMBER} "-1.5"', whole=True)]
Share = Annotated[
    str, _shaped(r"0(\.[0-9]{1,30})?|1(\.0{1,30})?", 'a share from "0" to "1"', whole=True)
]
Dollars = Annotated[
    str, _shaped(r"[0-9]{1,12}(\.[0-9]{1,12})?", f'{NUMBER} "2.50", not negative', whole=True)
]
AreaName = Annotated[
    str, _shaped(r"[a-z0-9][a-z0-9_-]{0,63}", "a name of up to 64 of a-z, 0-9, - and _")
]
Metric = Annotated[
    str, _shaped(r"(?=.{1,200}\Z)[^\x00.]+(\.[^\x00.]+)*", "the name of a metric, such as time.p99")
]
Revision = Annotated[
    str, _shaped(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,200}", "a branch, a tag or a commit")
]
Seconds = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]


class StageTable(BaseModel):
    """`[propose]`, `[implement]`, `[review]`, `[sweep]` or `[score]`."""

    model_config = STRICT

    argv: list[Text] = []
    shell: Annotated[Text, Field(min_length=1)] | None = None
    recorded: bool = False
    timeout_s: Seconds | None = None
    env: dict[Variable, Text] = {}
    env_from: list[Variable] = []
    format: Literal["weft", "openevolve", "shinka", "evo"] = "weft"
    regex: Annotated[str, Field(min_length=1, max_length=1000)] | None = None
    channel: bool = False
    sandbox: Literal["auto", "required", "off"] | None = None
    network: bool = False
    readable: list[Text] = []
    writable: list[Text] = []

    @field_validator("regex")
    @classmethod
    def _check_regex(cls, text: str | None) -> str | None:
        try:
            groups = re.compile(text or "()").groups
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from None
        if groups != 1:
            raise ValueError("a regex needs exactly one group, which matches the score")
        return text

    @model_validator(mode="after")
    def _check_command(self) -> StageTable:
        if not self.argv and not self.shell and not self.recorded:
            raise ValueError("argv is missing: the command as a list of arguments")
        if self.argv and self.shell:
            raise ValueError("give either argv or shell")
        if RESULT_FD in self.env:
            raise ValueError(f"env: {RESULT_FD} is set by channel = true")
        if self.has_channel and (self.regex or self.format == "shinka"):
            raise ValueError("a result over the channel cannot have a regex or result files")
        placeholder = PLACEHOLDER.search(self.shell or "")
        if placeholder:
            name = placeholder[1].upper()
            raise ValueError(f"{placeholder[0]} cannot be used in shell; write $WEFT_{name}")
        return self

    @property
    def has_channel(self) -> bool:
        """Whether the stage uses a result channel; a command run by the harness always does."""
        words = [*self.argv, self.shell or ""]
        return self.channel or any(names_harness(word) for word in words)

    def to_stage(self, name: str) -> Stage:
        """Return the stage as plain data; by default, judging stages run in a sandbox."""
        argv = ["/bin/sh", "-c", self.shell] if self.shell else self.argv
        env = {**self.env, **(CHANNEL if self.has_channel else {})}
        settings = self.model_dump(exclude_none=True, exclude={"channel"})
        sandbox = self.sandbox or ("auto" if name in JUDGING else "off")
        return from_json(Stage, {**settings, "argv": argv, "env": env, "sandbox": sandbox})


class ObjectiveTable(BaseModel):
    """`[[objectives]]`: a metric of the result to improve in addition to the score."""

    model_config = STRICT

    metric: Metric
    direction: Literal["max", "min"]
    min_gain: Amount | None = None


class ApproveTable(BaseModel):
    """`[approve]`: a person decides."""

    model_config = STRICT

    before: Literal["score", "promotion"] = "promotion"
    timeout_s: Seconds | None = None
    recorded: bool = False

    def to_stage(self) -> Stage:
        """Return the stage: a built-in command that waits for the decision."""
        argv = ("{python}", "-I", "{approval}", "{decision_file}")
        return Stage(argv, self.timeout_s or NO_LIMIT_S, recorded=self.recorded)


class TreeFile(BaseModel):
    """The whole file."""

    model_config = STRICT

    repo: Named | None = None
    files: Annotated[list[Named], *SEVERAL] | None = None
    revision: Annotated[list[Revision], *SEVERAL] = ["HEAD"]
    submodules: Literal["refuse", "empty"] = "refuse"
    ideas: Named | None = None
    parameters: list[ParameterTable] = []
    grids: list[GridTable] = []
    mutations: list[MutationTable] = []
    protected: list[Named] = []
    harness: list[Named] = []
    direction: Literal["max", "min"]
    beam_width: Annotated[int, Field(ge=1, le=10_000)] = 3
    ideas_per_node: Annotated[int, Field(ge=1, le=100_000)] = 1000
    max_depth: Annotated[int, Field(ge=1, le=1000)] = 3
    max_total_evals: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    eval_retries: Annotated[int, Field(ge=0, le=100)] = 0
    eval_timeout_seconds: Seconds = 600.0
    memory_mb: Annotated[int, Field(ge=1, le=2**40)] | None = None
    strict_fail_depth: bool = False
    stop_on_empty_frontier: bool = True
    dedupe_scope: Literal["node", "ancestors", "global", "none"] = "ancestors"
    root_repeats: Annotated[int, Field(ge=1, le=1000)] = 1
    repeats: Annotated[int, Field(ge=1, le=999)] = 1
    merge: Literal["three-way", "off"] = "three-way"
    min_gain: Amount | None = None
    min_relative_gain: Share | None = None
    equal_siblings: Literal["once", "all"] = "once"
    max_children_per_parent: Annotated[int, Field(ge=1, le=10_000)] | None = None
    novelty: Literal["off", "files"] = "off"
    objectives: Annotated[list[ObjectiveTable], Field(max_length=20)] = []
    target_score: Score | None = None
    patience: Annotated[int, Field(ge=1, le=1000)] | None = None
    review_rounds: Annotated[int, Field(ge=1, le=20)] = 1
    max_usd: Dollars | None = None
    max_tokens: Annotated[int, Field(ge=1, le=10**15)] | None = None
    memory: Literal["off", "replay"] = "off"
    memory_turns: Annotated[int, Field(ge=1, le=10_000)] = 20
    memory_chars: Annotated[int, Field(ge=1, le=10_000_000)] = 20_000
    area: AreaName | None = None
    feed_index: bool = False
    recorded_from: Named | None = None
    gate: Function | None = None
    rank: Function | None = None
    deterministic: bool = False
    seed: Annotated[int, Field(ge=0, le=2**63)] = 0
    max_parallel_evals: Annotated[int, Field(ge=1, le=4096)] = 1
    max_parallel_per_node: Annotated[int, Field(ge=1, le=4096)] | None = None
    parallel_backend: Literal["serial", "local", "threadpool", "ray"] = "local"
    propose: StageTable | None = None
    implement: StageTable | None = None
    review: StageTable | None = None
    approve: ApproveTable | None = None
    sweep: StageTable | None = None
    score: StageTable

    @model_validator(mode="after")
    def _check_together(self) -> TreeFile:
        sources = (self.ideas, self.parameters, self.grids, self.mutations, self.propose)
        are_recorded = [table is not None and table.recorded for table in (self.sweep, self.score)]
        tables = (self.propose, self.implement, self.review, self.approve)
        recorded = any(table is not None and table.recorded for table in tables)
        asks_person = self.approve is not None and not self.approve.recorded
        serial = self.parallel_backend == "serial"
        online = [name for name in JUDGING if (table := getattr(self, name)) and table.network]
        problems = (
            ((self.repo is None) is (self.files is None), "give repo or files, one of them"),
            (self.files and self.revision != ["HEAD"], "revision is for repo; files have none"),
            (not any(sources), "give ideas, parameters, grids, mutations or propose"),
            (self.score.env_from, "score.env_from: the scorer gets no secrets"),
            (online, f"{''.join(online[:1])}.network: what is scored gets no network; for agents"),
            (self.feed_index and not self.area, "feed_index needs area, the name of the index"),
            (any(are_recorded),
             "recorded is for propose, implement, review and approve, not for scores"),
            (recorded is not (self.recorded_from is not None),
             "recorded = true and recorded_from, the run, belong together"),
            (asks_person and self.parallel_backend == "ray",
             "[approve] waits in the run's folder, which the machines of ray do not have"),
            (serial and self.max_parallel_evals > 1,
             "parallel_backend serial and max_parallel_evals above 1 contradict"),
            (self.review_rounds > 1 and not self.review, "review_rounds needs [review]"),
            (self.repeats % 2 == 0,
             "repeats: an odd number from 1 to 999, so that the median is one of the scores"),
            (len({o.metric for o in self.objectives}) < len(self.objectives),
             "objectives: a metric is given twice"),
        )  # fmt: skip
        for is_there, problem in problems:
            if is_there:
                raise ValueError(problem)
        return self

    @property
    def backend(self) -> str:
        """The engine's name for the backend; `threadpool` is an alias of `local`."""
        return "local" if self.parallel_backend == "threadpool" else self.parallel_backend

    def to_config(self, *, dry_run: bool) -> TreeConfig:
        """Return the settings that decide the outcome, as plain data."""
        tables = {name: getattr(self, name) for name in STAGES}
        stages = {name: table.to_stage(name) for name, table in tables.items() if table is not None}
        if self.approve is not None:
            stages[APPROVE] = self.approve.to_stage()
        settings = self.model_dump(exclude_none=True, exclude={"mutations"})
        config = from_json(TreeConfig, {**settings, "stages": {}})
        return replace(
            config,
            stages={"implement": Stage()} | stages,
            eval_timeout_s=float(self.eval_timeout_seconds),
            protected=tuple(p.rstrip("/") for p in self.protected),
            mutations=tuple(table.to_mutation() for table in self.mutations),
            objectives=() if dry_run else config.objectives,
            approve_before="" if self.approve is None else self.approve.before,
            dry_run=dry_run,
        )


@dataclass(frozen=True, slots=True)
class Override:
    """A value that replaces that of the file before anything is checked."""

    name: str
    """Name of the field, dotted within a table."""
    value: JsonValue

    @property
    def flag(self) -> str:
        """The flag that sets it: the field's own flag, or --set."""
        own = "--" + self.name.replace("_", "-")
        return own if self.name in FLAGS else f"--set {self.name}"


def read_config(path: Path, overrides: Sequence[Override] = ()) -> TreeFile:
    """Read and check a config, with `overrides` replacing the file's values.

    Raises FileInvalid, which names file and field, or UsageError, which names the flag.
    """
    by_name = _by_name(overrides)
    raw = _toml(path)
    for override in overrides:
        _put(raw, override)
    try:
        return TreeFile.model_validate(raw)
    except ValidationError as error:
        where, problem = first_problem(error)
    hint = _nearest(where) if problem == "unknown field" else ""
    if where in by_name:
        raise UsageError(
            f"{by_name[where].flag} {by_name[where].value!r:.80}: {problem}", hint=hint
        )
    flags = [override.flag for override in overrides if override.name in problem]
    if not where and flags:
        raise UsageError(f"{', '.join(flags)}: {problem}")
    raise FileInvalid(f"{path}: {where}: {problem}" if where else f"{path}: {problem}", hint=hint)


def _nearest(field: str) -> str:
    """Suggest the field, or its place, that the user may have meant."""
    table, _, name = field.rpartition(".")
    if table and name in TreeFile.model_fields:
        return f"{name} belongs to no table: write it above the first [table]"
    known = StageTable.model_fields if table else TreeFile.model_fields
    near = difflib.get_close_matches(name, known, 1)
    return f"did you mean {table}{'.' if table else ''}{near[0]}?" if near else ""


def _by_name(overrides: Sequence[Override]) -> dict[str, Override]:
    by_name: dict[str, Override] = {}
    for override in overrides:
        if by_name.setdefault(override.name, override) is not override:
            raise UsageError(f"{override.name} is given twice")
    return by_name


def parse_setting(text: str) -> Override:
    """Parse `--set NAME=VALUE`, where the value is in TOML syntax."""
    name, separator, value = text.partition("=")
    if not separator or not re.fullmatch(r"[a-z_]+(\.[a-z_]+)?", name):
        raise UsageError(f"--set {text[:80]!r} is not NAME=VALUE", hint="--set score.timeout_s=5")
    try:
        return Override(name, tomllib.loads(f"x = {value}")["x"])
    except (tomllib.TOMLDecodeError, RecursionError):
        raise UsageError(
            f"--set {text[:80]!r}: the value is not valid TOML",
            hint="text needs quotes: --set 'direction=\"min\"'",
        ) from None


FLAGS = (
    "beam_width", "ideas_per_node", "max_depth", "max_total_evals", "eval_retries",
    "eval_timeout_seconds", "dedupe_scope", "root_repeats", "review_rounds", "strict_fail_depth",
    "stop_on_empty_frontier", "memory", "area", "feed_index", "max_parallel_evals",
    "max_parallel_per_node", "parallel_backend",
)  # fmt: skip
"""Fields with their own flag."""


def _put(raw: dict[str, JsonValue], override: Override) -> None:
    table, _, last = override.name.rpartition(".")
    place = raw.setdefault(table, {}) if table else raw
    if not isinstance(place, dict):
        raise UsageError(f"--set {override.name}: {table} is not a table")
    place[last] = override.value


def _toml(path: Path) -> dict[str, JsonValue]:
    try:
        if not path.is_file():
            what = "is not a regular file" if path.exists() else "does not exist"
            raise FileInvalid(f"config {path} {what}", hint="weft tree init DIR writes one")
        if path.stat().st_size > MAX_BYTES:
            raise FileInvalid(f"{path}: larger than {MAX_BYTES:,} bytes")
        table = tomllib.loads(path.read_bytes().decode())
        if not table:
            raise FileInvalid(f"config {path} is empty", hint="weft tree init DIR writes one")
        return table
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FileInvalid(f"{path}: {' '.join(str(error).split())[:300]}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileInvalid(f"config {str(path)[:200]!r}: {reason}") from None
