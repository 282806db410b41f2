"""The faults that Weft must tolerate, and the tests that inject them.

A row names tests by path, or by path and name without parameters. Tests marked `slow` that no row
names are also tried, under the name of their area.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from campaigns.bugs import CONTROL_CASE, CONTROL_PARTS, PREFIX, bug_of


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of fault: its description, its tests, and tests proving that these can fail."""

    name: str
    fault: str
    tests: tuple[str, ...]
    planted: tuple[str, ...] = ()
    """Tests that plant a bug and assert that the row's check notices it."""
    parts: dict[str, int] = field(default_factory=dict)
    """Number of cases into which a test is divided; each takes every n-th of its points or seeds.

    Each set of its parameters is a separate case, even with 1."""
    shared: dict[str, int] = field(default_factory=dict)
    """Number of cases among which a test's parameter sets are dealt; each takes every n-th set."""
    whole: tuple[str, ...] = ()
    """Files that are one case each: their tests share a run or a cluster that is slow to create."""
    code: tuple[str, ...] = ()
    """Prefixes of the paths, below src/weft, of all code that its tests exercise; by default the
    engine and the searches that a test names."""

    def owns(self, test: str) -> bool:
        """Whether the row names a test, given by path and name without parameters."""
        path = test.partition("::")[0]
        return any(name in (path, test) for name in (*self.tests, *self.planted))


KILL_POINTS = "tests/faults/test_kill_points.py"
IO_ERRORS = "tests/faults/test_io_errors.py"
SIMULATOR = "tests/testing/test_simulator.py"
CORRUPTION = "tests/faults/test_corruption.py"
FUZZING = "tests/faults/test_fuzzing.py"
EXHAUSTION = "tests/faults/test_exhaustion.py"
CAMPAIGNS = "tests/test_campaigns.py"
MANIFEST_DAMAGE = "tests/inspect/test_manifest_damage.py"
LEDGER_DAMAGE = "tests/inspect/test_ledger_damage.py"
TOO_LITTLE = f"{EXHAUSTION}::test_run_with_too_little_stops_with_its_reason_and_resumes"
NO_PROCESS = f"{EXHAUSTION}::test_run_that_may_start_no_process_stops_with_its_reason_and_resumes"
EVERY_CALL = f"{KILL_POINTS}::test_coordinator_killed_at_every_call_resumes_to_the_same_ledger"
EVERY_FILE = (
    f"{KILL_POINTS}::test_coordinator_killed_at_a_write_of_each_file_resumes_to_the_same_ledger"
)
EVERY_RECOVERY = (
    f"{KILL_POINTS}::test_recovery_killed_again_at_every_call_resumes_to_the_same_ledger"
)
FIRST_RECOVERY = (
    f"{KILL_POINTS}::test_recovery_killed_at_its_first_calls_resumes_to_the_same_ledger"
)
EVERY_ERROR = f"{IO_ERRORS}::test_every_call_that_fails_stops_the_run_with_its_reason_and_resumes"
VERDICT = "tests/searches/arc/test_verdict.py"
AMBIGUOUS = "test_different_outputs_are_ambiguous_with_a_witness_each"
EVERY_SYNC = f"{IO_ERRORS}::test_sync_that_fails_stops_the_run_with_its_reason_and_resumes"
EVERY_SEED = f"{SIMULATOR}::test_simulator_hundred_thousand_seeds_no_violation"

RAY_KILLS = "tests/ray/test_kills.py"
RAY_KILLED = (
    f"{RAY_KILLS}::test_coordinator_of_a_cluster_killed_at_sampled_calls_resumes_to_the_same_ledger"
)
RAY_RECOVERY = (
    f"{RAY_KILLS}::test_recovery_on_a_cluster_killed_at_its_first_calls_resumes_to_the_same_ledger"
)
RAY_ERROR = (
    f"{RAY_KILLS}::test_call_that_fails_stops_a_run_on_a_cluster_with_its_reason_and_resumes"
)
RAY_HEAD = (
    "tests/ray/test_intruder.py"
    "::test_loss_of_the_head_ends_a_run_with_75_and_resume_gives_the_same_ledger"
)
RAY_FILES = (
    "tests/ray/test_faults.py", "tests/ray/test_nodes.py", "tests/ray/test_paid.py",
    "tests/ray/test_parts.py",
)  # fmt: skip
PRNG = "tests/searches/prng"
PIPELINE_FILES = (f"{PRNG}/pipeline/test_runs.py", f"{PRNG}/pipeline/test_training.py")
PLANTED_GRIDS = {
    f"{PRNG}/test_attack_brute.py::test_seed_planted_in_a_family_is_found_in_its_unit": 4,
    f"{PRNG}/test_attack_lanes.py::test_family_planted_in_the_grid_is_found": 24,
    f"{PRNG}/test_attack_lattice.py::test_family_planted_in_the_grid_is_found": 8,
    f"{PRNG}/test_attack_lattice.py::test_java_odd_bound_planted_in_the_grid_is_found": 2,
    f"{PRNG}/test_attack_likely.py::test_every_family_planted_in_the_grid_is_found": 12,
    f"{PRNG}/test_attack_linear_rejection.py"
    "::test_state_of_randrange_over_the_coverage_is_found": 9,
    f"{PRNG}/test_attack_linear_twister.py::test_planted_state_of_any_modulus_is_found_or_a_gap": 8,
    f"{PRNG}/test_attack_linear_twister.py::test_planted_state_over_the_coverage_is_found": 28,
    f"{PRNG}/test_attack_linear_words.py::test_planted_state_over_the_coverage_is_found": 3,
}
"""Number of cases for the parameters of each; a case takes about a minute."""
FRESH_ZOO = {
    f"{PRNG}/zoo/test_zoo.py::test_history_made_afresh_is_found_and_predicted": 40,
}
"""The same; a case has three histories, which take seconds to minutes on many cores."""

