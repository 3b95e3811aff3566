"""Bad input of tools over real pipes: it is named, nothing of it is written, and the next call is served."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.client.conftest import Host
from tests.clients.conftest import Start
from tests.daemon.conftest import User

INVALID_PARAMS = -32602
PATHS = ["../../etc", "acme/../etc", "/etc/passwd", "..\\..\\etc", "C:\\etc", ".."]


def changes(palace: Path) -> int:
    """How often anything was written to the palace."""
    with closing(sqlite3.connect(palace)) as database:
        return int(database.execute("SELECT count(*) FROM change WHERE kind IN ('item','act','fact')").fetchone()[0])


@pytest.fixture
def host(start: Start) -> Host:
    found = start("--toolset", "full")
    found.begin()
    return found


def refused(host: Host, someone: User, tool: str, arguments: dict[str, Any]) -> str:
    """Make a call that must be refused, changes nothing and harms no other; return what is said of it."""
    before = changes(someone.palace)
    answer = host.ask("tools/call", {"name": tool, "arguments": arguments}, "bad")
    assert changes(someone.palace) == before
    assert host.ask("ping", name="next")["result"] == {}
    if "error" in answer:
        assert answer["error"]["code"] == INVALID_PARAMS
        return str(answer["error"]["message"])
    assert answer["result"]["isError"] is True, answer
    return str(answer["result"]["content"][0]["text"])


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("remember_all", {}, "'remember_all'"),
        ("remember", {"text": "x", "wings": "acme"}, "'wings'"),
        ("remember", {"wing": "acme"}, "'text'"),
        ("remember", {"text": ["x"]}, "'text'"),
        ("remember", {"text": "x", "tags": "a"}, "'tags'"),
        ("search", {"query": "x", "limit": "many"}, "'limit'"),
        ("forget", {"ids": [7], "dry_run": False}, "'ids[0]'"),
        ("checkpoint", {"items": [{"content": "Fine."}, {"content": 7}]}, "'items[1].content'"),
        ("checkpoint", {"items": [{"content": "Fine."}, {"content": "Not.", "wing": ".."}]}, "'..'"),
        ("remember", {"text": "x" * 20_000_000}, "20,000,000 characters"),
        ("read", {"id": "x" * 20_000_000}, "20,000,000 characters"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_is_named_and_nothing_is_written(
    host: Host, someone: User, tool: str, arguments: dict[str, Any], named: str
) -> None:
    assert named in refused(host, someone, tool, arguments)


@pytest.mark.parametrize("path", PATHS)
def test_a_wing_that_is_a_path_is_named_and_leads_nowhere(host: Host, someone: User, path: str) -> None:
    for tool, arguments in (
        ("remember", {"text": "Words for a path.", "wing": path}),
        ("remember", {"text": "Words for a path.", "room": path}),
        ("checkpoint", {"items": [{"content": "Words for no path."}, {"content": "For a path.", "wing": path}]}),
        ("diary_write", {"entry": "Words for a path.", "agent": path}),
        ("search", {"query": "words", "wing": path}),
    ):
        assert path in refused(host, someone, tool, arguments), tool


def test_an_id_that_fits_two_is_refused_with_both_and_neither_is_touched(host: Host, someone: User) -> None:
    ids = [host.call("remember", n, text=f"Twin number {n}.")["structuredContent"]["id"] for n in range(2)]
    begin = next(ids[0][:n] for n in range(len(ids[0]), 0, -1) if ids[1].startswith(ids[0][:n]))
    assert len(begin) >= 4  # ids begin with when they were made
    for tool, arguments in (
        ("read", {"id": begin}),
        ("forget", {"ids": [begin], "dry_run": False}),
        ("update_drawer", {"id": begin, "text": "Another."}),
    ):
        said = refused(host, someone, tool, arguments)
        assert all(one in said for one in ids), tool
    for one in ids:
        assert host.call("read", id=one)["structuredContent"]["entries"][0]["text"].startswith("Twin number ")


@pytest.mark.parametrize("alone", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["service", "alone"])
def test_a_client_that_vanishes_in_mid_call_or_mid_line_leaves_a_whole_call_or_nothing(
    start: Start, someone: User, alone: bool
) -> None:
    said = f"Said before it vanished, {'alone' if alone else 'with the service'}"
    for n in range(4):
        gone = start(alone=alone)
        gone.begin()
        whole = {"items": [{"content": f"{said}, {n} of it, part {part}."} for part in range(3)]}
        gone.send("tools/call", {"name": "checkpoint", "arguments": whole}, 1)
        half = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "remember"}})
        gone.write(half.encode()[:50])
        time.sleep(n * 0.02)
        gone.end()
    after = start(alone=alone)
    after.begin()
    assert after.call("status")["isError"] is False
    assert after.close() == 0
    with closing(sqlite3.connect(someone.palace)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        texts = [str(text, "utf-8") for (text,) in database.execute("SELECT text FROM item")]
    for n in range(4):
        assert sum(f"{said}, {n} of it" in text for text in texts) in (0, 3)
