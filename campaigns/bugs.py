"""Planted bugs that check whether their row notices them: one or two per row.

A bug is a change to one source file, and one quick test of its row that must then fail.
`campaigns.planting` makes the change in a copy of the checkout; Weft never imports this module. The
case `unchanged` runs all these tests in a copy without a bug, where they must pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

PREFIX = "campaigns/bugs.py::"
"""Prefix of the names of cases that plant a bug."""
CONTROL = "unchanged"
CONTROL_PARTS = 8
CONTROL_CASE = PREFIX + CONTROL


@dataclass(frozen=True, slots=True)
class Bug:
    """A change to the source, and the test that must notice it."""

    row: str
    name: str
    what: str
    """Description of the bug, for the page."""
    path: str
    old: str
    """Text to replace; must be in the file exactly once."""
    new: str
    test: str

    @property
    def case(self) -> str:
        """The name of its case."""
        return PREFIX + self.name


KILLS = "tests/faults/test_kill_points.py::test_"
SERVE = "tests/inspect/serve/test_guard.py::test_"
BUGS_OF_ROWS = (
    Bug(
        "F1", "replaced-in-place", "files are replaced in place, not by a rename",
        "src/weft/storage/disk.py",
        'temporary = path.with_name(path.name + ".tmp")', "temporary = path",
        KILLS + "coordinator_killed_at_a_write_of_each_file_resumes_to_the_same_ledger[shuttle]",
    ),
    Bug(
        "F1b", "folder-not-synced", "a renamed file is not made durable in its folder",
        "src/weft/storage/disk.py",
        "source.replace(target)\n        self.sync_folder(target.parent)",
        "source.replace(target)",
        "tests/faults/test_power_loss.py"
        "::test_power_loss_that_drops_all_unsynced_writes_loses_nothing_reported[12]",
    ),
    Bug(
        "F2", "recovery-counts-ahead", "recovery writes its checkpoint before what that counts",
        "src/weft/runs/opening.py",
        "        writer.ledger.append(state.pending)\n",
        "        ahead = Checkpoint(writer.origin, state.chain.size, state.chain.root())\n"
        "        place.disk.replace(folder.checkpoint, ahead.to_text().encode())\n"
        "        writer.ledger.append(state.pending)\n",
        KILLS + "recovery_killed_at_its_first_calls_resumes_to_the_same_ledger[shuttle]",
    ),
    Bug(
        "F3", "sync-error-ignored", "a failed sync of the ledger is ignored",
        "src/weft/storage/disk.py",
        "        os.fdatasync(fd)\n",
        "        try:\n            os.fdatasync(fd)\n        except OSError:\n            pass\n",
        "tests/faults/test_io_errors.py"
        "::test_sync_that_fails_stops_the_run_with_its_reason_and_resumes[shuttle]",
    ),
    Bug(
        "F4", "failed-run-again", "after a crash tasks that had failed are run again",
        "src/weft/coordinator/journal.py",
        "            if old.state in FINAL:\n", '            if old.state == "completed":\n',
        "tests/testing/test_simulator.py::test_simulator_seeds_no_violation[15-125]",
    ),
    Bug(
        "F5", "judged-on-arrival", "results are judged in the order in which they arrive",
        "src/weft/coordinator/lane.py",
        "        while not self.closed and self.recorded in self.waiting:\n"
        "            result = self.waiting.pop(self.recorded)\n",
        "        while not self.closed and self.waiting:\n"
        "            result = self.waiting.pop(next(iter(self.waiting)))\n",
        "tests/workers/test_parity.py"
        "::test_same_ledger_for_all_workers_placements_and_hash_seeds",
    ),
    Bug(
        "F6", "kill-charged", "a task is charged for a worker that was killed from outside",
        "src/weft/backends/process.py",
        "return code < 0 and -code not in CRASHES", "return False",
        "tests/workers/test_killed.py::test_workers_killed_from_outside_cost_no_task_anything[60]",
    ),
    Bug(
        "F7", "chain-not-compared", "verify does not compare `prev_hash` with the line before",
        "src/weft/ledger/chain.py",
        "if record.prev_hash != prev_hash:", "if not record.prev_hash:",
        "tests/inspect/test_ledger_damage.py"
        "::test_a_bit_of_each_record_is_found_there_or_at_the_next",
    ),
    Bug(
        "F7", "root-not-compared", "verify does not compare the root with the checkpoint",
        "src/weft/ledger/chain.py",
        "if root != checkpoint.root:", "if not root:",
        "tests/inspect/test_ledger_damage.py::test_every_byte_of_the_last_record_is_found",
    ),
    Bug(
        "F8", "older-manifest-believed", "a manifest that is older than the ledger is believed",
        "src/weft/inspect/verify.py",
        "if reconciled.behind and self.finished:", "if reconciled.behind and not self.finished:",
        "tests/inspect/test_manifest_damage.py"
        "::test_an_older_manifest_of_a_finished_run_is_found",
    ),
    Bug(
        "F9", "full-disk-charged", "a full disk counts as the failure of the command",
        "src/weft/worker/space.py",
        '        return self._now() or next(filter(None, during), "") or next(probes, "") or (\n'
        "            _reported_shortage(error, words)\n        )  # fmt: skip\n",
        '        return ""\n',
        "tests/workers/test_disk_full.py::test_command_that_ran_out_of_room_where_it_works_is_lost",
    ),
    Bug(
        "F10", "memory-misnamed", "a task without memory fails as any exception does",
        "src/weft/worker/execute.py",
        '_fault("out-of-memory", around, error)', '_fault("exception", around, error)',
        "tests/workers/test_limits.py::test_task_over_its_memory_fails_and_its_worker_lives_on[0]",
    ),
    Bug(
        "F11", "grandchildren-left", "only the process group of a command is killed",
        "src/weft/worker/supervisor.py",
        "        while self._reap():\n            signal_all(signal.SIGKILL)\n"
        "            self._await_child(KILL_AGAIN_S)\n",
        "        while self._status is None:\n"
        "            with contextlib.suppress(ProcessLookupError):\n"
        "                os.killpg(self._main, signal.SIGKILL)\n"
        "            self._await_child(KILL_AGAIN_S)\n            self._reap()\n",
        "tests/workers/test_no_orphans.py"
        "::test_processes_left_by_a_command_are_gone_before_the_next_begins",
    ),
    Bug(
        "F12", "wall-clock", "time limits follow the clock that can be set",
        "src/weft/runs/world.py",
        "return time.monotonic()", "return time.time()",
        "tests/workers/test_clock.py::test_limits_follow_the_clock_that_does_not_jump",
    ),
    Bug(
        "F13", "no-lock", "the lock of a run lets everybody in",
        "src/weft/storage/folder.py",
        "fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)", "fcntl.flock(lock, fcntl.LOCK_UN)",
        "tests/faults/test_two_coordinators.py"
        "::test_two_coordinators_at_once_exactly_one_runs_and_is_named[4]",
    ),
    Bug(
        "F14", "reader-trips", "a file of draws that is not UTF-8 raises UnicodeDecodeError",
        "src/weft/searches/prng/history.py",
        "    except UnicodeDecodeError as error:\n", "    except UnicodeEncodeError as error:\n",
        "tests/faults/test_fuzzing.py::test_reader_fed_with_anything_reads_or_refuses[draws]",
    ),
    Bug(
        "F15", "links-followed", "symbolic links in a run folder are followed",
        "src/weft/storage/plainfile.py",
        '    stat.S_IFLNK: "a symbolic link",\n', "",
        "tests/cli/test_planted.py::test_every_command_refuses_a_planted_link",
    ),
    Bug(
        "F15", "keys-repeated", "a JSON object may give a key twice",
        "src/weft/model/strictjson.py",
        "if len(fields) != len(pairs):", "if len(fields) > len(pairs):",
        "tests/cli/test_bad_input.py::test_args_bad_is_refused",
    ),
    Bug(
        "F16", "shell", "commands are run by a shell",
        "src/weft/worker/supervisor.py",
        '_execute([*words, *spec["argv"]], spec["env"])',
        '_execute([*words, "sh", "-c", " ".join(spec["argv"])], spec["env"])',
        "tests/workers/test_injection.py::test_hostile_words_arrive_as_they_are",
    ),
    Bug(
        "F17", "hooks-run", "hooks of the repository are run",
        "src/weft/searches/tree/slot/git.py",
        '"core.hooksPath=/dev/null", ', "",
        "tests/searches/tree/test_hostile.py::test_hostile_repository_runs_nothing_of_its_own",
    ),
    Bug(
        "F18", "pickle", "values are read with pickle",
        "src/weft/model/codec.py",
        "from __future__ import annotations\n",
        "from __future__ import annotations\n\nimport pickle\n",
        "tests/test_purity.py::test_all_sources_are_free_of_pickle_shell_and_eval",
    ),
    Bug(
        "F19", "any-host", "the live page answers under any name (DNS rebinding)",
        "src/weft/inspect/serve/guard.py",
        'if not _is_one_of(headers.getlist("host"), self.hosts, needed=True):',
        'if not headers.getlist("host"):',
        SERVE + "foreign_host_gives_nothing",
    ),
    Bug(
        "F19", "any-token", "the live page takes any token",
        "src/weft/inspect/serve/guard.py",
        'return hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())',
        "return bool(token)",
        SERVE + "wrong_token_beside_a_good_cookie_is_refused",
    ),
    Bug(
        "F20", "format-changed", "a record has one field more, and the format its old number",
        "src/weft/storage/projection.py",
        ',"stopped":{stopped},"tasks":{size}}}',
        ',"stopped":{stopped},"tasks":{size},"width":0}}',
        "tests/inspect/test_golden.py::test_the_engine_example_writes_the_golden_ledger",
    ),
    Bug(
        "F23", "ambiguous-answered", "an answer that another rule contradicts is given",
        "src/weft/searches/arc/verdict.py",
        "return Outcome.SOLVED if weighing.is_clear(needed) else Outcome.AMBIGUOUS",
        "return Outcome.SOLVED",
        "tests/searches/arc/test_verdict.py"
        "::test_different_outputs_are_ambiguous_with_a_witness_each",
    ),
    Bug(
        "F23", "partial-certain", "a generator that explains half of the draws counts as found",
        "src/weft/searches/prng/verdict.py",
        "return is_confirmed(ranked, request) and ranked[0].explains(request.corrupt_percent)",
        "return is_confirmed(ranked, request)",
        "tests/searches/prng/test_claims.py"
        "::test_half_of_the_draws_explained_is_a_partial_signal_with_its_share",
    ),
    Bug(
        "F24", "stop-charged", "limits are judged before the results that came in meanwhile",
        "src/weft/coordinator/loop.py",
        "        now_s = self._now_s = self.clock.monotonic()\n        for event in events:\n",
        "        now_s = self._now_s = self.clock.monotonic()\n"
        "        self._execute(self.machine.expire(now_s))\n        for event in events:\n",
        "tests/faults/test_stopped_coordinator.py::test_stopped_coordinator_charges_no_task[1]",
    ),
    Bug(
        "F25", "shortage-misreported", "a shortage of descriptors is reported as damage",
        "src/weft/runs/diskerrors.py",
        'raise StorageFailed(f"{path}: {short}{error.strerror or error}"',
        'raise ManifestDamaged(f"{path}: {short}{error.strerror or error}"',
        "tests/faults/test_exhaustion.py"
        "::test_run_with_too_little_stops_with_its_reason_and_resumes[2-NOFILE]",
    ),
    Bug(
        "F26", "tickets-not-compared", "results for tasks that a worker does not hold are taken",
        "src/weft/backends/protocol.py",
        "        and all(map(held.__contains__, range(ticket, ticket + len(values))))\n", "",
        "tests/faults/test_lying_worker.py"
        "::test_lie_is_not_believed_and_changes_no_record[foreign-ticket]",
    ),
    Bug(
        "F27", "objects-not-compared", "objects are read without comparing them with their names",
        "src/weft/storage/objects.py",
        "        if actual.hexdigest() != digest:\n", "        if not actual.digest():\n",
        "tests/faults/test_corruption.py"
        "::test_damaged_file_is_refused_or_changes_nothing[30-objects]",
    ),
    Bug(
        "F28", "host-not-compared", "the process that holds a run is looked for on this machine",
        "src/weft/storage/folder.py",
        'if owner and (owner[1] != host or Path(f"/proc/{owner[0]}").exists()):',
        'if owner and owner[1] == host and Path(f"/proc/{owner[0]}").exists():',
        "tests/faults/test_two_machines.py"
        "::test_run_held_by_another_machine_is_left_alone_and_taken_over_after_its_end[False]",
    ),
    Bug(
        "F29", "objects-taken-unseen", "a node keeps an object whatever its bytes are",
        "src/weft/backends/raynode.py",
        "        if not fits:\n", "        if not part.exists():\n",
        "tests/ray/test_parts.py::test_object_is_kept_only_if_its_bytes_fit_its_name",
    ),
    Bug(
        "F30", "last-skip-forgotten", "the last skip of every unit is not tried",
        "src/weft/searches/prng/attacks/lattice.py",
        "range(case.skips[0] + units.lo, case.skips[0] + units.hi)",
        "range(case.skips[0] + units.lo, case.skips[0] + units.hi - 1)",
        "tests/searches/prng/test_attack_lattice.py"
        "::test_java_odd_bound_planted_in_the_grid_is_found",
    ),
    Bug(
        "F31", "nulls-not-shuffled", "histories without a signal are the observed one",
        "src/weft/searches/prng/pipeline/nulls.py",
        "    if kind == OBSERVED:\n", "    if kind != RANDOM:\n",
        "tests/searches/prng/pipeline/test_training.py"
        "::test_null_histories_keep_what_they_should",
    ),
)  # fmt: skip

BUGS = (*BUGS_OF_ROWS, *(
    replace(bug, name=f"{bug.name}-on-jobs", what=f"{bug.what}; on `weft jobs`",
            test=bug.test.replace("[shuttle]", "[jobs]"))
    for bug in BUGS_OF_ROWS if bug.test.endswith("[shuttle]")
))  # fmt: skip
"""Bugs of F1 to F3 are repeated on a shipped search, whose calls and coordinators differ."""


def bug_named(name: str) -> Bug:
    """Return a bug by name; raises KeyError."""
    return {bug.name: bug for bug in BUGS}[name]


def bug_of(test: str) -> Bug | None:
    """Return the bug that a case plants; None for tests, and for bugs of earlier campaigns."""
    return next((bug for bug in BUGS if bug.case == test), None)


def all_tests(part: int = 1, parts: int = 1) -> list[str]:
    """Return the tests of all bugs, each once, or a share of them."""
    return list(dict.fromkeys(bug.test for bug in BUGS))[part - 1 :: parts]
