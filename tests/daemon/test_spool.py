"""What hooks pointed at while no service ran is read by the next one; while it is paused it waits, and is not lost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator

import pytest
from tests.daemon.hook_machine import TRANSCRIPT, Machine, eventually

from palazzo.client import offline_hook
from palazzo.daemon import hook_requests
from palazzo.daemon.engine import Engine
from palazzo.daemon.hook_requests import Hooks
from palazzo.features.hooks import spool
from palazzo.features.upkeep.contract import PauseRequest, ResumeRequest
from palazzo.features.upkeep.pause import pause
from palazzo.features.upkeep.resume import resume


@pytest.fixture
def serving(machine: Machine) -> Iterator[Callable[[], Hooks]]:
    """Makes what a service answers hooks with, as one that begins does."""
    begun: list[tuple[Hooks, Engine]] = []

    def begin() -> Hooks:
        engine = Engine(machine.palace)
        begun.append((Hooks(engine, {**machine.variables, "PALAZZO_SERVICE": "off"}), engine))
        return begun[-1][0]

    yield begin
    for served, engine in begun:
        served.finish()
        engine.close()


def pointed(machine: Machine) -> int:
    return len(spool.take(machine.palace, machine.variables))


def stopped_alone(machine: Machine) -> None:
    """A turn ends while no service runs."""
    transcript = machine.transcripts / TRANSCRIPT.name
    shutil.copy(TRANSCRIPT, transcript)
    payload = json.dumps(machine.payload(transcript_path=str(transcript))).encode()
    offline_hook.answer("claude-code", "Stop", payload, None, {**machine.variables, "PALAZZO_SERVICE": "off"})


def test_what_is_in_the_spool_is_read_when_a_pause_is_over(
    machine: Machine, serving: Callable[[], Hooks], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_requests, "_LOOK_AGAIN", 0.05)
    machine.note("The gateway retries twice.")
    stopped_alone(machine)
    with machine.alone() as context:
        pause(context, PauseRequest())
    serving().catch_up()
    assert (pointed(machine), machine.messages()) == (1, [])
    with machine.alone() as context:
        resume(context, ResumeRequest())
    eventually(lambda: len(machine.messages()) >= 36)
    eventually(lambda: pointed(machine) == 0)


@pytest.mark.slow
def test_a_service_that_ends_during_a_pause_leaves_the_spool_to_the_next(
    machine: Machine, serving: Callable[[], Hooks]
) -> None:
    machine.note("The gateway retries twice.")
    stopped_alone(machine)
    with machine.alone() as context:
        pause(context, PauseRequest())
    first = serving()
    first.catch_up()
    first.finish()
    assert (pointed(machine), machine.messages()) == (1, [])
    with machine.alone() as context:
        resume(context, ResumeRequest())
    serving().catch_up()
    assert (pointed(machine), len(machine.messages()) >= 36) == (0, True)
