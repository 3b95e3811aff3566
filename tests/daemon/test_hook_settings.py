"""Settings of hooks, as a person sets them while a service runs: they hold from the next hook on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.daemon.hook_machine import TRANSCRIPT, Machine, eventually

from palazzo.features.diary.contract import DiaryReadRequest
from palazzo.features.diary.diary_read import diary_read

pytestmark = pytest.mark.slow

DECISION = "We decided on a retry budget of ten percent, because storms of retries took the gateway down in March."
PROMPT = "what did we decide about the retry budget?"
SESSION = TRANSCRIPT.stem


@pytest.fixture
def serving(machine: Machine) -> Machine:
    machine.note(DECISION)
    machine.start()
    eventually(lambda: is_told(machine))
    return machine


def settings(machine: Machine, *words: str) -> str:
    """Run `palazzo settings`, as a person does."""
    command = [sys.executable, "-m", "palazzo", "settings", *words]
    environment = {**machine.variables, "PYTHONPATH": "src"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=True)
    return done.stdout


def is_told(machine: Machine) -> bool:
    """Whether a session that is new is told of the decision."""
    payload = {**machine.payload(prompt=PROMPT), "session_id": str(uuid4())}
    answered, code = machine.hook("UserPromptSubmit", payload)
    assert code == 0
    return DECISION.encode() in answered


def stopped(machine: Machine, **fields: Any) -> dict[str, Any]:
    answered, code = machine.hook("Stop", {**machine.payload(**fields), "session_id": SESSION})
    assert code == 0
    found: dict[str, Any] = json.loads(answered)
    return found


def test_what_is_set_holds_from_the_next_hook_on(serving: Machine) -> None:
    settings(serving, "set", "events.prompt", "off")
    assert not is_told(serving)
    assert "config.toml" in settings(serving, "get", "events.prompt", "--json")
    settings(serving, "set", "events.prompt", "on")
    eventually(lambda: is_told(serving))


def test_a_person_s_own_file_in_a_project_holds_there(serving: Machine) -> None:
    own = serving.project / ".claude" / "palazzo.local.md"
    own.parent.mkdir()
    own.write_text("---\nevents:\n  prompt: false\n---\n")
    assert not is_told(serving)
    own.write_text("---\nevents:\n  prompt: perhaps\n---\n")
    eventually(lambda: is_told(serving))


def test_whoever_wants_to_be_asked_to_save_is(serving: Machine) -> None:
    settings(serving, "set", "prompt_to_save", "true")
    settings(serving, "set", "save_interval", "18")
    transcript = shutil.copy(TRANSCRIPT, serving.transcripts)
    eventually(lambda: stopped(serving, transcript_path=str(transcript)).get("decision") == "block")
    assert stopped(serving, transcript_path=str(transcript)) == {}


def test_a_silent_save_is_shown_on_the_desktop(serving: Machine, tmp_path: Path) -> None:
    """The service has its own path; the program that shows it stands first there."""
    told = tmp_path / "told"
    program = tmp_path / "bin" / "notify-send"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> "{told}"\n')
    program.chmod(0o755)
    restarted(serving, {"PATH": f"{program.parent}:{serving.variables['PATH']}"})
    settings(serving, "set", "desktop_toast", "on")
    transcript = Path(shutil.copy(TRANSCRIPT, serving.transcripts))
    stopped(serving, transcript_path=str(transcript))
    eventually(told.exists)
    stopped(serving, transcript_path=str(transcript))
    assert told.read_text().count("Saved 18 of your messages in api.") == 1


def restarted(machine: Machine, variables: dict[str, str]) -> None:
    pid = machine.pid()
    assert pid is not None
    os.kill(pid, signal.SIGTERM)
    eventually(lambda: machine.pid() is None)
    machine.variables |= variables
    machine.start()


def test_a_session_that_ends_is_entered_in_the_diary(serving: Machine) -> None:
    settings(serving, "set", "auto_commit", "on")
    transcript = shutil.copy(TRANSCRIPT, serving.transcripts)
    for _ in range(2):
        serving.hook("SessionEnd", {**serving.payload(transcript_path=str(transcript)), "session_id": SESSION})
    eventually(lambda: diary(serving))
    assert "- Do not use MongoDB anywhere in this project." in diary(serving)[0]
    serving.hook("SessionEnd", {**serving.payload(transcript_path=str(transcript)), "session_id": SESSION})
    eventually(lambda: serving.pid() is not None)
    assert len(diary(serving)) == 1


def diary(machine: Machine) -> list[str]:
    with machine.alone() as context:
        return [one.content for one in diary_read(context, DiaryReadRequest("claude-code")).entries]


def test_a_turn_without_a_transcript_is_kept_with_the_prompt_that_it_began_with(serving: Machine) -> None:
    prompt = "Where do the fixtures of the importer lie?"
    serving.hook("UserPromptSubmit", {**serving.payload(prompt=prompt), "session_id": "s-9"})
    serving.hook("Stop", {**serving.payload(last_assistant_message="Below tests/importer."), "session_id": "s-9"})
    eventually(lambda: serving.messages() == ["Below tests/importer.", prompt])
