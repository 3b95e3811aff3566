"""Hooks that find no service, with real processes: they start one, wait for it, and are never silent if that fails."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.hook_machine import ROOT, TRANSCRIPT, Machine, eventually

from palazzo.client import hook_log, offline_hook, rpc
from palazzo.client.jsonl import Stream
from palazzo.features.hooks import spool

DECISION = "We decided on a retry budget of ten percent, because storms of retries took the gateway down in March."
PROMPT = "what did we decide about the retry budget?"
NOT_IN_TIME, DOES_NOT_RUN = "did not answer in time", "does not run"
BEFORE_THE_SERVICE = """
import os, sys, time
if any("palazzo.daemon.service" in word for word in sys.orig_argv):
    {}
"""
"""A module that Python runs before the service, and that the hook, which is isolated, never sees."""


def ask(
    machine: Machine, session: str = "s-1", event: str = "UserPromptSubmit", seconds: float = 30.0
) -> dict[str, Any]:
    """Return what a prompt's hook answers if it may take some seconds; its exit code is always 0."""
    output, code = machine.hook(event, {**machine.payload(prompt=PROMPT), "session_id": session}, seconds)
    assert code == 0
    answer: dict[str, Any] = json.loads(output)
    return answer


def injected_text(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def run_before_the_service(machine: Machine, directory: Path, statement: str) -> None:
    """Let each service of this machine run a statement before anything else."""
    directory.mkdir(exist_ok=True)
    (directory / "sitecustomize.py").write_text(BEFORE_THE_SERVICE.format(statement))
    machine.variables["PYTHONPATH"] = str(directory)


def service_starts(machine: Machine) -> int:
    """Return how many services have begun to serve."""
    log = Path(hook_log.log_file(str(machine.palace), machine.variables))
    return log.read_text().count(" begins\n") if log.exists() else 0


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_a_hook_that_finds_no_service_is_answered_by_the_one_that_it_starts(machine: Machine, event: str) -> None:
    machine.note(DECISION)
    assert DECISION in injected_text(ask(machine, event=event))
    assert service_starts(machine) == 1


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
@pytest.mark.parametrize("service", ["on", "off"])
def test_a_hook_in_a_deleted_directory_works_in_the_directory_of_its_session(
    machine: Machine, event: str, service: str
) -> None:
    machine.note(DECISION)
    payload = {**machine.payload(prompt=PROMPT), "session_id": "s-1"}
    for session in ("s-1", "s-2"):  # the second one finds the service, if there is one
        payload["session_id"] = session
        output, code = machine.hook_in_deleted_directory(event, payload, 30.0, PALAZZO_SERVICE=service)
        assert code == 0
        assert DECISION in injected_text(json.loads(output))


def test_other_events_start_a_service_and_do_not_wait(machine: Machine, tmp_path: Path) -> None:
    run_before_the_service(machine, tmp_path / "site", "time.sleep(1.2)")
    transcript = shutil.copy(TRANSCRIPT, machine.transcripts / TRANSCRIPT.name)
    assert machine.hook("Stop", machine.payload(transcript_path=str(transcript))) == (b"{}\n", 0)
    assert Path(offline_hook.spool_file(str(machine.palace), machine.variables)).exists()
    eventually(lambda: len(machine.messages()) >= 36)


def test_a_service_that_starts_slowly_is_told_of_once_and_the_session_is_oriented_later(
    machine: Machine, tmp_path: Path
) -> None:
    machine.note(DECISION)
    run_before_the_service(machine, tmp_path / "site", "time.sleep(9)")
    answer = ask(machine, event="SessionStart", seconds=1.8)
    assert NOT_IN_TIME in answer["systemMessage"]
    assert "hookSpecificOutput" not in answer
    assert ask(machine, seconds=1.8) == {}  # once a session
    assert NOT_IN_TIME in ask(machine, "s-2", seconds=1.8)["systemMessage"]
    eventually(lambda: machine.pid() is not None)
    oriented = machine.payload(prompt="thanks, go on")
    assert DECISION.encode() in machine.hook("UserPromptSubmit", oriented, 30.0)[0]
    eventually(lambda: len(service_processes(machine)) <= 1)  # the others that were started end by themselves


def test_a_service_that_cannot_start_is_told_of_and_costs_no_message(machine: Machine, tmp_path: Path) -> None:
    machine.note(DECISION)
    run_before_the_service(machine, tmp_path / "site", "os._exit(1)")
    assert NOT_IN_TIME in ask(machine, seconds=1.8)["systemMessage"]
    transcript = shutil.copy(TRANSCRIPT, machine.transcripts / TRANSCRIPT.name)
    assert machine.hook("Stop", machine.payload(transcript_path=str(transcript))) == (b"{}\n", 0)
    note = next(Path(offline_hook.spool_file(str(machine.palace), machine.variables)).parent.glob("starting-*"))
    note.write_text("started 1\n")  # as after ten seconds of attempts
    os.utime(note, (1, 1))
    assert DOES_NOT_RUN in ask(machine, "s-2")["systemMessage"]
    assert ask(machine, "s-2") == {}
    note.unlink()
    del machine.variables["PYTHONPATH"]
    eventually(lambda: DECISION in injected_text(ask(machine, os.urandom(4).hex())))
    eventually(lambda: len(machine.messages()) >= 36)


def test_a_service_that_was_killed_is_replaced_by_the_next_prompt(machine: Machine) -> None:
    machine.note(DECISION)
    machine.start()
    killed = machine.pid()
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    assert DECISION in injected_text(ask(machine))
    assert machine.pid() not in (None, killed)


def test_ten_hooks_at_the_same_time_start_one_service(machine: Machine) -> None:
    machine.note(DECISION)
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda n: ask(machine, f"s-{n}"), range(10)))
    assert all(DECISION in injected_text(answer) for answer in answers)
    assert service_starts(machine) == 1
    assert len(service_processes(machine)) == 1


