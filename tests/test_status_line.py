"""The status line: short, quick, and never an error, whatever a host says and whether or not a service runs."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.hook_machine import ROOT, Machine, eventually

from palazzo.client import status_line

NOW = time.mktime((2026, 11, 22, 15, 0, 0, 0, 0, -1))
TODAY = int((NOW - 3_600) * 1_000_000)
EARLIER = int((NOW - 5 * 86_400) * 1_000_000)


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ({}, "palazzo: nothing filed yet"),
        ({"wing": "api", "drawers": 0}, "palazzo: api · 0 drawers"),
        ({"wing": "api", "drawers": 1}, "palazzo: api · 1 drawer"),
        (
            {"wing": "api", "drawers": 1204, "told": 3, "saved_at": TODAY},
            "palazzo: api · 1,204 drawers · 3 told · saved 14:00",
        ),
        ({"wing": "api", "drawers": 2, "saved_at": EARLIER}, "palazzo: api · 2 drawers · saved 17 Nov"),
        ({"wing": "api", "drawers": 2, "paused": True}, "palazzo: paused"),
        ({"wing": "api", "paused": True, "paused_until": TODAY}, "palazzo: paused until 14:00"),
        ({"wing": "a\x1b[31m" + "b" * 40, "drawers": 2}, f"palazzo: a[31m{'b' * 18}… · 2 drawers"),
    ],
)
def test_what_is_known_is_one_short_line(found: dict[str, Any], shown: str) -> None:
    assert status_line.render_line(found, NOW) == shown


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    runtime = Path(tempfile.mkdtemp(prefix="palazzo-line-", dir="/tmp"))  # short enough for the path of a socket
    machine = Machine(tmp_path_factory.mktemp("machine") / "home", runtime)
    try:
        yield machine
    finally:
        shutil.rmtree(runtime, ignore_errors=True)


def shown(machine: Machine, said: object, **variables: str) -> str:
    """What the installed script prints; it ends with 0 and complains of nothing."""
    sent = said if isinstance(said, bytes) else json.dumps(said).encode()
    command = [sys.executable, "-I", "-S", "-E", str(ROOT / "src" / "palazzo" / "__main__.py"), "statusline"]
    there = {**machine.variables, **variables}
    done = subprocess.run(
        command, input=sent, capture_output=True, cwd=machine.project, env=there, timeout=30, check=False
    )
    assert (done.stderr, done.returncode) == (b"", 0)
    assert done.stdout.count(b"\n") == 1
    return done.stdout.decode().strip()


@pytest.mark.skipif(sys.platform == "win32", reason="the flags are the script's, of which Windows has none")
def test_without_a_service_it_says_so_and_starts_none(machine: Machine) -> None:
    assert shown(machine, b'{"session_id": 3, "cwd": []') == "palazzo: asleep until the next prompt"
    assert not Path(machine.where.lock).exists()


@pytest.mark.parametrize("said", [{}, {"cwd": "/does/not/exist"}, {"workspace": 3, "session_id": None}])
def test_who_wants_nothing_is_told_that_it_is_off(machine: Machine, said: dict[str, Any]) -> None:
    assert status_line.line(said, None, {**machine.variables, "PALAZZO_OFF": "1"}) == "palazzo: off"
    off = {**machine.variables, "PALAZZO_SERVICE": "off"}
    assert status_line.line(said, None, off) == "palazzo: service disabled in the settings"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the flags are the script's, of which Windows has none")
def test_with_a_service_it_says_what_the_session_was_told(machine: Machine) -> None:
    machine.note("We decided on a retry budget of ten percent.")
    machine.start()
    line = {"session_id": "s-0", "workspace": {"project_dir": str(machine.project)}}
    numbers = itertools.count(1)

    def is_told() -> bool:  # by the service, once it has warmed up
        one = {"session_id": f"s-{next(numbers)}"}
        machine.hook("UserPromptSubmit", machine.payload(prompt="what did we decide about the retry budget?", **one))
        return shown(machine, {**line, **one}) == "palazzo: api · 1 drawer · 1 told"

    eventually(is_told)
    assert shown(machine, line) == "palazzo: api · 1 drawer"
    with machine.alone() as context:
        from palazzo.features.upkeep.contract import PauseRequest
        from palazzo.features.upkeep.pause import pause

        pause(context, PauseRequest())
    assert shown(machine, line) == "palazzo: paused"
