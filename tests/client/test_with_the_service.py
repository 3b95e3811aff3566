"""The relay with the real service and a real palace: what is killed, and what is kept."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.client.conftest import Host, killing, relay_command
from tests.reliability.sizes import chances, scaled

from palazzo.client import rpc
from palazzo.errors import ServiceUnavailable


class Real:
    """The real service of a palace, which the relay starts."""

    def __init__(self, variables: dict[str, str]) -> None:
        self.palace = Path(variables["HOME"]) / "palace.db"
        self._where = rpc.address(str(self.palace), variables)

    def pid(self) -> int | None:
        """The process that serves now."""
        try:
            stream, answer = rpc.greet(self._where, {"want": "calls", "any": True})
        except ServiceUnavailable:
            return None
        stream.close()
        return int(answer["pid"])

    def kill(self) -> bool:
        """End it as nothing else does; whether there was one."""
        pid = self.pid()
        if pid is None:
            return False
        os.kill(pid, signal.SIGKILL)
        return True

    def give_way(self) -> None:
        """Ask as a client of a later version does."""
        with pytest.raises(rpc.GivingWay):
            rpc.connect(self._where, {"want": "calls", "version": "99.0"})

    def notes(self) -> list[str]:
        """The texts of all items that are in the palace."""
        with contextlib.closing(sqlite3.connect(self.palace)) as database, database:
            texts = [bytes(text).decode() for (text,) in database.execute("SELECT text FROM item")]
        database.close()
        return texts


@pytest.fixture
def real(variables: dict[str, str]) -> Iterator[Real]:
    """A palace without a service; one that was started is ended."""
    found = Real(variables)
    yield found
    while found.kill():
        time.sleep(0.05)


@pytest.fixture
def host(real: Real, variables: dict[str, str]) -> Iterator[Host]:
    """A host whose relay has the real service."""
    found = Host(relay_command(real.palace), {**variables, "PALAZZO_WATCH": "off"})
    yield found
    found.end()


def texts(count: int) -> list[str]:
    """Notes that differ."""
    return [f"Note {n}: the queue of lane {n} is drained every {n + 3} minutes." for n in range(count)]


def test_a_service_that_is_killed_in_mid_call_is_replaced_and_what_it_was_told_is_kept_once(
    host: Host, real: Real
) -> None:
    host.begin()
    chance = chances("the service in mid-call")
    for n, text in enumerate(texts(3)):
        host.send("tools/call", {"name": "remember", "arguments": {"text": text}}, n)
        if n == 1:
            time.sleep(chance.uniform(0, 0.02))
            assert real.kill()
        result = host.hear()["result"]
        assert result.get("isError") is not True, result
    assert sorted(real.notes()) == texts(3)
    assert host.close() == 0
    assert host.complaints() == ""


@pytest.mark.slow
def test_a_service_that_gives_way_in_mid_call_is_replaced(host: Host, real: Real) -> None:
    host.begin()
    first = real.pid()
    for n, text in enumerate(texts(2)):
        host.send("tools/call", {"name": "remember", "arguments": {"text": text}}, n)
    real.give_way()
    assert {host.hear()["id"], host.hear()["id"]} == {0, 1}
    host.call("remember", name=2, text="After that.")
    assert real.pid() not in (None, first)
    assert sorted(real.notes()) == ["After that.", *texts(2)]


@pytest.mark.slow
def test_notes_outlive_their_services_which_are_killed_at_random_moments(host: Host, real: Real) -> None:
    host.begin()
    chance = chances("the service at random moments")
    told = texts(scaled(500))
    with killing(host, real.kill, chance, within=2.5):
        for n, text in enumerate(told):
            result = host.call("remember", name=n, text=text)
            assert result.get("isError") is not True, result
    assert sorted(real.notes()) == sorted(told)
