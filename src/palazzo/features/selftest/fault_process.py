"""A process that runs an operation on a disk that fails: `python -m palazzo.features.selftest.fault_process`.

It reads one line of JSON and answers with one line for each place of the fault:

    {"directory": "…", "base": "…", "operation": "…", "request": {…}, "fault": "…", "old": {…}, "new": {…}, "seed": 1}
    {"k": 7, "acknowledged": false, "state": "old", "problems": []}

The palace's directory is put back to `base` before each attempt. The operation meets the fault at its k-th call, for
k = 1, 2, … until it is done before the fault.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palazzo.derived import integrity_checks
from palazzo.errors import PalazzoError
from palazzo.features.selftest.expected_state import ExpectedState, ObservedState, compare
from palazzo.features.selftest.steps import run_operation
from palazzo.operations import idempotency, registry
from palazzo.operations.context import Context
from palazzo.operations.serialisation import from_wire
from palazzo.store.faulty_disk import (
    CHANGES,
    NEVER,
    Call,
    Failure,
    FaultyDisk,
    PowerLoss,
    broken,
    busy,
    faulty_disk,
    full,
)

_KEY = "the call that meets a fault"


@dataclass(frozen=True)
class Fault:
    """A kind of fault: which calls fail, how often and with which error, and what a loss of power then does."""

    calls: frozenset[Call]
    count: int = 1
    failure: Failure = broken
    writes_half: bool = False
    loss: PowerLoss | None = None


FAULTS: Mapping[str, Fault] = {
    "EIO on write": Fault(frozenset({"write", "truncate"})),
    "short write": Fault(frozenset({"write"}), writes_half=True),
    "disk full": Fault(frozenset({"write", "truncate"}), NEVER, full),
    "EIO on fsync": Fault(frozenset({"sync"})),
    "EIO on read": Fault(frozenset({"read"})),
    "lock denied": Fault(frozenset({"lock"}), failure=busy),
    "delete failed": Fault(frozenset({"delete"})),
    "dead disk": Fault(CHANGES, NEVER),
    "power loss, writes lost": Fault(CHANGES, NEVER, loss="lost"),
    "power loss, writes reordered": Fault(CHANGES, NEVER, loss="reordered"),
    "power loss, page torn": Fault(CHANGES, NEVER, loss="torn"),
}


@dataclass
class Attempt:
    """An operation that met a fault at its k-th call, or that had ended before."""

    k: int
    is_acknowledged: bool
    is_met: bool
    problems: list[str]
    is_doubled: bool = False


class FaultyRun:
    """One operation and one kind of fault, tried at every k."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._directory, self._base = Path(request["directory"]), Path(request["base"])
        self._palace = self._directory / "palace" / "palace.db"
        self._name, self._seed = request["operation"], request["seed"]
        self._operation = registry.operation(self._name)
        self._fields = vars_of(from_wire(self._operation.request, request["request"]))
        self._has_key = self._operation.writes and not self._operation.steps
        self._fault_name, self._fault = request["fault"], FAULTS[request["fault"]]
        self._old, self._new = state_from(request["old"]), state_from(request["new"])
        self._in_parts = bool(request["in_parts"])

    def attempts(self) -> Iterator[Attempt]:
        """Yield an attempt for each k, the last of which ended before the fault."""
        with faulty_disk() as disk:
            for k in itertools.count(1):
                self._put_back()
                attempt = self._attempt(disk, k)
                self._judge(attempt)
                yield attempt
                if not attempt.is_met:
                    return

    def _put_back(self) -> None:
        shutil.rmtree(self._directory)
        shutil.copytree(self._base, self._directory)

    def _attempt(self, disk: FaultyDisk, k: int) -> Attempt:
        fault = self._fault
        disk.forget()
        disk.remembers = fault.loss is not None
        disk.fail(k, fault.count, fault.failure, fault.calls, writes_half=fault.writes_half)
        attempt = Attempt(k, False, True, [])
        try:
            self._run()
            attempt.is_acknowledged = True
        except PalazzoError:
            pass
        except Exception as error:  # noqa: BLE001 - what ends as a bug is what is looked for
            attempt.problems.append(f"it ended as a bug: {type(error).__name__}: {error}")
        attempt.is_met = disk.operations >= k
        if fault.loss is not None:
            disk.lose_power(fault.loss, random.Random(f"{self._seed} {k}"))  # noqa: S311 - no secret depends on it
            for index in self._directory.rglob("*-shm"):
                index.unlink()
        disk.remembers = False
        disk.heal()
        return attempt

    def _run(self) -> None:
        """Run the operation with its key, as a face does that calls again when it gets no answer."""
        with Context(self._palace, self._palace.parent, os.environ) as context:
            idempotency.call(context, self._operation, self._operation.request(**self._fields), _KEY)

    def _judge(self, attempt: Attempt) -> None:
        before = self._new if attempt.is_acknowledged else self._old
        try:
            observed = ObservedState.of(self._palace, before.erased & self._new.erased)
            attempt.problems += self._differences(before, observed)
            attempt.is_doubled = bool(compare(before, self._new, observed).doubled)
            attempt.problems += [
                f"verify: {check.name}: {check.detail}"
                for check in integrity_checks.verify_truth(self._palace)
                if not check.ok
            ]
            if not attempt.is_acknowledged or self._has_key:  # a client may have lost the answer
                self._repeat(attempt)
        except PalazzoError as error:
            attempt.problems.append(f"the palace cannot be read afterwards: {error}")

    def _differences(self, before: ExpectedState, observed: ObservedState) -> list[str]:
        difference = compare(before, self._new, observed)
        if difference or self._in_parts:
            return list(difference.sentences)
        old, new = compare(before, before, observed), compare(self._new, self._new, observed)
        return [] if not old or not new else ["a part of it is there", *new.sentences]

    def _repeat(self, attempt: Attempt) -> None:
        """Carry the operation out again, on a sound disk: with its key in any case, else if it was not done.

        An erase whose words are still in the files was not done.
        """
        is_stateless = self._old == self._new
        observed = ObservedState.of(self._palace, self._new.erased)
        if self._has_key:
            self._run()
        elif is_stateless or compare(self._new, self._new, observed):
            fields = self._fields
            if self._name == "erase" and not (self._new.erased - self._old.erased) & observed.texts.keys():
                fields = {}  # the words are gone: finish it
            run_operation(self._palace, os.environ, self._name, **fields)
        again = compare(self._new, self._new, ObservedState.of(self._palace, self._new.erased))
        attempt.problems += [f"carried out again: {sentence}" for sentence in again.sentences]
        attempt.is_doubled = attempt.is_doubled or bool(again.doubled)


def vars_of(request: Any) -> dict[str, Any]:
    """Return the fields of a request."""
    return {name: getattr(request, name) for name in type(request).__dataclass_fields__}


def state_to_json(state: ExpectedState) -> dict[str, Any]:
    """Return a state as plain JSON."""
    lists = {name: sorted(getattr(state, name)) for name in ("live", "facts", "erased")}
    return {"texts": dict(state.texts), **lists}


def state_from(document: Mapping[str, Any]) -> ExpectedState:
    """Return the state that `state_to_json` wrote."""
    sets = {name: frozenset(document[name]) for name in ("live", "facts", "erased")}
    return ExpectedState(texts=document["texts"], **sets)


def main() -> int:
    """Answer the one request."""
    # SQLite closes a connection that a failed disk left open when Python frees it; that it fails again says nothing.
    sys.unraisablehook = lambda _: None
    for attempt in FaultyRun(json.loads(sys.stdin.readline())).attempts():
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.write(json.dumps(vars(attempt)) + "\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
