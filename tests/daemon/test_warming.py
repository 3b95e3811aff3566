"""A service that has just begun: hooks that it could not answer in time are answered by their clients, by keyword."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.daemon.hook_machine import Machine, eventually

from palazzo.client import offline_hook
from palazzo.client.jsonl import Stream
from palazzo.daemon.engine import Engine
from palazzo.daemon.hook_requests import Hooks

PROMPT = {"event": "UserPromptSubmit", "within_ms": 610}


@pytest.fixture
def hooks(machine: Machine) -> Iterator[Hooks]:
    engine = Engine(machine.palace)
    yield Hooks(engine, machine.variables)
    engine.close()


def test_until_all_is_loaded_a_prompt_is_left_to_its_client(hooks: Hooks) -> None:
    assert not hooks.has_time_for(PROMPT)
    assert not hooks.has_time_for({"event": "SessionStart", "within_ms": 0})
    hooks.is_ready()
    assert hooks.has_time_for(PROMPT)
    assert hooks.has_time_for({})


def test_what_captures_is_begun_at_once(hooks: Hooks) -> None:
    assert all(hooks.has_time_for({"event": event, "within_ms": 0}) for event in offline_hook.CAPTURES)


def test_a_prompt_that_has_time_waits_for_what_is_being_loaded(hooks: Hooks) -> None:
    threading.Timer(0.05, hooks.is_ready).start()
    assert hooks.has_time_for({**PROMPT, "within_ms": 30_000})


def test_a_prompt_that_is_left_to_its_client_is_held_until_its_turn_ends(hooks: Hooks, machine: Machine) -> None:
    """Where the session has no transcript, nothing else has it."""

    def heard(event: str, does: Callable[[Stream, dict[str, Any]], None], **told: str) -> bytes:
        payload = json.dumps(machine.payload(**told)).encode()
        hello = {"host": "claude-code", "event": event, "length": len(payload), "within_ms": 30_000}
        own, other = socket.socketpair()
        with own, other:
            own.sendall(payload)
            does(Stream(other), hello)
            other.shutdown(socket.SHUT_WR)
            return own.makefile("rb").read()

    refused: list[bool] = []
    said = heard(
        "UserPromptSubmit",
        lambda stream, hello: hooks.overhear(stream, hello, lambda: refused.append(True)),
        prompt="Where do the fixtures lie?",
    )
    assert (said, refused) == (b"", [True])
    heard("Stop", hooks.serve, last_assistant_message="Below tests.")
    eventually(lambda: machine.messages() == ["Below tests.", "Where do the fixtures lie?"])


@pytest.mark.slow
def test_the_first_prompt_after_a_service_began_is_answered(machine: Machine) -> None:
    machine.note("We decided on a retry budget of ten percent.")
    asked = machine.payload(prompt="what did we decide about the retry budget?")
    machine.hook("UserPromptSubmit", asked, PALAZZO_SERVICE="off")  # patterns are compiled once for a machine
    machine.start()
    answered, code = machine.hook("UserPromptSubmit", {**asked, "session_id": "s-2"})
    assert code == 0
    assert b"retry budget of ten percent" in answered
