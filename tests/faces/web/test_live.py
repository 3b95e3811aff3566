"""Live events: a page learns of new messages, of injections, and of the end of the service."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.faces.web.served_viewer import ServedViewer, served_viewer
from tests.features.trust.sessions_written import World, run

from palazzo.faces.web.live_events import MOST_STREAMS


class Stream:
    """A stream of events as a browser reads it."""

    def __init__(self, client: ServedViewer) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", client.server.port, timeout=30)
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        self._connection.request("GET", "/events", headers={"Cookie": cookie})
        self.answer = self._connection.getresponse()

    def next(self) -> tuple[str, dict[str, Any]]:
        """The next event and its data."""
        event, data = "", ""
        while True:
            line = self.answer.readline().decode()
            if not line:
                return "end", {}
            if line.startswith("event: "):
                event = line.removeprefix("event: ").strip()
            elif line.startswith("data: "):
                data = line.removeprefix("data: ")
            elif not line.strip() and event:
                return event, json.loads(data)

    def close(self) -> None:
        self.answer.close()
        self._connection.close()


@contextmanager
def open_stream(client: ServedViewer) -> Iterator[Stream]:
    stream = Stream(client)
    try:
        yield stream
    finally:
        stream.close()


def wait_until_watched(client: ServedViewer, is_watched: bool) -> None:
    deadline = time.monotonic() + 30
    while client.server.is_watched != is_watched:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_new_messages_are_told_to_open_pages(tmp_path: Path) -> None:
    world = World(tmp_path)
    session = world.session("live")
    session.asks("Which port does the gateway use?")
    run(world.context(), "mine", (world.histories,))
    with served_viewer(tmp_path) as served:
        client = served.enter()
        with open_stream(client) as first, open_stream(client) as second:
            assert first.next() == second.next() == ("begin", {})
            session.answers("The gateway uses 8443.")
            run(world.context(), "mine", (world.histories,))
            for stream in (first, second):
                event, change = stream.next()
                assert event == "change"
                assert [changed["session"] for changed in change["sessions"]] == ["live"]
        wait_until_watched(client, False)
    world.close()


def test_injections_are_told_to_open_pages(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.session("earlier")
    with served_viewer(tmp_path) as served:
        client = served.enter()
        with open_stream(client) as stream:
            assert stream.next()[0] == "begin"
            world.session("later")
            changes: list[dict[str, Any]] = []
            while not any(change["injections"] for change in changes):
                changes.append(stream.next()[1])
    world.close()


def test_a_stream_ends_with_the_server(tmp_path: Path) -> None:
    World(tmp_path).close()
    with served_viewer(tmp_path) as served:
        stream = Stream(served.enter())
        assert stream.next()[0] == "begin"
        wait_until_watched(served, True)
        served.server.stop()
        assert stream.next()[0] == "end"
        stream.close()


def test_events_need_a_cookie(viewer: ServedViewer) -> None:
    assert viewer.get("/events").status == 403


def test_there_is_a_limit_of_open_pages(tmp_path: Path) -> None:
    World(tmp_path).close()
    with served_viewer(tmp_path) as served:
        client = served.enter()
        streams = [Stream(client) for _ in range(MOST_STREAMS)]
        for stream in streams:
            assert stream.next()[0] == "begin"
        assert client.get("/events").status == 503
        for stream in streams:
            stream.close()
