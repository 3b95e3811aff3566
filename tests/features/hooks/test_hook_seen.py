"""Seeing what hooks do: what an agent was given and used, that all of it is paused, that memory is not whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.archive.test_erasing import erase_places
from tests.features.hooks.test_hook import DECISION, HOUR, PROMPT, START, Clock, note

from palazzo.errors import AmbiguousId, NotFound, PalazzoError, UsageError
from palazzo.faces.mcp.client_calls import Surroundings
from palazzo.faces.mcp.tool_call import in_session
from palazzo.features.hooks.contract import HookRequest, HookResult
from palazzo.features.hooks.hook import hook
from palazzo.features.ledger.contract import WhyRequest, WhyResult
from palazzo.features.ledger.why import why
from palazzo.features.search.contract import ShowRequest
from palazzo.features.search.show import show
from palazzo.features.service.background_process import failure_file
from palazzo.features.upkeep.contract import DoctorRequest, PauseRequest, ResumeRequest, StatusRequest
from palazzo.features.upkeep.doctor import doctor
from palazzo.features.upkeep.pause import pause
from palazzo.features.upkeep.resume import resume
from palazzo.features.upkeep.status import status
from palazzo.operations import pause_state
from palazzo.operations.context import Context
from palazzo.security.call_origin import SESSION
from palazzo.store import hook_sessions

STOP = HookRequest("claude-code", "stop", "s-1")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def context(tmp_path: Path, clock: Clock) -> Iterator[Context]:
    (tmp_path / "api").mkdir()
    with opened(tmp_path, clock) as context:
        yield context


def opened(home: Path, clock: Clock, **variables: str) -> Context:
    given = {"HOME": str(home), "PALAZZO_SERVICE": "off", "TZ": "UTC", **variables}
    return Context(home / "palace.db", home / "api", given, clock=clock)


def seen(context: Context, session: str = "s-1", host: str | None = None) -> WhyResult:
    return why(context, WhyRequest(session, host))


def uses(context: Context) -> list[str]:
    return [use.how for one in seen(context).injections for part in one.parts for use in part.used]


# --- why ---------------------------------------------------------------------------------------------------


def test_what_was_given_is_shown_to_the_byte_with_when_and_why(context: Context, clock: Clock) -> None:
    drawer = note(context, DECISION + " \udcff\t\x07")
    answer = hook(context, PROMPT)
    (one,) = seen(context).injections
    assert one.text == answer.inject
    assert one.sha256 == hashlib.sha256(answer.inject.encode("utf-8", "surrogatepass")).hexdigest()
    assert (one.at, one.event, one.reason, one.erased) == (clock.now, "prompt", answer.reason, False)
    assert [(part.id, part.kind) for part in one.parts] == [(drawer, "drawer")]


def test_a_session_that_was_given_nothing_is_known_all_the_same(context: Context) -> None:
    hook(context, STOP)
    assert seen(context).injections == ()


def test_what_an_erase_took_says_so(context: Context) -> None:
    drawer = note(context, DECISION)
    hook(context, PROMPT)
    item = show(context, ShowRequest(drawer)).entries[0].spans[0].item
    erase_places(context.writing(), item)
    (one,) = seen(context).injections
    assert (one.text, one.erased, one.sha256) == (None, True, "")
    assert [part.id for part in one.parts] == [drawer]


def test_a_beginning_is_enough_where_one_session_has_it(context: Context) -> None:
    for session in ("abc-1", "abd-2", "ab"):
        hook(context, replace(STOP, session=session))
    assert seen(context, "abc").session == "abc-1"
    assert seen(context, "ab").session == "ab"
    with pytest.raises(AmbiguousId, match=r"abc-1 \(claude-code\)") as raised:
        seen(context, "a")
    assert len(raised.value.candidates) == 3


def test_of_two_hosts_with_one_id_one_is_named(context: Context) -> None:
    hook(context, STOP)
    hook(context, replace(STOP, host="codex"))
    with pytest.raises(AmbiguousId, match=r"s-1 \(codex\)"):
        seen(context)
    assert seen(context, host="codex").host == "codex"


@pytest.mark.parametrize("said", ["nothing", "%", "_", "' OR 1=1 --", "\ud800"])
def test_a_session_that_no_hook_told_of_is_not_known(context: Context, said: str) -> None:
    hook(context, STOP)
    with pytest.raises(NotFound):
        seen(context, said)


def test_an_empty_id_names_no_session(context: Context) -> None:
    hook(context, STOP)
    with pytest.raises(UsageError):
        seen(context, "  ")


# --- what was used -----------------------------------------------------------------------------------------


def test_what_the_last_message_cites_was_used(context: Context, clock: Clock) -> None:
    drawer = note(context, DECISION)
    hook(context, PROMPT)
    hook(context, replace(STOP, last_message="Ten percent, without a source."))
    assert uses(context) == []
    clock.go_on()
    for _ in range(2):
        hook(context, replace(STOP, last_message=f"Ten percent ({drawer[:12]})."))
    assert uses(context) == ["cited"]
    assert seen(context).injections[0].parts[0].used[0].at == clock.now


@pytest.mark.parametrize("variable", ["CLAUDE_CODE_SESSION_ID", SESSION])
def test_what_a_session_reads_whole_was_used(tmp_path: Path, context: Context, clock: Clock, variable: str) -> None:
    drawer = note(context, DECISION)
    hook(context, PROMPT)
    show(context, ShowRequest(drawer))
    with opened(tmp_path, clock, **{variable: "s-2"}) as other:
        show(other, ShowRequest(drawer))
    assert uses(context) == []
    with opened(tmp_path, clock, **{variable: "s-1"}) as own:
        assert show(own, ShowRequest(drawer)).id == drawer
    assert uses(context) == ["fetched"]


def test_what_was_not_given_is_not_used(tmp_path: Path, context: Context, clock: Clock) -> None:
    note(context, DECISION)
    hook(context, PROMPT)
    other = note(context, "The api has a timeout of two seconds.")
    with opened(tmp_path, clock, CLAUDE_CODE_SESSION_ID="s-1") as own:
        show(own, ShowRequest(other))
    hook(context, replace(STOP, last_message=other))
    assert uses(context) == []


def test_codex_says_in_which_session_a_tool_is_called(tmp_path: Path) -> None:
    around = Surroundings(tmp_path, {"HOME": "/h"})
    told = in_session(around, {"x-codex-turn-metadata": {"session_id": "s-1", "turn_id": "t"}})
    assert dict(told.variables) == {"HOME": "/h", SESSION: "s-1"}
    for meta in (None, {}, {"x-codex-turn-metadata": "s-1"}, {"x-codex-turn-metadata": {"session_id": 1}}):
        assert in_session(around, meta) is around


def test_status_has_the_totals(context: Context) -> None:
    drawer = note(context, DECISION)
    before = status(context, StatusRequest()).injected
    assert before is not None
    assert (before.injections, before.used_share) == (0, None)
    hook(context, PROMPT)
    hook(context, replace(PROMPT, session="s-2"))
    hook(context, replace(STOP, last_message=drawer))
    after = status(context, StatusRequest()).injected
    assert after is not None
    assert (after.injections, after.given, after.used, after.used_share) == (2, 2, 1, 0.5)
    assert after.tokens == 2 * seen(context).injections[0].tokens
    assert 0 < after.p50_ms <= after.p95_ms
    assert status(context, StatusRequest(as_of="yesterday")).injected is None


# --- pausing -----------------------------------------------------------------------------------------------


def test_while_it_is_paused_nothing_is_told_or_kept(context: Context) -> None:
    note(context, DECISION)
    pause(context, PauseRequest())
    assert hook(context, PROMPT) == HookResult(reason="off")
    assert hook(context, STOP) == HookResult(reason="off")
    with pytest.raises(NotFound):
        seen(context)
    assert resume(context, ResumeRequest()).was_paused
    assert DECISION in hook(context, PROMPT).inject
    assert not resume(context, ResumeRequest()).was_paused


def test_a_pause_for_a_time_ends_by_itself(context: Context, clock: Clock) -> None:
    note(context, DECISION)
    assert pause(context, PauseRequest("2h")).until == clock.now + 2 * HOUR
    clock.go_on(2 * HOUR - 1)
    assert context.is_off
    clock.go_on(1)
    assert DECISION in hook(context, PROMPT).inject


@pytest.mark.parametrize("said", ["yesterday", "now", "", "soon", "-3h", "\ud800"])
def test_a_time_that_is_none_or_is_over_pauses_nothing(context: Context, said: str) -> None:
    with pytest.raises(UsageError):
        pause(context, PauseRequest(said))
    assert not context.is_off


def test_what_cannot_be_read_is_a_pause_without_an_end(context: Context) -> None:
    file = pause_state.pause_file(context.palace_path)
    for written in (b"", b"soon\n", b"\xff\x00", "²".encode()):
        file.write_bytes(written)
        assert pause_state.pause_of(context) == pause_state.Pause(None)


def test_a_pause_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    with Context(tmp_path / "file" / "palace.db", tmp_path, {"HOME": str(tmp_path)}) as context:
        assert not context.is_off
        with pytest.raises(PalazzoError, match="PALAZZO_OFF"):
            pause(context, PauseRequest())


def test_a_pause_needs_no_palace_and_makes_none(tmp_path: Path, context: Context) -> None:
    pause(context, PauseRequest())
    assert hook(context, STOP).reason == "off"
    assert not (tmp_path / "palace.db").exists()


def test_status_and_doctor_tell_of_a_pause(context: Context, clock: Clock) -> None:
    note(context, DECISION)
    assert not status(context, StatusRequest()).paused
    pause(context, PauseRequest("2h"))
    found = status(context, StatusRequest())
    assert (found.paused, found.paused_until) == (True, clock.now + 2 * HOUR)
    assert any("paused until" in one.detail for one in doctor(context, DoctorRequest()).findings)


# --- when memory is not whole ------------------------------------------------------------------------------


def test_a_session_that_begins_in_a_pause_says_so(context: Context) -> None:
    pause(context, PauseRequest())
    answer = hook(context, START)
    assert (answer.inject, "palazzo resume" in answer.tell) == ("", True)
    assert hook(context, PROMPT).tell == ""


def test_a_session_that_begins_without_a_palace_says_so(context: Context) -> None:
    assert str(context.palace_path) in hook(context, START).tell
    assert hook(context, PROMPT).tell == ""
    assert hook(context, replace(START, beginning="resume")).tell == ""


def test_that_vectors_failed_is_told_once_in_a_session(context: Context) -> None:
    note(context, DECISION)
    assert hook(context, START).tell == ""
    failed = failure_file(context.variables)
    failed.parent.mkdir(parents=True, exist_ok=True)
    failed.write_text("the server at 127.0.0.1:9\ndoes not answer.")
    assert "the server at 127.0.0.1:9 does not answer." in hook(context, PROMPT).tell
    assert hook(context, replace(PROMPT, prompt="go on")).tell == ""
    assert hook(context, replace(START, session="s-2")).tell != ""
    with context.reading().database.snapshot() as connection:
        found = hook_sessions.find(connection, "claude-code", "s-1")
    assert found is not None
    assert found.noticed
