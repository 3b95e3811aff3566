"""Hooks as hosts run them: real processes, a real service, always an answer and always 0."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from palazzo import alone, client
from palazzo.errors import PalazzoError, ServiceUnavailable
from palazzo.operations import spool
from palazzo.operations.context import Context
from palazzo.operations.mine import MineFilesRequest, mine
from palazzo.operations.remember import RememberRequest, remember

ROOT = Path(__file__).parents[2]
TRANSCRIPT = ROOT / "tests" / "fixtures" / "claude-code" / "e8cc7d58-2992-4d51-82f0-f85e91170df2.jsonl"
DECISION = "We decided on a retry budget of ten percent, because storms of retries took the gateway down in March."
NOTHING = b"{}\n"
_MARK = re.compile(r"\[redacted:[^]]*\]")
"""What stands for a secret is another in every palace."""


class Machine:
    """A home directory, a runtime directory, a project and a palace of its own."""

    def __init__(self, home: Path, runtime: Path) -> None:
        self.home, self.project = home, home / "api"
        self.project.mkdir(parents=True)
        self.transcripts = home / ".claude" / "projects" / "-home-dev-acme"
        self.transcripts.mkdir(parents=True)
        self.variables = {
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(runtime),
            "PATH": os.environ["PATH"],
            "PALAZZO_MIN_MESSAGES": "1",
            "TZ": "UTC",
        }

    @property
    def palace(self) -> Path:
        return Path(client.chosen_palace(None, self.variables))

    @property
    def where(self) -> client.Address:
        return client.address(str(self.palace), self.variables)

    def hook(self, event: str, payload: object, **variables: str) -> tuple[bytes, int]:
        """Run a hook as the installed script does; return what it prints and its exit code."""
        sent = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        command = [sys.executable, "-I", "-S", "-E", str(ROOT / "src" / "palazzo" / "__main__.py"), "hook"]
        done = subprocess.run(
            [*command, "claude-code", event],
            input=sent,
            capture_output=True,
            cwd=self.project,
            env={**self.variables, **variables},
            timeout=60,
            check=False,
        )
        assert done.stderr == b""
        return done.stdout, done.returncode

    def payload(self, **fields: Any) -> dict[str, Any]:
        return {"session_id": "s-1", "cwd": str(self.project), **fields}

    def note(self, text: str) -> None:
        with Context(self.palace, self.project, {**self.variables, "PALAZZO_SERVICE": "off"}) as context:
            remember(context, RememberRequest(text, kind="decision"))

    def start(self) -> None:
        client.ensure_service(self.where, os.environ | self.variables, {"want": "state"}).close()

    def pid(self) -> int | None:
        try:
            stream, answer = client.greet(self.where, {"want": "state", "any": True})
        except ServiceUnavailable:
            return None
        stream.close()
        return int(answer["pid"])

    def messages(self) -> list[str]:
        from palazzo.store.items import decode_text

        select = "SELECT text, text_codec FROM item WHERE kind = 'message' AND standing = 'said'"
        try:
            with (
                Context(self.palace, self.project, {**self.variables, "PALAZZO_SERVICE": "off"}) as context,
                context.reading().database.snapshot() as connection,
            ):
                rows = list(connection.execute(select))
                return sorted(_MARK.sub("[key]", decode_text(text, codec)) for text, codec in rows)
        except PalazzoError:
            return []  # it is being made


@pytest.fixture
def machine(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    runtime = Path("/tmp") / f"palazzo-test-{os.getpid()}-{time.monotonic_ns() % 10**9}"
    runtime.mkdir(mode=0o700)
    one = Machine(tmp_path / "home", runtime)
    try:
        yield one
    finally:
        deadline = time.monotonic() + 20
        while (pid := one.pid()) is not None and time.monotonic() < deadline:
            os.kill(pid, signal.SIGTERM)
            time.sleep(0.1)
        shutil.rmtree(runtime, ignore_errors=True)


def eventually(what: Callable[[], object], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


PROMPT = "what did we decide about the retry budget?"


def test_a_prompt_is_answered_through_a_running_service(machine: Machine) -> None:
    machine.note(DECISION)
    machine.start()
    told: dict[str, Any] = {}

    def is_told() -> bool:
        answered, code = machine.hook("UserPromptSubmit", machine.payload(prompt=PROMPT))
        assert code == 0
        told.update(json.loads(answered).get("hookSpecificOutput", {}))
        return bool(told)

    eventually(is_told)  # what a service that has just begun cannot say in time it says the next time
    assert told["hookEventName"] == "UserPromptSubmit"
    assert DECISION in told["additionalContext"]


def test_without_a_service_one_is_started_and_the_next_hook_is_answered_by_it(machine: Machine) -> None:
    machine.note(DECISION)
    answered, code = machine.hook("PreToolUse", machine.payload(tool_name="Bash", tool_input={"command": "ls"}))
    assert (answered, code) == (NOTHING, 0)
    eventually(lambda: machine.pid() is not None)
    eventually(lambda: DECISION.encode() in machine.hook("UserPromptSubmit", machine.payload(prompt=PROMPT))[0])


def test_a_stop_without_a_service_loses_nothing(machine: Machine) -> None:
    transcript = machine.transcripts / TRANSCRIPT.name
    shutil.copy(TRANSCRIPT, transcript)
    answered, code = machine.hook("Stop", machine.payload(transcript_path=str(transcript)))
    assert (answered, code) == (NOTHING, 0)
    eventually(lambda: len(machine.messages()) >= 36)


def test_a_pointer_has_no_words_and_is_read_once(machine: Machine) -> None:
    path = machine.transcripts / "a b\tc\n%€.jsonl"
    payload = machine.payload(transcript_path=str(path), last_assistant_message="a secret word", prompt="another")
    alone.answer(
        "claude-code", "Stop", json.dumps(payload).encode(), None, {**machine.variables, "PALAZZO_SERVICE": "off"}
    )
    raw = Path(alone.spool_file(str(machine.palace), machine.variables)).read_bytes()
    assert b"secret" not in raw
    assert b"another" not in raw
    assert raw.count(b"\n") == 1
    assert spool.take(machine.palace, machine.variables) == [spool.Pointer("claude-code", "s-1", str(path))]
    assert len(spool.take(machine.palace, machine.variables)) == 1  # who took it may have died before it was read
    spool.forget(machine.palace, machine.variables)
    assert spool.take(machine.palace, machine.variables) == []


def test_a_stop_whose_transcript_lags_is_read_again(machine: Machine) -> None:
    transcript = machine.transcripts / TRANSCRIPT.name
    lines = TRANSCRIPT.read_bytes().splitlines(keepends=True)
    transcript.write_bytes(b"".join(lines[:-12]))
    machine.start()
    last = "the words that come a moment later"
    machine.hook("Stop", machine.payload(transcript_path=str(transcript), last_assistant_message=last))
    eventually(machine.messages)
    before = len(machine.messages())
    transcript.write_bytes(b"".join(lines))
    eventually(lambda: len(machine.messages()) > before)


@pytest.mark.parametrize("payload", [b"", b"[]", b"3", b'"text"', b"{", b"\xff\xfe", b'{"session_id": 3}'])
@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop", "Nonsense"])
def test_any_input_is_answered_with_nothing_to_add(machine: Machine, event: str, payload: bytes) -> None:
    assert machine.hook(event, payload, PALAZZO_SERVICE="off") == (NOTHING, 0)


@pytest.mark.parametrize("variables", [{"PALAZZO_SERVICE": "off"}, {"PALAZZO_OFF": "1"}])
def test_before_a_compaction_nothing_is_printed_since_it_would_stand_in_the_summary_s_prompt(
    machine: Machine, variables: dict[str, str]
) -> None:
    assert machine.hook("PreCompact", machine.payload(trigger="manual"), **variables) == (b"", 0)


def test_a_prompt_of_ten_megabytes_is_answered(machine: Machine) -> None:
    machine.note(DECISION)
    machine.start()
    assert machine.hook("UserPromptSubmit", machine.payload(prompt="x" * (11 << 20))) == (NOTHING, 0)
    answered, _ = machine.hook("UserPromptSubmit", machine.payload(prompt=PROMPT + "\n" + "y " * (1 << 20)))
    assert json.loads(answered) is not None


def test_memory_that_is_off_starts_nothing(machine: Machine) -> None:
    assert machine.hook("UserPromptSubmit", machine.payload(prompt=PROMPT), PALAZZO_OFF="1") == (NOTHING, 0)
    assert machine.pid() is None


def test_a_host_that_does_not_close_its_end_is_not_waited_for(machine: Machine) -> None:
    command = [sys.executable, "-I", "-S", "-E", str(ROOT / "src" / "palazzo" / "__main__.py"), "hook"]
    process = subprocess.Popen(
        [*command, "claude-code", "Stop"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=machine.variables
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.wait(20) == 0
        assert process.stdout.read() == NOTHING
    finally:
        process.stdin.close()
        process.stdout.close()


def test_a_home_that_cannot_be_written_is_in_nobody_s_way(machine: Machine, tmp_path: Path) -> None:
    if os.getuid() == 0:
        variables = {"HOME": "/proc/nowhere", "XDG_STATE_HOME": "/proc/nowhere"}
    else:
        variables = {"HOME": str(tmp_path / "closed")}
        (tmp_path / "closed").mkdir(mode=0o500)
    answered = machine.hook("Stop", machine.payload(transcript_path="/tmp/x.jsonl"), **variables, PALAZZO_SERVICE="off")
    assert answered == (NOTHING, 0)


@pytest.mark.slow
def test_a_service_that_is_killed_again_and_again_costs_no_message(machine: Machine, tmp_path: Path) -> None:
    """50 kills while hooks fire: each ends with 0 in time, and every message is in the palace at the end, once."""
    transcript = machine.transcripts / TRANSCRIPT.name
    lines = TRANSCRIPT.read_bytes().splitlines(keepends=True)
    kills = int(os.environ.get("PALAZZO_HOOK_KILLS", "8"))
    for n in range(kills):
        transcript.write_bytes(b"".join(lines[: max(4, len(lines) * (n + 1) // kills)]))
        pid = machine.pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        for event in ("Stop", "UserPromptSubmit"):
            began = time.monotonic()
            answered, code = machine.hook(event, machine.payload(prompt=PROMPT, transcript_path=str(transcript)))
            assert code == 0
            assert isinstance(json.loads(answered), dict)
            assert time.monotonic() - began < 10, "the deadline is a second; a busy machine is given ten"
        time.sleep(0.05 * (n % 5))
    machine.hook("SessionEnd", machine.payload(transcript_path=str(transcript)))
    undisturbed = Machine(tmp_path / "undisturbed", Path(machine.variables["XDG_RUNTIME_DIR"]))
    shutil.copy(TRANSCRIPT, undisturbed.transcripts)
    with Context(
        undisturbed.palace, undisturbed.project, {**undisturbed.variables, "PALAZZO_SERVICE": "off"}
    ) as context:
        mine(context, MineFilesRequest((undisturbed.transcripts,)))
    assert undisturbed.messages()
    eventually(lambda: machine.messages() == undisturbed.messages(), 60)