def service_processes(machine: Machine) -> list[str]:
    """Return the processes that are a service of this palace."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            words = (directory / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended
        if b"palazzo.daemon.service" in words and str(machine.palace).encode() in words:
            found.append(directory.name)
    return found


def test_with_the_service_switched_off_the_same_operation_runs_in_the_hook(machine: Machine) -> None:
    machine.note(DECISION)
    machine.variables["PALAZZO_SERVICE"] = "off"
    assert DECISION in injected_text(ask(machine))
    assert DECISION in injected_text(ask(machine, "s-2", "SessionStart"))
    assert machine.pid() is None
    assert service_starts(machine) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="modes work differently")
def test_a_read_only_palace_is_answered_from_or_explained(machine: Machine) -> None:
    machine.note(DECISION)
    machine.palace.chmod(0o400)
    machine.palace.parent.chmod(0o500)
    try:
        answer = ask(machine)
        assert injected_text(answer) or answer["systemMessage"]
    finally:
        machine.palace.parent.chmod(0o700)
        machine.palace.chmod(0o600)


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such limit")
def test_a_spool_that_cannot_grow_ends_no_hook_and_a_later_turn_brings_the_messages(machine: Machine) -> None:
    """A file size limit of zero stands for a full disk; the system refuses each write."""
    transcript = shutil.copy(TRANSCRIPT, machine.transcripts / TRANSCRIPT.name)
    payload = json.dumps(machine.payload(transcript_path=str(transcript))).encode()
    command = [sys.executable, "-I", "-S", "-E", str(ROOT / "src" / "palazzo" / "__main__.py"), "hook", "claude-code"]
    for event in ("Stop", "SessionStart"):
        done = subprocess.run(
            [*command, event],
            input=payload,
            capture_output=True,
            env={**machine.variables, "PALAZZO_OFF": ""},
            cwd=machine.project,
            timeout=60,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert isinstance(json.loads(done.stdout), dict)
    assert spool.take(machine.palace, machine.variables) == []
    pid = machine.pid()
    if pid is not None:
        os.kill(pid, signal.SIGKILL)  # it inherited the limit
    machine.hook("Stop", machine.payload(transcript_path=str(transcript)))
    eventually(lambda: len(machine.messages()) >= 36)


def test_the_service_stays_as_long_as_a_host_has_a_connection_for_tools(machine: Machine) -> None:
    machine.variables["PALAZZO_SERVICE_IDLE_MINUTES"] = "0"
    machine.note(DECISION)
    machine.start()
    pid = machine.pid()
    hello = {"want": "mcp", "surroundings": rpc.surroundings(str(machine.project), machine.variables)}
    stream: Stream = rpc.connect(machine.where, hello)
    try:
        with pytest.raises(AssertionError, match="did not happen"):
            eventually(lambda: machine.pid() != pid, 12)  # an idle one ends after 3 s, and looks every 5
    finally:
        stream.close()
    eventually(lambda: not service_processes(machine))