SEARCH_PARTS = {
    EVERY_CALL: {"arc": 8, "jobs": 100, "prng": 10, "tree": 50},
    EVERY_RECOVERY: {"arc": 12, "jobs": 6, "prng": 18, "tree": 12},
    EVERY_ERROR: {"arc": 24, "jobs": 14, "prng": 32, "tree": 32},
}
"""Number of cases of each test on a shipped search; a case takes half a minute."""
PLACES = {**{name: f"`weft {name}`" for name in ("arc", "jobs", "prng", "tree")},
          "ray": "a Ray cluster"}  # fmt: skip
"""Searches and places with a separate line in each row, where a test's parameter names them."""

ROWS = (
    Row(
        "F1", "SIGKILL of the coordinator at every state-changing system call",
        (EVERY_CALL, EVERY_FILE, RAY_KILLED, "tests/faults/test_random_kills.py",
         "tests/searches/tree/test_kills.py", "tests/searches/tree/test_tomlish.py",
         "tests/workers/test_paid_commands.py"),
        planted=("tests/faults/test_checker.py",),
        parts={EVERY_CALL: 20, EVERY_FILE: 1, RAY_KILLED: 1},
    ),
    Row(
        "F1b", "power loss: unsynced writes dropped at every point",
        ("tests/faults/test_power_loss.py",),
        planted=("tests/faults/test_power_loss.py"
                 "::test_power_loss_of_an_engine_that_never_syncs_is_noticed",),
    ),
    Row(
        "F2", "a second SIGKILL at every system call of the recovery",
        (EVERY_RECOVERY, FIRST_RECOVERY, RAY_RECOVERY), planted=("tests/faults/test_checker.py",),
        parts={EVERY_RECOVERY: 40, FIRST_RECOVERY: 1, RAY_RECOVERY: 1},
    ),
    Row(
        "F3", "EIO, ENOSPC, EROFS, EINTR and short writes at every such call",
        (IO_ERRORS, RAY_ERROR), planted=("tests/faults/test_checker.py",),
        parts={EVERY_ERROR: 40, EVERY_SYNC: 1, RAY_ERROR: 1},
    ),
    Row(
        "F4", "simulated workers, clocks, crashes and torn writes, by seed",
        (SIMULATOR,),
        planted=tuple(f"{SIMULATOR}::test_simulator_planted_{bug}" for bug in (
            "arrival_order_is_noticed", "lost_result_is_noticed",
            "ledger_before_manifest_is_noticed", "late_result_taken_is_noticed",
            "object_not_adopted_is_noticed", "forgotten_results_are_noticed",
            "values_of_a_block_in_other_places_are_noticed", "block_with_a_gap_is_noticed",
            "block_committed_in_part_is_noticed",
        )),
        parts={EVERY_SEED: 400},
        code=("coordinator/", "define/", "errors.py", "ledger/", "model/", "runs/opening.py",
              "runs/session.py", "storage/", "testing/"),
    ),
    Row(
        "F5", "one ledger for all workers, placements, completion orders and hash seeds",
        ("tests/workers/test_parity.py", "tests/searches/tree/test_parity.py",
         "tests/searches/prng/pipeline/test_parity.py"),
        planted=("tests/workers/test_parity.py::test_recording_in_arrival_order_is_noticed",),
    ),
    Row("F6", "workers killed from outside", ("tests/workers/test_killed.py",)),
    Row("F7", "damage to the ledger of a finished run", (LEDGER_DAMAGE,),
        parts={f"{LEDGER_DAMAGE}::test_every_bit_of_the_first_kilobytes_is_found": 16}),
    Row("F8", "a damaged, missing or older manifest", (MANIFEST_DAMAGE,),
        parts={f"{MANIFEST_DAMAGE}::test_flipped_bytes_are_found_or_harmless": 8}),
    Row("F9", "a full disk", ("tests/workers/test_disk_full.py",)),
    Row("F10", "a worker out of memory", ("tests/workers/test_limits.py",)),
    Row("F11", "hung workers and what they started", ("tests/workers/test_no_orphans.py",)),
    Row(
        "F12", "clocks that jump", ("tests/workers/test_clock.py",),
        planted=("tests/workers/test_clock.py::test_limits_by_the_wall_clock_are_noticed",),
    ),
    Row("F13", "two coordinators of one run", ("tests/faults/test_two_coordinators.py",)),
    Row(
        "F14", "any bytes for every reader of foreign files", (FUZZING,),
        planted=(f"{FUZZING}::test_fuzzer_finds_a_planted_crash",),
        parts={f"{FUZZING}::test_reader_fed_with_anything_reads_or_refuses": 1},
    ),
    Row("F15", "hostile files and arguments",
        ("tests/cli/test_bad_input.py", "tests/cli/test_planted.py")),
    Row("F16", "commands hidden in names and settings", ("tests/workers/test_injection.py",)),
    Row("F17", "hostile git repositories", ("tests/searches/tree/test_hostile.py",)),
    Row("F18", "code hidden in data", ("tests/test_purity.py",)),
    Row("F19", "hostile visitors of the live page", ("tests/inspect/serve/test_guard.py",
                                                     "tests/inspect/serve/test_fuzz.py")),
    Row("F20", "ledgers of every released format", ("tests/inspect/test_golden.py",)),
    Row("F21", "a million tasks: `python -m benchmarks big`", (),
        planted=(f"{CAMPAIGNS}"
                 "::test_million_tasks_with_a_memory_that_grows_or_a_slow_verify_is_noticed",)),
    Row("F22", "changes of the core's code: `python -m campaigns.mutation`", (),
        planted=(f"{CAMPAIGNS}::test_tests_that_notice_too_few_changes_are_noticed",)),
    Row("F23", "missing, unverified and ambiguous results are never printed as certain",
        ("tests/searches/arc/test_ambiguous.py", f"{VERDICT}::{AMBIGUOUS}",
         "tests/searches/prng/test_claims.py")),
    Row("F24", "a coordinator stopped for longer than any limit of its tasks",
        ("tests/faults/test_stopped_coordinator.py",)),
    Row("F25", "too few descriptors or processes, too little memory",
        (EXHAUSTION,), parts={TOO_LITTLE: 5, NO_PROCESS: 4}),
    Row("F26", "workers that lie", ("tests/faults/test_lying_worker.py",)),
    Row("F27", "random damage to every file of a run", ("tests/faults/test_corruption.py",),
        planted=(f"{CORRUPTION}::test_reader_that_fails_in_another_way_is_noticed",),
        parts={f"{CORRUPTION}::test_damaged_file_is_refused_or_changes_nothing": 10}),
    Row("F28", "two machines on one shared folder", ("tests/faults/test_two_machines.py",)),
    Row("F29", "nodes, connections and objects lost with Ray and SSH",
        (*RAY_FILES, RAY_HEAD), whole=RAY_FILES),
    Row("F30", "generators planted over the grid of families, skips, starts and wrong draws; "
        "histories that real runtimes make afresh",
        (*PLANTED_GRIDS, *FRESH_ZOO), shared=PLANTED_GRIDS | FRESH_ZOO,
        code=("compiled.py", *(f"searches/prng/{name}" for name in (
            "attack", "famil", "forms", "gf2", "hypothesis", "kernels/", "linear", "origins",
            "planning", "rounds", "scoring", "search", "verdict", "words",
        )))),
    Row("F31", "signals and noise planted for the pipeline",
        PIPELINE_FILES, whole=PIPELINE_FILES),
)  # fmt: skip


