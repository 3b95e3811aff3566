"""Every hook, with every palace that cannot be used: it ends well, says so once, and loses no words.

python -m pytest tests/daemon/test_hook_faults.py -s     prints what each hook answered, as a table
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.daemon.hook_machine import LOCKER, ROOT, TRANSCRIPT, Machine, eventually

from palazzo.faces.hooks import hook_process
from palazzo.features.search.contract import SearchRequest
from palazzo.features.search.search import search
from palazzo.paths import make_private_directory

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mounts memory file systems")

SESSION = TRANSCRIPT.stem
PI_SESSION = next((ROOT / "tests" / "fixtures" / "pi").rglob("*.jsonl"))
FAULTS = (
    *("overwritten pages", "cut off", "locked", "full disk", "read-only", "newer schema"),
    *("a directory", "no permission", "absent"),
)
EVENTS = {
    "claude-code": (
        *("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"),
        *("SubagentStart", "SubagentStop", "Stop", "PreCompact", "PreCompact", "SessionEnd"),
    ),
    "codex": (
        *("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart", "SubagentStop"),
        *("Stop", "PreCompact", "PreCompact", "SessionEnd"),
    ),
    "pi": (
        *("session-start", "prompt", "post-tool", "tool-failure", "stop", "pre-compact", "pre-compact", "session-end"),
    ),
    "opencode": (
        *("session-start", "prompt", "post-tool", "tool-failure", "subagent-start", "subagent-stop"),
        *("stop", "pre-compact", "pre-compact", "session-end"),
    ),
}
OTHER_HOSTS = tuple(host for host in EVENTS if host != "claude-code")


def cases() -> list[tuple[str, str, str]]:
    """Return (host, service, fault): all with `PALAZZO_HOOK_FAULTS=all`, else of hosts other than Claude Code some.

    Each fault then meets one of those, with the service and without it in turn.
    """
    if os.environ.get("PALAZZO_HOOK_FAULTS") == "all":
        return [(host, service, fault) for host in EVENTS for service in ("on", "off") for fault in FAULTS]
    selected_cases = [("claude-code", service, fault) for service in ("on", "off") for fault in FAULTS]
    for number, fault in enumerate(FAULTS):
        selected_cases.append((OTHER_HOSTS[number % 3], ("on", "off")[number % 2], fault))
    return selected_cases


BEFORE_THE_SERVICE = ("read-only", "newer schema", "no permission")
"""Faults that a service finds when it starts; one that has the file open does not meet them, or keeps them away."""
NOT_IN_TIME = "did not answer in time"
WORDS = "what did we decide about the retry budget?"


@dataclass
class HookAnswer:
    """What one hook printed, and how long it took."""

    event: str
    output: bytes
    complaint: bytes
    code: int
    seconds: float

    @property
    def answer(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.output or b"{}")
        assert isinstance(read, dict)
        return read

    @property
    def message(self) -> str:
        """The line for the person."""
        return str(self.answer.get("systemMessage") or self.answer.get("tell") or "")

    @property
    def is_held_back(self) -> bool:
        return self.answer.get("hold_back") is True or self.answer.get("decision") == "block"


class Session:
    """A session of a host whose palace lies on a memory file system of its own."""

    def __init__(self, machine: Machine, disk: Path, host: str) -> None:
        self.machine, self.disk, self.host, self.name = machine, disk, host, SESSION
        self.transcript = machine.transcripts / TRANSCRIPT.name
        shutil.copy(TRANSCRIPT, self.transcript)
        machine.variables["PALAZZO_PALACE"] = str(disk / "home")

    def payload(self, event: str) -> bytes:
        """Return what a host writes to the hook of an event; it has the fields of every host."""
        fields = {
            "session_id": self.name,
            "session": self.name,
            "cwd": str(self.machine.project),
            "transcript_path": str(self.transcript),
            "agent_transcript_path": str(self.transcript),
            "transcript": str(self.transcript),
            "source": "startup",
            "prompt": WORDS,
            "tool_name": "Bash",
            "tool_input": {"command": "make test"},
            "tool_response": {"stdout": "failed"},
            "error": "Error: 2 tests failed",
            "agent_id": "a-1",
            "agent_type": "explore",
            "agent": "" if event not in ("subagent-start", "subagent-stop") else "a-1",
            "agent_kind": "explore",
            "tool": {"name": "bash", "input": {"command": "make test"}, "output": "failed", "error": "Error: failed"},
        }
        return json.dumps(fields).encode()

    def run(self, event: str) -> HookAnswer:
        command = [sys.executable, "-I", "-S", "-E", str(ROOT / "src" / "palazzo" / "__main__.py"), "hook"]
        began = time.monotonic()
        process = subprocess.run(
            [*command, self.host, event],
            input=self.payload(event),
            capture_output=True,
            cwd=self.machine.project,
            env=self.machine.variables,
            timeout=60,
        )
        return HookAnswer(event, process.stdout, process.stderr, process.returncode, time.monotonic() - began)


def in_time(session: Session, event: str, seconds: float) -> HookAnswer:
    """Run a hook until it ends by itself within so many seconds: on a busy machine its deadline may come first."""
    answers = (session.run(event) for _ in range(30))
    return next(answer for answer in answers if answer.seconds < seconds)


def mount(disk: Path, options: str) -> None:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this user cannot mount a file system")


def remount(disk: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    point = tmp_path / "disk"
    point.mkdir()
    mount(point, "size=4m")
    try:
        yield point
    finally:
        subprocess.run(["umount", "-l", str(point)], check=True)


def fill(disk: Path) -> Path:
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4_096)
        except OSError:
            pass
    return ballast


def inflict(fault: str, palace: Path, disk: Path) -> Callable[[], object]:
    """Make the palace unusable; return what makes it usable again."""
    copy = palace.with_name("kept.db")
    connection = apsw.Connection(str(palace))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    shutil.copy(palace, copy)

    def put_back() -> None:
        if palace.is_dir():
            palace.rmdir()
        for name in ("-wal", "-shm"):
            palace.with_name(palace.name + name).unlink(missing_ok=True)
        copy.replace(palace)

    if fault == "overwritten pages":
        size = palace.stat().st_size
        with palace.open("r+b") as file:
            file.seek(4_096)
            file.write(os.urandom(size - 4_096))
        return put_back
    if fault == "cut off":
        os.truncate(palace, palace.stat().st_size // 3)
        return put_back
    if fault == "locked":
        locker = subprocess.Popen(
            [sys.executable, "-c", LOCKER, str(palace)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert locker.stdout is not None
        assert locker.stdout.readline() == b"locked\n"
        return lambda: locker.communicate()
    if fault == "full disk":
        copy.unlink()
        return fill(disk).unlink
    if fault == "read-only":
        remount(disk, "ro")
        return lambda: remount(disk, "rw")
    if fault == "newer schema":
        connection = apsw.Connection(str(palace))
        connection.execute("INSERT INTO migration SELECT 'm999_later', applied_at FROM migration LIMIT 1")
        connection.close()
        return put_back
    if fault == "a directory":
        palace.unlink()
        palace.mkdir()
        return put_back
    if fault == "no permission":
        immutable = subprocess.run(["chattr", "+i", str(palace)], capture_output=True, check=False)
        if immutable.returncode:
            pytest.skip("no file here can be made immutable")
        return lambda: subprocess.run(["chattr", "-i", str(palace)], check=True)
    palace.unlink()
    return put_back


def is_served(machine: Machine) -> bool:
    """Whether the service answers hooks, and not the hook by itself."""
    answer, _ = machine.hook("UserPromptSubmit", machine.payload(session_id=str(time.time_ns()), prompt=WORDS))
    return b"retry budget" in answer and b"words alone" not in answer


def is_compaction(answer: HookAnswer) -> bool:
    return answer.event.lower().startswith("pre") and "ompact" in answer.event


def is_late_alone(answers: list[HookAnswer]) -> bool:
    """Whether a busy machine made the answers late in which the session would have been told of the fault."""
    messages = [answer.message for answer in answers if answer.message and not is_compaction(answer)]
    return bool(messages) and all(NOT_IN_TIME in message for message in messages)


def table(title: str, answers: list[HookAnswer]) -> None:
    print(f"\n{title}")
    for answer in answers:
        outcome = "held back" if answer.is_held_back else "told" if answer.message else "-"
        line = answer.message or str(answer.answer.get("reason", ""))
        print(f"  {answer.event:<20} {answer.code}  {answer.seconds:5.1f} s  {outcome:<10} {line[:150]}")


@pytest.mark.slow
@pytest.mark.parametrize(("host", "service", "fault"), cases())
def test_every_hook_of_a_palace_that_cannot_be_used(
    disk: Path, machine: Machine, host: str, service: str, fault: str
) -> None:
    session = Session(machine, disk, host)
    make_private_directory(disk / "home")
    machine.note("We decided on a retry budget of ten percent.")
    machine.variables["PALAZZO_SERVICE"] = service
    if service == "on" and fault not in BEFORE_THE_SERVICE:
        machine.start()
        eventually(lambda: is_served(machine))
    mend = inflict(fault, machine.palace, disk)
    if service == "on" and fault in BEFORE_THE_SERVICE:
        machine.start()
        eventually(lambda: b"does not work" in machine.hook("SessionStart", machine.payload(session_id="other"))[0])
    try:
        answers = [session.run(event) for event in EVENTS[host]]
        for attempt in range(10):
            if not is_late_alone(answers):
                break
            session.name = f"{SESSION}-{attempt}"
            answers = [session.run(event) for event in EVENTS[host]]
    finally:
        mend()
    table(f"{host}, service {service}, {fault}", answers)

    assert [(answer.event, answer.code, answer.complaint) for answer in answers] == [
        (name, 0, b"") for name in EVENTS[host]
    ]
    assert max(answer.seconds for answer in answers) < 30
    compactions = [answer for answer in answers if is_compaction(answer)]
    messages = [answer.message for answer in answers if answer.message and not is_compaction(answer)]
    lines = [message for message in messages if NOT_IN_TIME not in message]
    assert len(lines) == 1, messages
    assert len(messages) <= 2, messages  # on a busy machine one answer may be late besides
    assert str(machine.palace) in lines[0]
    held_back = host in ("claude-code", "pi")
    assert [answer.is_held_back for answer in compactions] == [held_back, False]

    last_answer = session.run("stop")
    assert (last_answer.code, last_answer.complaint, last_answer.message) == (0, b"", "")
    eventually(lambda: len(machine.messages()) > 1 or (session.run("stop") and len(machine.messages()) > 1))


def test_a_compaction_on_a_full_disk_is_held_back_once_for_each_attempt(disk: Path, machine: Machine) -> None:
    session = Session(machine, disk, "claude-code")
    make_private_directory(disk / "home")
    machine.note("We decided on a retry budget of ten percent.")
    machine.variables["PALAZZO_SERVICE"] = "off"
    mend = inflict("full disk", machine.palace, disk)
    attempts = [session.run("PreCompact") for _ in range(3)]
    assert [answer.is_held_back for answer in attempts] == [True, False, True]
    reason = attempts[0].answer["reason"]
    assert str(machine.palace) in reason
    assert "Compact again to continue without saving" in reason
    assert attempts[1].output == b""  # whatever is printed here would stand in the prompt of the summary
    mend()
    assert not session.run("PreCompact").is_held_back
    assert len(machine.messages()) > 1


def test_a_state_directory_that_cannot_be_written_keeps_nothing_secret(disk: Path, machine: Machine) -> None:
    session = Session(machine, disk, "codex")
    (disk / "home" / "palace.db").mkdir(parents=True)
    machine.variables |= {"PALAZZO_SERVICE": "off", "XDG_STATE_HOME": "/proc/nowhere"}
    payload = session.payload("SessionStart")
    answers = [
        json.loads(hook_process.answer("codex", "SessionStart", payload, None, machine.variables, seconds=60))
        for _ in range(2)
    ]
    assert "is a directory" in answers[0]["systemMessage"]
    assert "systemMessage" not in answers[1]


@pytest.mark.slow
def test_a_service_that_does_not_answer_holds_a_compaction_back(disk: Path, machine: Machine) -> None:
    """It is stopped, as by a debugger: it accepts no connection, and does not end."""
    session = Session(machine, disk, "pi")
    machine.start()
    pid = machine.pid()
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        answers = [session.run("pre-compact") for _ in range(2)]
    finally:
        os.kill(pid, signal.SIGCONT)
    assert [answer.is_held_back for answer in answers] == [True, False]
    assert all("does not answer" in answer.message for answer in answers)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("host", "event"),
    [
        ("claude-code", "Stop"),
        ("claude-code", "SubagentStop"),
        ("claude-code", "PreCompact"),
        ("claude-code", "SessionEnd"),
        ("pi", "session-end"),
    ],
)
def test_without_a_service_what_was_said_is_found_when_the_hook_has_ended(
    machine: Machine, tmp_path: Path, host: str, event: str
) -> None:
    machine.variables["PALAZZO_SERVICE"] = "off"
    session = Session(machine, tmp_path, host)
    if host == "pi":
        session.transcript = machine.home / ".pi" / "agent" / "sessions" / "--api--" / PI_SESSION.name
        session.transcript.parent.mkdir(parents=True)
        shutil.copy(PI_SESSION, session.transcript)
    answer = in_time(session, event, 2.4)
    assert (answer.code, answer.complaint, answer.answer) == (0, b"", {})
    assert len(machine.messages()) > 1
    assert machine.pid() is None
    with machine.alone() as context:
        hits = search(context, SearchRequest("port")).hits
    assert any(hit.source.kind == host for hit in hits)


def test_without_a_service_a_prompt_and_a_start_are_answered_as_by_one(machine: Machine) -> None:
    """They have more time here than a hook has, which gives up after 1.5 seconds: this machine may be busy."""
    machine.variables["PALAZZO_SERVICE"] = "off"
    machine.note("We decided on a retry budget of ten percent.")
    session = Session(machine, machine.palace.parent.parent, "claude-code")
    del machine.variables["PALAZZO_PALACE"]
    prompt_answer, start_answer = (
        hook_process.answer("claude-code", event, session.payload(event), None, machine.variables, seconds=60)
        for event in ("UserPromptSubmit", "SessionStart")
    )
    assert b"retry budget of ten percent" in prompt_answer
    assert b"words alone" not in prompt_answer
    assert json.loads(start_answer)["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert machine.pid() is None
