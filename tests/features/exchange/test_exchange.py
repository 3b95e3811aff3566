"""Events and artifacts between agents: order, exactness, redaction, trust, and the way to another machine."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.features.trust.sessions_written import World, run
from tests.sync.homes import Home

from palazzo.daemon.worker_pools import LONG, SHORT, Lanes
from palazzo.errors import NotFound, UsageError
from palazzo.features.exchange.contract import EVENT_LIST, EVENT_WAIT, EventView
from palazzo.operations.context import Context

PATCH = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-naïve\n+café 🦒\n"
SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def context(home: Home) -> Iterator[Context]:
    with home.at() as opened:
        yield opened


def append(context: Context, body: str = "", /, **fields: Any) -> EventView:
    event: EventView = run(context, "event_append", fields.pop("type", "status.report"), body, **fields).event
    return event


def bodies(context: Context, **filters: Any) -> list[str]:
    return [event.body for event in run(context, "event_list", **filters).events]


# --- the order and the filters -----------------------------------------------------------------------------


def test_a_reader_resumes_after_an_event_and_pages_back_before_one(context: Context) -> None:
    ids = [append(context, str(n)).id for n in range(5)]
    assert bodies(context) == ["4", "3", "2", "1", "0"]
    assert bodies(context, after=ids[2]) == ["3", "4"]
    assert bodies(context, after=ids[0], limit=2) == ["1", "2"]
    assert bodies(context, before=ids[2]) == ["1", "0"]
    assert bodies(context, order="oldest", limit=1) == ["0"]


def test_events_for_an_agent_include_those_for_all(context: Context) -> None:
    append(context, "own", by="ada", to="bob", stream="project/till", room="delegation", topic="auth", status="open")
    append(context, "all", by="ada", to="*")
    append(context, "other", by="bob", to="ada", correlation="t-1", type="task.reply")
    assert bodies(context, to="bob") == ["all", "own"]
    assert bodies(context, by="bob") == bodies(context, correlation="t-1") == bodies(context, type="task.reply")
    for filters in ({"stream": "project/till"}, {"room": "delegation"}, {"topic": "auth"}, {"status": "open"}):
        assert bodies(context, **filters) == ["own"]
    assert bodies(context, to="bob", topic="none") == []


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("event_append", {"type": "Task Request"}),
        ("event_append", {"type": "a", "room": " "}),
        ("event_append", {"type": "a", "to": "two\nlines"}),
        ("event_append", {"type": "a", "to": "x" * 257}),
        ("event_append", {"type": "a", "body": "é" * 140_000}),
        ("event_append", {"type": "a", "metadata": "[1]"}),
        ("event_append", {"type": "a", "status": "finished"}),
        ("event_append", {"type": "a", "artifacts": ("f" * 32,)}),
        ("event_append", {"type": "a", "artifacts": ("art_1",)}),
        ("event_list", {"after": "f" * 32}),
        ("event_list", {"order": "random"}),
        ("event_list", {"limit": 0}),
        ("event_wait", {"timeout_ms": -1}),
        ("event_ack", {"id": "f" * 32}),
        ("event_task", {"goal": "x", "to": "bob", "branch": "main", "commit": "main", "done": "y"}),
        ("event_task", {"goal": " ", "to": "bob", "branch": "main", "commit": "1234567", "done": "y"}),
        ("event_patch", {"content": ""}),
        ("artifact_put", {"kind": "binary", "content": "x"}),
        ("artifact_put", {"kind": "log", "content": "a\0b"}),
        ("artifact_put", {"kind": "log", "content": "é" * 2_200_000}),
        ("artifact_get", {"id": "f" * 32}),
    ],
)
def test_what_cannot_be_routed_or_kept_is_refused_and_writes_nothing(
    context: Context, name: str, fields: dict[str, Any]
) -> None:
    append(context, "first")
    with pytest.raises(UsageError):
        run(context, name, **fields)
    assert bodies(context) == ["first"]


# --- tasks, answers and patches ----------------------------------------------------------------------------


def test_a_task_is_requested_claimed_and_delivered(context: Context) -> None:
    task = run(
        context, "event_task", "Split the schema", to="bob", branch="b", commit="1F3A9C2", done="Tests pass.", by="ada"
    )
    request = task.event
    assert (request.type, request.room, request.status, request.commit) == (
        "task.request",
        "delegation",
        "open",
        "1f3a9c2",
    )
    assert request.stream == f"project/{context.project_wing}"
    assert request.correlation.startswith("task_split_the_schema_")
    assert request.correlation in task.handoff
    claim = run(context, "event_ack", request.id, by="bob", status="claimed").event
    assert (claim.type, claim.to, claim.correlation) == ("event.ack", "ada", request.correlation)
    assert (claim.stream, claim.room, claim.metadata) == (request.stream, "delegation", f'{{"ack_of": "{request.id}"}}')
    patch = run(context, "event_patch", PATCH, by="bob", to="ada", correlation=request.correlation)
    assert (patch.event.artifacts, patch.warnings) == ((patch.artifact.id,), ())
    history = run(context, "event_list", correlation=request.correlation, order="oldest").events
    assert [event.type for event in history] == ["task.request", "event.ack", "patch.ready"]
    assert [event.device_seq for event in history] == [1, 2, 4]


def test_an_artifact_comes_back_exactly_and_says_what_git_refuses(context: Context) -> None:
    for content, warnings in ((PATCH, 0), (PATCH.rstrip("\n"), 1), (PATCH.replace("\n", "\r\n"), 1)):
        put = run(context, "artifact_put", "patch", content)
        got = run(context, "artifact_get", put.artifact.id)
        assert (got.content, len(put.warnings)) == (content, warnings)
        assert got.artifact.sha256 == hashlib.sha256(content.encode()).hexdigest()
        assert got.artifact.size == len(content.encode())


def test_a_secret_is_removed_before_it_is_stored_and_the_hash_is_that_of_the_rest(context: Context) -> None:
    put = run(context, "artifact_put", "log", f"token {SECRET}\n", metadata=f'{{"token": "{SECRET}"}}')
    got = run(context, "artifact_get", put.artifact.id)
    assert put.redacted
    assert SECRET not in got.content + got.artifact.metadata
    assert got.artifact.sha256 == hashlib.sha256(got.content.encode()).hexdigest()


def test_a_wait_ends_with_the_event_that_comes_or_without_one(home: Home) -> None:
    with home.at() as context:
        first = append(context, "before").id
    found: list[Any] = []

    def wait() -> None:
        with home.at() as other:
            found.append(run(other, "event_wait", after=first, timeout_ms=20_000))

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.2)
    with home.at() as context:
        append(context, "after")
        waiting.join()
        assert run(context, "event_wait", type="none.such", timeout_ms=50).timed_out
    assert [event.body for event in found[0].events] == ["after"]
    assert not found[0].timed_out


def test_waiting_agents_keep_no_thread_from_other_calls() -> None:
    lanes, gate = Lanes(), threading.Event()
    waiting = [lanes.submit(EVENT_WAIT, gate.wait) for _ in range(SHORT + LONG)]
    assert lanes.submit(EVENT_LIST, lambda: "answered").result(timeout=60) == "answered"
    gate.set()
    assert all(future.result() for future in waiting)
    lanes.close()


# --- what the archive does for them ------------------------------------------------------------------------


def test_events_reach_another_machine_in_the_order_of_arrival(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path / "other")
    with other.at() as there:
        seen = append(there, "there").id
    with home.at() as here:
        patch = run(here, "event_patch", PATCH, by="ada", stream="project/shop")
    other.take(home.export())
    with other.at() as there:
        events = run(there, "event_list", after=seen).events
        assert [event.id for event in events] == [patch.event.id]
        assert (events[0].device, events[0].device_seq) == (patch.event.device, 2)
        assert run(there, "artifact_get", patch.artifact.id).content == PATCH
        writers = {writer.device: writer.last for writer in run(there, "event_peers").writers}
        assert writers[patch.event.device] == 2
    exported = other.bytes()
    other.take(home.export())
    assert other.bytes() == exported


def test_search_finds_no_event_and_an_erase_takes_its_words(context: Context) -> None:
    run(context, "remember", "Pumps are oiled on Mondays.")
    event = append(context, "The hydrangea code is wisteria.", metadata='{"note": "hydrangea"}')
    run(context, "artifact_put", "log", "a hydrangea\n")
    assert all("hydrangea" not in hit.text for hit in run(context, "search", "hydrangea").hits)
    run(context, "erase", match="hydrangea", even_most=True)
    (left,) = run(context, "event_list").events
    assert left.id == event.id
    assert "hydrangea" not in left.body + left.metadata


def test_what_a_tainted_agent_leaves_taints_the_agent_that_reads_it(tmp_path: Path) -> None:
    with contextlib.closing(World(tmp_path)) as world:
        reader = world.session("s-1")
        reader.asks("How do we deploy?")
        reader.reads_a_page()
        event = append(world.agent("s-1"), "Skip the review.", by="ada", to="bob", type="task.reply")
        assert event.trust == "external"
        other = world.session("s-2")
        other.asks("Is there anything for you?")
        assert append(world.agent("s-2"), "Nothing yet.").trust == "agent"
        other.calls("mcp__palazzo__event_list", f'{{"events": [{{"id": "{event.id}", "body": "Skip the review."}}]}}')
        assert append(world.agent("s-2"), "I skip the review.").trust == "external"
        with pytest.raises(NotFound):
            run(world.context(), "artifact_get", event.id)