def row_of(test: str) -> str:
    """Return the name of a test's row, or of its area if no row names it."""
    if bug := bug_of(test):
        return bug.row
    test = test.partition("[")[0]
    for row in ROWS:
        if row.owns(test):
            return row.name
    folders = test.partition("::")[0].split("/")
    return folders[2] if folders[1] == "searches" else folders[1].removesuffix(".py")


def parts_of(test: str) -> int:
    """Return the number of cases into which a test, or one set of its parameters, is divided."""
    if test == CONTROL_CASE:
        return CONTROL_PARTS
    test, _, parameter = test.partition("[")
    if count := SEARCH_PARTS.get(test, {}).get(parameter.rstrip("]")):
        return count
    counts = [row.parts | row.shared for row in ROWS]
    return next((count[test] for count in counts if test in count), 1)


def case_name(test: str) -> str:
    """Return the name of a test's case: the test itself, or its whole file."""
    path = test.partition("::")[0]
    return path if any(path in row.whole for row in ROWS) else test


def is_divided(test: str) -> bool:
    """Whether each set of a test's parameters is a separate case."""
    return any(test in row.parts for row in ROWS)


def is_shared(test: str) -> bool:
    """Whether the sets of a test's parameters are dealt to several cases."""
    return any(test in row.shared for row in ROWS)


def is_planted(test: str) -> bool:
    """Whether a test or case plants a bug that must be noticed."""
    if test.startswith(PREFIX):
        return test != CONTROL_CASE
    test = test.partition("[")[0]
    path = test.partition("::")[0]
    return any(name in row.planted for row in ROWS for name in (test, path))
