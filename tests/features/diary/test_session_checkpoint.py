"""What a session came to is entered in its agent's diary when it has ended, if that is wanted, and once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from palazzo.features.diary.contract import DiaryReadRequest, SessionCheckpointRequest
from palazzo.features.diary.diary_read import diary_read
from palazzo.features.diary.session_checkpoint import session_checkpoint
from palazzo.features.hooks.contract import HookRequest
from palazzo.features.hooks.hook import hook
from palazzo.model import Micros
from palazzo.operations.context import Context

FIXTURE = Path(__file__).parents[2] / "fixtures" / "claude-code" / "e8cc7d58-2992-4d51-82f0-f85e91170df2.jsonl"
SESSION = FIXTURE.stem
ENDED = SessionCheckpointRequest(SESSION, "claude-code")


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    (tmp_path / ".claude" / "projects" / "-home-dev-acme").mkdir(parents=True)
    with opened(tmp_path) as context:
        yield context


def opened(home: Path, **variables: str) -> Context:
    return Context(home / "palace.db", home, {"HOME": str(home), "PALAZZO_SERVICE": "off", **variables})


def held(context: Context, rows: int | None = None) -> None:
    """The session so far: its first rows, or all."""
    transcript = context.cwd / ".claude" / "projects" / "-home-dev-acme" / FIXTURE.name
    transcript.write_bytes(b"".join(FIXTURE.read_bytes().splitlines(keepends=True)[:rows]))
    hook(context, HookRequest("claude-code", "stop", SESSION, transcript=str(transcript)))


def entries(context: Context) -> list[str]:
    return [one.content for one in diary_read(context, DiaryReadRequest("claude-code")).entries]


def test_it_says_what_was_asked_decided_changed_and_left_open(context: Context) -> None:
    held(context)
    assert session_checkpoint(context, ENDED).id is not None
    (entry,) = diary_read(context, DiaryReadRequest("claude-code", topic="checkpoint", project="acme")).entries
    assert entry.content.startswith(f"Session {SESSION}: T01 Which database should the orders service use?\n")
    for heading, line in [
        ("Decided", "- Do not use MongoDB anywhere in this project."),
        ("Changed", "- 0042_idx.sql"),
        ("Left open", "- load test new_checkout, then enable the flag"),
    ]:
        _, _, rest = entry.content.partition(f"\n\n{heading}")
        assert line in rest.split("\n\n")[0].splitlines()


def test_what_a_tool_put_out_is_not_made_an_agent_s_words(context: Context) -> None:
    held(context)
    session_checkpoint(context, ENDED)
    assert "test_discount_rounding" not in entries(context)[0]


def test_a_session_that_ends_twice_is_entered_once(context: Context) -> None:
    held(context)
    session_checkpoint(context, ENDED)
    assert session_checkpoint(context, ENDED).id is None
    assert len(entries(context)) == 1


def test_of_a_session_that_went_on_only_what_is_new_is_entered(tmp_path: Path, context: Context) -> None:
    rows = FIXTURE.read_bytes().splitlines()
    middle = next(n for n, row in enumerate(rows) if b"T10 Which HTTP port" in row)
    held(context, middle)
    with Context(tmp_path / "palace.db", tmp_path, context.variables, clock=lambda: at(rows[middle])) as then:
        session_checkpoint(then, ENDED)
    held(context)
    session_checkpoint(context, ENDED)
    later, first = entries(context)
    assert "PostgreSQL 16" in first
    assert "PostgreSQL 16" not in later
    assert "no MongoDB in this project" in later
    assert "no MongoDB in this project" not in first


def at(row: bytes) -> Micros:
    from palazzo.text.times import parse_timestamp

    found = parse_timestamp(json.loads(row)["timestamp"])
    assert found is not None
    return found


@pytest.mark.parametrize("session", ["", "unknown", SESSION[:8]])
def test_a_session_that_is_not_known_is_not_entered(context: Context, session: str) -> None:
    held(context)
    assert session_checkpoint(context, SessionCheckpointRequest(session, "claude-code")).id is None
    assert entries(context) == []


def test_without_a_palace_none_is_made(tmp_path: Path, context: Context) -> None:
    assert session_checkpoint(context, ENDED).id is None
    assert not (tmp_path / "palace.db").exists()


def test_a_session_in_which_nothing_came_of_what_was_asked_is_not_entered(context: Context) -> None:
    held(context, 8)
    assert session_checkpoint(context, ENDED).id is None


@pytest.mark.parametrize(
    ("variables", "agent"),
    [
        ({}, ""),
        ({"PALAZZO_AUTO_COMMIT": "on"}, "claude-code"),
        ({"PALAZZO_AUTO_COMMIT": "on", "PALAZZO_AGENT_NAME": "Ada"}, "Ada"),
    ],
)
def test_the_end_of_a_session_brings_it_about_where_it_is_wanted(
    tmp_path: Path, variables: dict[str, str], agent: str
) -> None:
    with opened(tmp_path, **variables) as context:
        assert hook(context, HookRequest("claude-code", "session-end", SESSION)).checkpoint == agent
