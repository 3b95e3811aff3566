"""Hooks as hosts run them: real processes, a real service, always an answer and always 0."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.hook_machine import ROOT, TRANSCRIPT, Machine, eventually, undisturbed

from palazzo.client import offline_hook
from palazzo.daemon.hook_requests import AnswerRecipient
from palazzo.features.diary.contract import DiaryReadRequest
from palazzo.features.diary.diary_read import diary_read
from palazzo.features.hooks import spool

DECISION = "We decided on a retry budget of ten percent, because storms of retries took the gateway down in March."
NOTHING = b"{}\n"
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
    offline_hook.answer(
        "claude-code", "Stop", json.dumps(payload).encode(), None, {**machine.variables, "PALAZZO_SERVICE": "off"}
    )
    raw = Path(offline_hook.spool_file(str(machine.palace), machine.variables)).read_bytes()
    assert b"secret" not in raw
    assert b"another" not in raw
    assert raw.count(b"\n") == 1
    assert spool.take(machine.palace, machine.variables) == [spool.Pointer("claude-code", "s-1", str(path))]
    assert len(spool.take(machine.palace, machine.variables)) == 1  # who took it may have died before it was read
    spool.forget(spool.take(machine.palace, machine.variables))
    assert spool.take(machine.palace, machine.variables) == []


@pytest.mark.slow
def test_a_session_that_ends_without_a_service_is_entered_in_the_diary_by_the_next(machine: Machine) -> None:
    variables = {"PALAZZO_AUTO_COMMIT": "on", "PALAZZO_SERVICE": "off"}
    transcript = machine.transcripts / TRANSCRIPT.name
    shutil.copy(TRANSCRIPT, transcript)
    ended = {**machine.payload(transcript_path=str(transcript)), "session_id": transcript.stem}
    machine.hook("SessionEnd", ended, 0.0, **variables)
    machine.variables["PALAZZO_AUTO_COMMIT"] = "on"
    machine.note(DECISION)
    machine.start()

    def is_entered() -> bool:
        with machine.alone() as context:
            return bool(diary_read(context, DiaryReadRequest("claude-code")).entries)

    eventually(is_entered)


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
@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop"])
def test_any_input_is_answered_with_nothing_to_add(machine: Machine, event: str, payload: bytes) -> None:
    assert machine.hook(event, payload, PALAZZO_SERVICE="off") == (NOTHING, 0)


@pytest.mark.parametrize("variables", [{"PALAZZO_SERVICE": "off"}, {"PALAZZO_OFF": "1"}])
def test_before_a_compaction_nothing_is_printed_since_it_would_stand_in_the_summary_s_prompt(
    machine: Machine, variables: dict[str, str]
) -> None:
    assert machine.hook("PreCompact", machine.payload(trigger="manual"), 0.0, **variables) == (b"", 0)


def test_a_prompt_of_ten_megabytes_is_answered(machine: Machine) -> None:
    machine.note(DECISION)
    machine.start()
    eventually(lambda: DECISION.encode() in machine.hook("UserPromptSubmit", machine.payload(prompt=PROMPT))[0])
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


@pytest.mark.parametrize("flags", [("-I", "-S", "-E"), ()], ids=["standard library", "all packages"])
def test_an_alarm_that_rings_while_python_takes_itself_down_ends_nothing(
    machine: Machine, flags: tuple[str, ...]
) -> None:
    main = ROOT / "src" / "palazzo" / "__main__.py"
    slow_to_end = (
        "import runpy, sys, time\n"
        "class Slow:\n"
        "    def __del__(self, sleep=time.sleep): sleep(3)\n"
        "sys.slow = Slow()\n"
        "sys.argv = ['palazzo', 'hook', 'claude-code', 'PreToolUse']\n"
        f"runpy.run_path({str(main)!r}, run_name='__main__')\n"
    )
    command = [sys.executable, *flags, "-c", slow_to_end]
    variables = {**machine.variables, "PALAZZO_SERVICE": "off", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, input=b"{}", capture_output=True, env=variables, timeout=60, check=False)
    assert (done.stdout, done.stderr, done.returncode) == (NOTHING, b"", 0)


def test_a_home_that_cannot_be_written_is_in_nobody_s_way(machine: Machine, tmp_path: Path) -> None:
    if os.getuid() == 0:
        variables = {"HOME": "/proc/nowhere", "XDG_STATE_HOME": "/proc/nowhere"}
    else:
        variables = {"HOME": str(tmp_path / "closed")}
        (tmp_path / "closed").mkdir(mode=0o500)
    payload = machine.payload(session_id=tmp_path.name + str(time.time_ns()), transcript_path="/tmp/x.jsonl")
    answer = machine.hook("Stop", payload, 0.0, **variables, PALAZZO_SERVICE="off")
    output, code = answer
    assert code == 0
    assert "cannot be" in json.loads(output)["systemMessage"]  # there is nowhere to keep the words, which is said


@pytest.mark.slow
def test_a_service_that_is_killed_again_and_again_costs_no_message(machine: Machine, tmp_path: Path) -> None:
    """50 kills while hooks fire: each ends with 0 in time, and every message is in the palace at the end, once."""
    transcript = machine.transcripts / TRANSCRIPT.name
    lines = TRANSCRIPT.read_bytes().splitlines(keepends=True)
    kills = int(os.environ.get("PALAZZO_HOOK_KILLS", "8"))
    moments = random.Random(8)
    taken: list[float] = []
    for n in range(kills):
        machine.start()  # unless a hook has
        transcript.write_bytes(b"".join(lines[: max(4, len(lines) * (n + 1) // kills)]))
        pid = machine.pid()
        assert pid is not None
        killing = threading.Timer(moments.uniform(0, 0.12), os.kill, (pid, signal.SIGKILL))
        killing.start()
        for event in ("Stop", "UserPromptSubmit"):
            began = time.monotonic()
            answered, code = machine.hook(event, machine.payload(prompt=PROMPT, transcript_path=str(transcript)))
            taken.append(time.monotonic() - began)
            assert code == 0
            assert isinstance(json.loads(answered), dict)
        killing.join()
    assert max(taken) < 10, "the deadline is a second; a busy machine is given ten"
    machine.hook("SessionEnd", machine.payload(transcript_path=str(transcript)))
    expected = undisturbed(tmp_path / "undisturbed", Path(machine.variables["XDG_RUNTIME_DIR"]), b"".join(lines))
    eventually(lambda: machine.messages() == expected, 60)


def test_an_answer_is_either_handed_over_or_too_late() -> None:
    left, stayed = AnswerRecipient(), AnswerRecipient()
    assert left.goes()
    assert not left.stays(True)
    assert stayed.stays(False)
    assert stayed.stays(True)
    assert not stayed.goes()
    assert stayed.stays(False)
