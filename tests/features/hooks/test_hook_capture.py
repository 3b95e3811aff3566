"""What hooks keep of a session: every word that is new, once, and only of files that a host may name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from palazzo.errors import PalazzoError
from palazzo.features.hooks.contract import HookRequest, HookResult
from palazzo.features.hooks.hook import hook
from palazzo.features.wakeup.contract import WakeUpRequest
from palazzo.features.wakeup.wake_up import wake_up
from palazzo.operations.context import Context
from palazzo.store import hook_sessions, items

FIXTURES = Path(__file__).parents[2] / "fixtures"
CLAUDE = FIXTURES / "claude-code" / "e8cc7d58-2992-4d51-82f0-f85e91170df2.jsonl"
EXPECTED = json.loads((FIXTURES / "claude-code" / "EXPECTED-18-turns.json").read_text("utf-8"))
SESSION = CLAUDE.stem
STOP = HookRequest("claude-code", "stop", SESSION)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".claude" / "projects" / "-home-dev-acme").mkdir(parents=True)
    (tmp_path / ".codex" / "sessions").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def transcript(home: Path) -> Path:
    """Where Claude Code would write the session; nothing is written yet."""
    return home / ".claude" / "projects" / "-home-dev-acme" / CLAUDE.name


@pytest.fixture
def context(home: Path) -> Iterator[Context]:
    with opened(home) as context:
        yield context


def opened(home: Path, **variables: str) -> Context:
    given = {"HOME": str(home), "PALAZZO_SERVICE": "off", "PALAZZO_MIN_MESSAGES": "1", **variables}
    (home / "work").mkdir(exist_ok=True)
    return Context(home / "palace.db", home / "work", given)


def texts(context: Context) -> list[str]:
    with context.reading().database.snapshot() as connection:
        rows = connection.execute(
            "SELECT text, text_codec FROM item WHERE kind = 'message' AND standing = 'said' ORDER BY ordinal"
        )
        return [items.decode_text(text, codec) for text, codec in rows]


def stop(context: Context, path: Path, **fields: Any) -> HookResult:
    return hook(context, replace(STOP, transcript=str(path), **fields))


def turns(whole: bytes) -> list[bytes]:
    """A transcript as it is after each turn of the human: the lines up to where the next one begins."""
    lines = whole.splitlines(keepends=True)
    starts = [n for n, line in enumerate(lines) if begins_turn(json.loads(line))]
    return [b"".join(lines[:end]) for end in [*starts[1:], len(lines)]]


def begins_turn(row: dict[str, Any]) -> bool:
    """Whether a turn of the person begins with a row of Claude Code, or of Codex."""
    if row["type"] == "user":
        return [part["type"] for part in row["message"]["content"]] == ["text"]
    return bool(row["type"] == "event_msg" and row["payload"]["type"] == "task_started")


# --- what is kept ------------------------------------------------------------------------------------------


def test_each_stop_keeps_what_is_new_and_nothing_twice(context: Context, transcript: Path) -> None:
    for state in turns(CLAUDE.read_bytes()):
        transcript.write_bytes(state)
        stop(context, transcript)
        stop(context, transcript)
    kept = texts(context)
    beginnings = [turn["user"][:25] for turn in EXPECTED]  # one of them goes on with a key, which is not kept
    assert [sum(text.startswith(one) for text in kept) for one in beginnings] == [1] * len(EXPECTED)
    assert all(any(turn["assistant_final"] in text for text in kept) for turn in EXPECTED)


def test_a_transcript_that_lags_is_to_be_read_again(context: Context, transcript: Path) -> None:
    before, whole = turns(CLAUDE.read_bytes())[:2]
    transcript.write_bytes(before)
    last = EXPECTED[1]["assistant_final"]
    assert stop(context, transcript, last_message=last).again == (transcript,)
    transcript.write_bytes(whole)
    assert stop(context, transcript, last_message=last).again == ()


def test_a_session_s_end_only_says_what_to_read_again(context: Context, transcript: Path) -> None:
    transcript.write_bytes(CLAUDE.read_bytes())
    answer = hook(context, replace(STOP, event="session-end", transcript=str(transcript)))
    assert answer.again == (transcript,)
    assert (answer.inject, answer.ask, answer.tell) == ("", "", "")


def test_the_first_stop_makes_the_palace(home: Path, context: Context, transcript: Path) -> None:
    assert not (home / "palace.db").exists()
    transcript.write_bytes(turns(CLAUDE.read_bytes())[0])
    stop(context, transcript)
    assert texts(context)


@pytest.mark.parametrize("named", ["", "relative.jsonl", "~", "/", "/etc/hostname", "/does/not/exist.jsonl", "a\0b"])
def test_of_a_transcript_that_is_none_nothing_is_read(context: Context, named: str) -> None:
    answer = hook(context, replace(STOP, transcript=named, last_message="words"))
    assert answer.again == ()
    assert texts(context) == ["words"]  # which came with the payload


def test_a_transcript_that_is_not_written_yet_is_waited_for(context: Context, transcript: Path) -> None:
    assert stop(context, transcript).again == (transcript,)


def test_a_file_that_no_host_may_name_is_not_read(home: Path, context: Context, transcript: Path) -> None:
    elsewhere = home / "secret.jsonl"
    shutil.copy(CLAUDE, elsewhere)
    (transcript.parent / "link.jsonl").symlink_to(elsewhere)
    for path in (elsewhere, transcript.parent / "link.jsonl", transcript.parent / ".." / ".." / ".." / "secret.jsonl"):
        stop(context, path)
    assert texts(context) == []


def test_a_directory_that_the_person_named_may_hold_transcripts(home: Path) -> None:
    place = home / "elsewhere"
    place.mkdir()
    shutil.copy(CLAUDE, place / CLAUDE.name)
    with opened(home, PALAZZO_TRANSCRIPT_DIR=str(place)) as context:
        stop(context, place / CLAUDE.name)
        assert len(texts(context)) > len(EXPECTED)


# --- when a save is asked for ------------------------------------------------------------------------------


def test_the_prompt_to_save_says_how_many_messages_there_were(home: Path, transcript: Path) -> None:
    transcript.write_bytes(CLAUDE.read_bytes())
    with opened(home, PALAZZO_SAVE_MODE="ask", PALAZZO_SAVE_INTERVAL="3") as context:
        asked = stop(context, transcript).ask
        assert f"after {len(EXPECTED)} messages" in asked
        assert "`diary_write`" in asked
        assert stop(context, transcript).ask == ""


def test_the_prompt_to_save_names_the_tools_that_agents_have(home: Path, transcript: Path) -> None:
    transcript.write_bytes(CLAUDE.read_bytes())
    variables = {"PALAZZO_SAVE_MODE": "ask", "PALAZZO_SAVE_INTERVAL": "3", "PALAZZO_PROFILE": "mempalace"}
    with opened(home, **variables) as context:
        assert "`mempalace_diary_write`" in stop(context, transcript).ask


def test_nobody_is_asked_where_saves_are_silent(context: Context, transcript: Path) -> None:
    transcript.write_bytes(CLAUDE.read_bytes())
    assert stop(context, transcript) == HookResult(reason="a turn has ended")
    with context.reading().database.snapshot() as connection:
        session = hook_sessions.find(connection, "claude-code", SESSION)
    assert session is not None
    assert session.saved_at == len(EXPECTED)


# --- before a compaction -----------------------------------------------------------------------------------


def test_before_a_compaction_the_whole_transcript_is_kept(context: Context, transcript: Path) -> None:
    transcript.write_bytes(CLAUDE.read_bytes())
    answer = hook(context, replace(STOP, event="pre-compact", transcript=str(transcript)))
    assert answer.reason == "a compaction begins"
    assert len(texts(context)) > len(EXPECTED)


def test_a_compaction_whose_transcript_cannot_be_read_fails(context: Context, transcript: Path) -> None:
    transcript.write_bytes(CLAUDE.read_bytes())
    request = replace(STOP, event="pre-compact", transcript=str(transcript))
    context.palace_path.mkdir()
    with pytest.raises(PalazzoError, match="is a directory"):
        hook(context, request)


@pytest.mark.parametrize("said", ["", "/nowhere/at/all.jsonl", "relative.jsonl", "/etc/hostname"])
def test_a_compaction_of_which_nothing_can_be_read_does_not_wait(context: Context, said: str) -> None:
    answer = hook(context, replace(STOP, event="pre-compact", transcript=said))
    assert answer.reason == "a compaction begins"
    assert bool(answer.unread) == bool(said)


def test_what_the_person_named_is_kept_before_a_compaction(home: Path) -> None:
    place = home / "elsewhere"
    place.mkdir()
    shutil.copy(CLAUDE, place / CLAUDE.name)
    with opened(home, MEMPAL_DIR=str(place)) as context:
        answer = hook(context, replace(STOP, event="pre-compact"))
        assert answer.reason == "a compaction begins"
        assert len(texts(context)) > len(EXPECTED)


def test_a_forked_session_is_not_handed_back_what_it_has_copies_of(context: Context, transcript: Path) -> None:
    transcript.write_bytes(CLAUDE.read_bytes())
    stop(context, transcript)
    fork = transcript.with_stem("f0f0f0f0-0000-4000-8000-000000000000")
    fork.write_bytes(CLAUDE.read_bytes().replace(SESSION.encode(), fork.stem.encode()))
    asks = HookRequest("claude-code", "prompt", "s-2", prompt="which database did we choose for the orders service?")
    start = HookRequest("claude-code", "session-start", fork.stem, transcript=str(fork), beginning="fork")
    with Context(context.palace_path, Path("/home/dev/acme"), context.variables) as there:
        (again,) = hook(there, start).again
        hook(there, HookRequest("", "subagent-stop", "", transcript=str(again)))
        assert hook(there, asks).inject
        assert hook(there, replace(asks, session=fork.stem)).inject == ""


def test_a_session_is_not_told_of_itself_nor_of_what_it_was_forked_from(context: Context, transcript: Path) -> None:
    transcript.write_bytes(CLAUDE.read_bytes())
    stop(context, transcript)
    fork = transcript.with_stem("f0f0f0f0-0000-4000-8000-000000000000")
    fork.write_bytes(CLAUDE.read_bytes().replace(SESSION.encode(), fork.stem.encode()))
    start = HookRequest("claude-code", "session-start", "s-2")
    with Context(context.palace_path, Path("/home/dev/acme"), context.variables) as acme_context:
        other_text = hook(acme_context, start).inject
        assert "Last sessions:" in other_text
        own = replace(start, session=SESSION)
        assert hook(acme_context, own).inject == ""
        assert "Last sessions:" not in hook(acme_context, replace(own, beginning="compact")).inject
        assert "Last sessions:" not in hook(acme_context, replace(own, event="subagent-start", agent="a1")).inject
        hook(acme_context, HookRequest("", "subagent-stop", "", transcript=str(fork)))
        assert hook(acme_context, replace(own, session=fork.stem)).inject == ""
        result = wake_up(acme_context, WakeUpRequest(session=SESSION))
        assert "session" not in {line.section for line in result.lines}
