"""What goes wrong beside a hook's own work costs neither that work nor what other hooks have left."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.hook_machine import ROOT, TRANSCRIPT, Machine

from palazzo.client import offline_hook
from palazzo.errors import PalaceUnusable, PalazzoError
from palazzo.faces.hooks import hook_process
from palazzo.faces.hooks.hook_faults import Faults
from palazzo.faces.hooks.session_flags import SessionFlags
from palazzo.features.hooks import spool
from palazzo.hosts.host_registry import adapters
from palazzo.injection.hook_events import HookEvent

OTHER_SESSION = "5b1f0b4e-0000-4000-8000-000000000001"


@pytest.fixture
def transcript(machine: Machine) -> Path:
    machine.variables["PALAZZO_SERVICE"] = "off"
    return Path(shutil.copy(TRANSCRIPT, machine.transcripts / TRANSCRIPT.name))


def leave_pointer_of(machine: Machine, path: Path, session: str = "s-2") -> None:
    """Another hook had to leave a pointer."""
    fields: dict[str, object] = {"session": session, "transcript": str(path)}
    offline_hook.leave_pointer(str(machine.palace), "claude-code", "Stop", fields, machine.variables)


def answer_hook(machine: Machine, event: str, path: Path, seconds: float = 30.0) -> dict[str, Any]:
    payload = json.dumps(machine.payload(transcript_path=str(path))).encode()
    output = hook_process.answer("claude-code", event, payload, None, machine.variables, seconds)
    read: dict[str, Any] = json.loads(output)
    return read


def fail_reading(monkeypatch: pytest.MonkeyPatch, name: str, error: Exception | threading.Event) -> None:
    """Reading the file of that name again fails, or takes for ever."""
    reading = hook_process._HookProcess._read

    def read(self: Any, context: Any, path: Path) -> None:
        if path.name != name:
            reading(self, context, path)
        elif isinstance(error, Exception):
            raise error
        else:
            error.wait(60)

    monkeypatch.setattr(hook_process._HookProcess, "_read", read)


@pytest.mark.parametrize("event", ["Stop", "PreCompact"])
def test_a_pointer_that_cannot_be_read_is_no_fault_of_the_hook_that_tries(
    machine: Machine, transcript: Path, monkeypatch: pytest.MonkeyPatch, event: str
) -> None:
    fail_reading(monkeypatch, "bad.jsonl", PalazzoError("it cannot be read."))
    leave_pointer_of(machine, machine.transcripts / "bad.jsonl")
    assert answer_hook(machine, event, transcript) == {}
    assert len(machine.messages()) >= 36
    assert spool.take(machine.palace, machine.variables) == []


def test_a_pointer_waits_where_the_palace_cannot_be_used(
    machine: Machine, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_reading(monkeypatch, "later.jsonl", PalaceUnusable("it is locked."))
    leave_pointer_of(machine, machine.transcripts / "later.jsonl")
    assert answer_hook(machine, "PreCompact", transcript) == {}
    assert [Path(pointer.path).name for pointer in spool.take(machine.palace, machine.variables)] == ["later.jsonl"]


def test_a_compaction_goes_on_where_only_the_spool_takes_too_long(
    machine: Machine, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    fail_reading(monkeypatch, "long.jsonl", over)
    leave_pointer_of(machine, machine.transcripts / "long.jsonl")
    try:
        assert answer_hook(machine, "PreCompact", transcript, 2.0) == {}
    finally:
        over.set()
    assert len(machine.messages()) >= 36


def test_a_process_forgets_only_the_pointers_that_it_has_read(machine: Machine) -> None:
    leave_pointer_of(machine, machine.transcripts / "one.jsonl")
    mine = spool.take(machine.palace, machine.variables)
    leave_pointer_of(machine, machine.transcripts / "two.jsonl")
    spool.take(machine.palace, machine.variables)  # by another, which is still at it
    spool.forget(mine)
    assert [Path(pointer.path).name for pointer in spool.take(machine.palace, machine.variables)] == ["two.jsonl"]


def test_pointers_of_one_session_that_are_left_over_and_over_displace_no_other(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "_MOST", 3)
    leave_pointer_of(machine, machine.transcripts / "one.jsonl", OTHER_SESSION)
    for _ in range(5):
        leave_pointer_of(machine, machine.transcripts / "two.jsonl")
    pointers = spool.take(machine.palace, machine.variables)
    assert [Path(pointer.path).name for pointer in pointers] == ["one.jsonl", "two.jsonl"]


def test_a_compaction_is_kept_where_neither_a_service_runs_nor_the_state_directory_can_be_written(
    machine: Machine,
) -> None:
    transcript = Path(shutil.copy(TRANSCRIPT, machine.transcripts / TRANSCRIPT.name))
    machine.variables["XDG_STATE_HOME"] = "/dev/null"
    answer, code = machine.hook("PreCompact", machine.payload(transcript_path=str(transcript)))
    assert (answer, code) == (b"", 0)
    assert len(machine.messages()) >= 36


def test_an_unknown_host_is_named_also_while_standard_input_stays_open(machine: Machine) -> None:
    command = [
        sys.executable,
        "-I",
        "-S",
        "-E",
        str(ROOT / "src" / "palazzo" / "__main__.py"),
        "hook",
        "nobody",
        "Stop",
    ]
    reading, writing = os.pipe()
    try:
        process = subprocess.run(
            command, stdin=reading, capture_output=True, env=machine.variables, timeout=60, check=False
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert (process.stdout, process.returncode) == (b"{}\n", 0)
    assert b"'nobody' is not a known host" in process.stderr


# --- what was told, and to whom ------------------------------------------------------------------------------


def test_what_did_not_reach_the_host_is_said_and_held_back_the_next_time(machine: Machine, transcript: Path) -> None:
    claude = adapters()["claude-code"]
    compaction = HookEvent("claude-code", "pre-compact", "s-1", str(machine.project), str(transcript))
    unheard, late_hook, later_hook = (Faults(str(machine.palace), machine.variables) for _ in range(3))

    def is_held_back(faults: Faults) -> bool:
        return faults.react(claude, "pre-compact", compaction, PalaceUnusable("It is locked.")).hold_back

    assert is_held_back(unheard)
    unheard.abandon()
    assert is_held_back(later_hook)
    late_hook.abandon()
    assert not is_held_back(late_hook)  # it says it to nobody, so the next attempt is the second one still
    assert not is_held_back(later_hook)


def test_flags_are_neither_made_nor_removed_in_a_directory_that_is_somebody_elses(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = tmp_path / "foreign"
    theirs = foreign / "sessions" / "theirs"
    theirs.parent.mkdir(parents=True)
    theirs.touch()
    os.utime(theirs, (time.time() - 9e7,) * 2)
    monkeypatch.setattr("palazzo.faces.hooks.session_flags._MANY", 1)
    place = tmp_path / "link"
    place.symlink_to(foreign)
    monkeypatch.setattr("palazzo.client.service_address._own", lambda: str(place))
    flags = SessionFlags(str(machine.palace), {**machine.variables, "XDG_STATE_HOME": "/dev/null"})
    assert flags.set("problem", "pi", "s-1") is None
    assert list(theirs.parent.iterdir()) == [theirs]


def test_a_flag_is_set_in_one_place_also_where_an_old_one_cannot_be_removed(machine: Machine) -> None:
    flags = SessionFlags(str(machine.palace), machine.variables)
    in_state, in_runtime = flags._files("problem", "pi", "s-1")
    state = in_state.parent
    stuck = state / "stuck"
    stuck.mkdir(parents=True)  # a directory cannot be unlinked
    os.utime(stuck, (time.time() - 9e7,) * 2)
    for n in range(200):
        (state / str(n)).touch()
    assert flags.set("problem", "pi", "s-1") is True
    assert (in_state.exists(), in_runtime.exists()) == (True, False)
