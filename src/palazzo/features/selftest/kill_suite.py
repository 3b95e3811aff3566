"""Kill -9: operations of a person, of agents' hooks and of a service are killed at a random moment, again and again.

A palace lives for some cycles. In each, some steps are acknowledged and the next one is killed: as a command of its
own, or in the service that carries it out. Then the palace must hold everything acknowledged, once, and of the killed
step all or nothing (or a part, for work that is committed in parts). The step is carried out again, and must then be
done exactly once. `palazzo verify` checks the palace now and then, and at the end of its life.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from palazzo import locks
from palazzo.errors import PalazzoError
from palazzo.features.selftest.expected_state import Difference, ExpectedState, ObservedState, compare
from palazzo.features.selftest.journal import Journal
from palazzo.features.selftest.processes import LONGEST, KillTimes
from palazzo.features.selftest.scratch import Scratch
from palazzo.features.selftest.steps import Export, Step, Workbench, make_exports, run_operation
from palazzo.features.selftest.suite_result import Progress, SuiteCounts
from palazzo.features.selftest.victims import Commands, Outcome, ServiceVictim
from palazzo.features.service.background_process import lock_file
from palazzo.store import schema
from palazzo.store.database import Database

CYCLES_OF_ONE_PALACE = 25
"""Kills of one palace before the next begins: enough for backups, imports and a remote to be used and restored."""
_VERIFY_EVERY = 8
_MOST_STEPS = 4
"""Steps that a service acknowledges before the one in which it is killed."""
_SERVICE_SHARE, _CREATION_SHARE, _COLD_SHARE = 0.15, 0.05, 0.1
"""Shares of the cycles: in a service, of a palace that is created or migrated, and of commands that start from nothing.
The others are commands that are forked: a cycle of theirs takes a tenth of the time.
"""
_LOOK_EVERY = 0.02
_NOT_WATCHING = {"PALAZZO_WATCH_BACKGROUND": "off"}
"""A service that watches would read what no step has asked for: sessions of earlier palaces in the same home, and this
palace's session again after a backup was restored. On a busy machine it lives long enough to begin.
"""


def run_kills(scratch: Scratch, journal: Journal, cycles: int, seed: int, report: Progress) -> Iterator[SuiteCounts]:
    """Yield the figures after each cycle."""
    counts, began = SuiteCounts("kill -9"), time.monotonic()
    chance = random.Random(f"{seed} kills")  # noqa: S311 - no secret depends on it
    exports = make_exports(scratch.new_directory("donor"), scratch.variables, chance)
    kill_times = KillTimes(chance)
    life: _PalaceLife | None = None
    with Commands(scratch.variables, scratch.directory) as commands:
        for cycle in range(cycles):
            if life is None or cycle % CYCLES_OF_ONE_PALACE == 0:
                life = _PalaceLife(scratch, journal, commands, kill_times, chance, counts, exports)
            report("killing", cycle, cycles, f"{counts.lost} lost")
            life.run_cycle()
            counts.runs, counts.seconds = cycle + 1, time.monotonic() - began
            if counts.runs % CYCLES_OF_ONE_PALACE == 0 or counts.runs == cycles:
                life.end()
                counts.seconds = time.monotonic() - began
            elif counts.runs % _VERIFY_EVERY == 0:
                life.verify()
            yield counts


class _PalaceLife:
    """One palace from its creation to its last kill."""

    def __init__(
        self,
        scratch: Scratch,
        journal: Journal,
        commands: Commands,
        kill_times: KillTimes,
        chance: random.Random,
        counts: SuiteCounts,
        exports: Sequence[Export],
    ) -> None:
        self._scratch, self._journal, self._chance, self._counts = scratch, journal, chance, counts
        self._commands, self._kill_times = commands, kill_times
        directory = scratch.new_directory("killed")
        (directory / "palace").mkdir()
        palace = scratch.palace_in(directory / "palace")
        self._bench = Workbench(directory, palace, scratch.variables, chance, exports=exports)
        for name in ("remember", "kg", "diary", "mine"):
            step = self._bench.step(name)
            run_operation(palace, self._bench.variables, step.operation, **step.request)
            self._acknowledge(step)
        self._bench.connect()
        self._service = ServiceVictim(palace, {**self._bench.variables, **_NOT_WATCHING})
        self._calls = 0

    def run_cycle(self) -> None:
        """Kill one step, compare, and carry the step out again."""
        share = self._chance.random()
        if share < _CREATION_SHARE:
            self._kill_creation()
        elif share < _CREATION_SHARE + _SERVICE_SHARE:
            self._kill_service()
        else:
            self._kill_command(share > 1.0 - _COLD_SHARE)

    def end(self) -> None:
        """Check the palace a last time, and remove it unless something was lost."""
        self.verify()
        if not self._scratch.is_kept:
            shutil.rmtree(self._bench.directory, ignore_errors=True)

    def verify(self) -> None:
        """Let `palazzo verify` check the palace in a process of its own."""
        checks = verify_palace(self._bench.palace, self._bench)
        self._counts.count("verified")
        for sentence in checks:
            self._counts.fail(f"verify after {self._counts.runs} kills: {sentence}")

    # --- the three ways ------------------------------------------------------------------------------------

    def _kill_command(self, is_cold: bool) -> None:
        step = self._bench.choose()
        way = "command" if is_cold else "forked command"
        self._journal.write("begin", way=way, step=step.name, request=step.request)
        outcome = self._commands.run(self._bench, step, self._kill_times.choose(f"{way} {step.name}"), is_cold=is_cold)
        self._learn(way, step, outcome)
        if self._is_settled(step, outcome):
            return
        self._settle(step, self._commands.run(self._bench, self._repeated(step), None))

    def _kill_service(self) -> None:
        with self._service.running() as service:
            for _ in range(self._chance.randrange(_MOST_STEPS)):
                step = self._bench.choose(has_operation=True)
                outcome = service.call(self._bench, step, self._next_key())
                if outcome.is_acknowledged:
                    self._acknowledge(step)
                else:
                    self._counts.fail(f"{step.name} failed in a service that nobody killed: {outcome.error}")
                    return
            step, key = self._bench.choose(has_operation=True), self._next_key()
            self._journal.write("begin", way="service", step=step.name, request=step.request, key=key)
            outcome = service.call_and_kill(self._bench, step, key, self._kill_times.choose(f"service {step.name}"))
            self._learn("service", step, outcome)
            if self._is_settled(step, outcome):
                return
            service.start()
            outcome = service.call(self._bench, self._repeated(step), key if step.name != "erase" else self._next_key())
            self._settle(step, outcome)

    def _kill_creation(self) -> None:
        """Kill the first write to a palace that does not exist yet, or whose schema is an older one."""
        directory = self._scratch.new_directory("created")
        (directory / "palace").mkdir()
        palace = self._scratch.palace_in(directory / "palace")
        version = self._chance.choice((0, self._chance.randrange(1, len(schema.MIGRATIONS))))
        if version:
            make_older(palace, version)
        bench = Workbench(directory, palace, self._bench.variables, self._chance)
        step = bench.step("remember")
        kill_time = self._kill_times.choose("forked command create")
        outcome = self._commands.run(bench, step, kill_time)
        self._count(step, outcome, "create" if not version else "migrate")
        if not outcome.is_acknowledged:
            observed = _observe(palace, bench.state, bench.state)
            if not observed.texts:
                outcome = self._commands.run(bench, step, None)
                self._kill_times.learn("forked command create", outcome.seconds)
        difference = compare(step.after, step.after, ObservedState.of(palace))
        self._judge(step, difference, f"{'created' if not version else f'migrated from version {version}'}")
        for sentence in verify_palace(palace, bench):
            self._counts.fail(f"verify after a palace was created or migrated: {sentence}")

    # --- judging -------------------------------------------------------------------------------------------

    def _is_settled(self, step: Step, outcome: Outcome) -> bool:
        """Compare after the kill; return whether nothing needs to be carried out again."""
        self._count(step, outcome, step.name)
        if not outcome.is_acknowledged and not outcome.was_killed:
            self._counts.fail(f"{step.name} failed though nothing killed it: {outcome.error}")
            return True
        before = step.after if outcome.is_acknowledged and step.name != "hook" else self._bench.state
        observed = _observe(self._bench.palace, before, step.after)
        difference = compare(before, step.after, observed)
        if not step.in_parts and difference == Difference() and not outcome.is_acknowledged:
            difference = self._compare_whole(step, observed)
        self._judge(step, difference, "was acknowledged" if outcome.is_acknowledged else "was killed")
        self._journal.write("killed" if outcome.was_killed else "acknowledged", step=step.name)
        wait_for_background(self._bench.palace)
        if compare(step.after, step.after, _observe(self._bench.palace, step.after, step.after)):
            return False
        is_stateless = step.after == self._bench.state
        # All records of an import may be there while what says that it is complete is not.
        if (is_stateless or step.name == "import") and not outcome.is_acknowledged:
            return False
        self._acknowledge(step)
        return True

    def _compare_whole(self, step: Step, observed: ObservedState) -> Difference:
        """A step that commits at once has done all or nothing."""
        old, new = compare(self._bench.state, self._bench.state, observed), compare(step.after, step.after, observed)
        return Difference() if not old or not new else Difference((f"a part of {step.name} is there", *new.sentences))

    def _repeated(self, step: Step) -> Step:
        if step.name != "erase":
            return step
        marker = next(iter(step.after.erased - self._bench.state.erased))
        observed = ObservedState.of(self._bench.palace)
        if marker in observed.texts:
            return step
        return Step("erase", "erase", {}, step.after, in_parts=True)  # its words are gone: finish it

    def _settle(self, step: Step, outcome: Outcome) -> None:
        """Compare after the step was carried out again."""
        if not outcome.is_acknowledged and step.name not in ("hook", "erase"):
            self._counts.fail(f"{step.name} failed when it was carried out again after a kill: {outcome.error}")
            return
        difference = compare(step.after, step.after, _observe(self._bench.palace, step.after, step.after))
        if difference and step.name == "hook":  # out of time, it has kept a pointer to the transcript for later
            self._counts.count("sessions completed by mine")
            self._commands.run(self._bench, self._bench.mine_session(), None)
            difference = compare(step.after, step.after, _observe(self._bench.palace, step.after, step.after))
        self._judge(step, difference, "was carried out again")
        self._acknowledge(step)

    def _judge(self, step: Step, difference: Difference, situation: str) -> None:
        number = len(step.after)
        self._counts.acknowledged += number
        self._counts.present += max(0, number - len(difference.lost))
        for sentence in difference.lost:
            self._counts.fail(f"{step.name} {situation}: {sentence}")
        for sentence in difference.doubled:
            self._counts.fail(f"{step.name} {situation}: {sentence}", is_doubled=True)
        if difference:
            self._scratch.is_kept = True

    def _count(self, step: Step, outcome: Outcome, name: str) -> None:
        self._counts.count("killed" if outcome.was_killed else "acknowledged first")
        self._counts.count(f"{name} killed" if outcome.was_killed else f"{name} done")

    def _learn(self, way: str, step: Step, outcome: Outcome) -> None:
        if outcome.is_acknowledged:
            self._kill_times.learn(f"{way} {step.name}", outcome.seconds)

    def _next_key(self) -> str:
        self._calls += 1
        return f"call-{self._bench.directory.name}-{self._calls}"

    def _acknowledge(self, step: Step) -> None:
        self._bench.acknowledge(step)
        self._journal.write("acknowledge", step=step.name, texts=len(self._bench.state))


def wait_for_background(palace: Path) -> None:
    """Wait until no process that a killed service has started has the palace open.

    A commit that is killed after it has written SQLite's log and before it has written the log's index is seen by
    nobody while another process has the palace open. It comes to light when the next one opens the palace alone: a
    step that seemed not to be done, and was carried out again, would then be stored twice.
    """
    deadline = time.monotonic() + LONGEST
    while locks.is_held(lock_file(palace)) and time.monotonic() < deadline:
        time.sleep(_LOOK_EVERY)


def _observe(palace: Path, before: ExpectedState, after: ExpectedState) -> ObservedState:
    return ObservedState.of(palace, before.erased & after.erased)


def make_older(palace: Path, version: int) -> None:
    """Create an empty palace with the schema of an earlier version: its first `version` migrations."""
    database = Database(palace)
    try:
        schema.migrate(database, version)
    finally:
        database.close()


def verify_palace(palace: Path, bench: Workbench) -> list[str]:
    """Return what `palazzo verify` finds wrong, run in a process of its own."""
    command = [sys.executable, "-P", "-m", "palazzo", "verify", "--json", "--palace", str(palace)]
    done = subprocess.run(  # noqa: S603 - this Python, and this package
        command, env=dict(bench.variables), cwd=bench.directory, capture_output=True, stdin=subprocess.DEVNULL
    )
    try:
        checks = json.loads(done.stdout)["checks"]
    except ValueError:
        raise PalazzoError(f"'palazzo verify' failed: {done.stderr.decode('utf-8', 'replace').strip()}") from None
    return [f"{check['name']}: {check['detail']}" for check in checks if not check["ok"]]
