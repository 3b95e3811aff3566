"""A pause: what is said meanwhile is kept neither then nor when its transcript is read later."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.features.hooks.test_hook import HOUR, Clock

from palazzo.features.hooks.contract import HookRequest
from palazzo.features.hooks.hook import hook
from palazzo.features.mining.contract import FeedRequest
from palazzo.features.mining.feed import feed
from palazzo.features.upkeep.contract import PauseRequest, ResumeRequest
from palazzo.features.upkeep.pause import pause
from palazzo.features.upkeep.resume import resume
from palazzo.model import Micros
from palazzo.operations import pause_state
from palazzo.operations.context import Context
from palazzo.store import items
from palazzo.text.times import to_iso

STOP = HookRequest("claude-code", "stop", "s-1")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def context(tmp_path: Path, clock: Clock) -> Iterator[Context]:
    variables = {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off", "TZ": "UTC", "PALAZZO_MIN_MESSAGES": "1"}
    with Context(tmp_path / "palace.db", tmp_path, variables, clock=clock) as opened:
        yield opened


class Talk:
    """A session that goes on, an hour for each thing that is said."""

    def __init__(self, home: Path, clock: Clock) -> None:
        self.path = home / ".claude" / "projects" / "-api" / "s-1.jsonl"
        self.path.parent.mkdir(parents=True)
        self._clock, self._n = clock, 0

    def say(self, words: str) -> None:
        self._n += 1
        said = {"type": "user", "uuid": f"u{self._n}", "parentUuid": None, "sessionId": "s-1", "cwd": "/srv/api"}
        message = {"role": "user", "content": f"{words} is what we talk about."}
        with self.path.open("a") as file:
            file.write(json.dumps({**said, "timestamp": to_iso(self._clock.now), "message": message}) + "\n")
        self._clock.go_on(HOUR)


@pytest.fixture
def talk(tmp_path: Path, clock: Clock) -> Talk:
    return Talk(tmp_path, clock)


def known(context: Context) -> str:
    """All that the palace holds of what was said, titles of sessions included."""
    with context.reading().database.snapshot() as connection:
        texts = items.read_texts(connection, [row for (row,) in connection.execute("SELECT id FROM item")])
        return "\n".join([*texts.values(), *(title for (title,) in connection.execute("SELECT title FROM source"))])


def test_what_was_said_meanwhile_is_not_taken_in_later(context: Context, clock: Clock, talk: Talk) -> None:
    stop = replace(STOP, transcript=str(talk.path))
    pause(context, PauseRequest())
    talk.say("cobalt")
    assert hook(context, stop).reason == "off"
    pause(context, PauseRequest())  # once more, in the middle of it
    talk.say("cobalt")
    resume(context, ResumeRequest())
    talk.say("apricot")
    pause(context, PauseRequest("2h"))
    talk.say("cobalt")
    clock.go_on(2 * HOUR)
    talk.say("walnut")
    pause(context, PauseRequest())
    talk.say("cobalt")
    resume(context, ResumeRequest())
    talk.say("lichen")
    hook(context, stop)
    assert [words for words in ("apricot", "walnut", "lichen") if words not in known(context)] == []
    assert "cobalt" not in known(context)
    assert len(pause_state.pauses(context)) == 3


def test_what_was_said_before_it_is_taken_in_afterwards_also_by_feed(context: Context, talk: Talk) -> None:
    talk.say("apricot")
    pause(context, PauseRequest())
    talk.say("cobalt")
    feed(context, FeedRequest())
    assert "apricot" in known(context)
    resume(context, ResumeRequest())
    feed(context, FeedRequest())
    assert "cobalt" not in known(context)
    talk.say("walnut")
    feed(context, FeedRequest())
    assert "walnut" in known(context)
    assert "cobalt" not in known(context)


@pytest.mark.parametrize("written", [b"soon\n", b"1 2 3\n\xff\n", b"9 x\n"])
def test_pauses_that_cannot_be_read_hide_nothing(context: Context, written: bytes) -> None:
    file = pause_state.pauses_file(context.palace_path)
    file.write_bytes(written + b"5 7\n")
    assert pause_state.pauses(context) == ((Micros(5), Micros(7)),)
