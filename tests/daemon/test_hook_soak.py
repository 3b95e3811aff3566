"""A day of hooks in small: what the service holds stays what it was, and what was said is in the palace, once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.hook_machine import Machine
from benchmarks.hook_soak import left, soak
from benchmarks.make_palace import MEASURED_WING

from palazzo.features.notes.contract import RememberRequest
from palazzo.features.notes.remember import remember
from palazzo.operations.context import Context

MB_TO_SPARE = 12


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    palace = tmp_path / "palace.db"
    with Context(palace, tmp_path, {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off"}) as context:
        for n in range(40):
            text = f"We decided on a retry budget of {n} percent for queue {n}, because of the storms in March."
            remember(context, RememberRequest(text, wing=MEASURED_WING, room="decisions", kind="decision"))
    home = Path("/tmp") / f"palazzo-test-soak-{os.getpid()}"
    home.mkdir(mode=0o700)
    one = Machine(home, palace)
    try:
        yield one
    finally:
        one.close()
        shutil.rmtree(home)


@pytest.mark.slow
def test_over_many_hooks_the_service_holds_no_more_and_nothing_is_left_of_them(machine: Machine) -> None:
    calls = int(os.environ.get("PALAZZO_HOOK_CALLS", "1000"))
    rows = soak(machine, calls, calls // 20, every=20)
    half, last = rows[len(rows) // 2], rows[-1]
    assert last["after calls"] == calls
    for what, more in (("private MB", MB_TO_SPARE), ("descriptors", 4), ("threads", 8), ("WAL MB", 8.0)):
        assert float(last[what] or 0) <= float(half[what] or 0) + more, (what, rows)
    of_it = left(machine)
    assert of_it["kept"] == of_it["different"] == of_it["messages"]
    assert of_it["processes left"] == 0
