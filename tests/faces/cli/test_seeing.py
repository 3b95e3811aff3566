"""why, pause and resume, as people type them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faces.cli.command import Command

from palazzo.features.hooks.contract import HookRequest
from palazzo.features.hooks.hook import hook
from palazzo.operations.context import Context

DECISION = "We decided on a retry budget of ten percent, because storms of retries took the gateway down in March."


@pytest.fixture
def given(palazzo: Command, home: Path) -> str:
    """What a session was given."""
    palazzo.json("remember", DECISION, "--kind", "decision")
    with Context() as context:
        asked = HookRequest("codex", "prompt", "0199-aa", prompt="what did we decide about the retry budget?")
        inject = hook(context, asked).inject
    assert DECISION in inject
    return inject


def test_what_was_given_is_one_document(palazzo: Command, given: str) -> None:
    found = palazzo.json("why", "0199")
    (one,) = found["injections"]
    assert (found["host"], found["session"], one["text"]) == ("codex", "0199-aa", given)
    assert len(one["parts"][0]["id"]) == 32


def test_what_was_given_is_shown_to_the_byte(palazzo: Command, given: str) -> None:
    shown = palazzo("why", "0199").out
    assert "".join(f"    {line}\n" for line in given.split("\n")) in shown
    assert "a prompt asks for the past" in shown
    assert palazzo.json("why", "0199")["injections"][0]["parts"][0]["id"] in shown


def test_what_an_erase_took_is_told_of(palazzo: Command, given: str) -> None:
    (part,) = palazzo.json("why", "0199")["injections"][0]["parts"]
    assert palazzo("erase", part["id"], "--yes").code == 0
    shown = palazzo("why", "0199").out
    assert "This text was erased" in shown
    assert DECISION not in shown


def test_an_unknown_session_is_one_sentence(palazzo: Command, given: str) -> None:
    ran = palazzo("why", "nobody")
    assert ran.code != 0
    assert "nobody" in ran.error


def test_status_shows_what_was_injected(palazzo: Command, given: str) -> None:
    assert "1 injection, 0% of 1 used" in palazzo("status").out
    assert palazzo.json("status")["injected"]["injections"] == 1


def test_pausing_and_resuming(palazzo: Command, given: str) -> None:
    assert palazzo.json("pause")["until"] is None
    assert "Paused: nothing is captured" in palazzo("status").out
    assert "Capture and injection are on again." in palazzo("resume").out
    assert "Capture and injection were not paused." in palazzo("resume").out
    assert palazzo.json("pause", "--for", "30m")["until"]
    assert palazzo.json("status")["paused_until"]
