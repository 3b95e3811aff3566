"""What a session's transcript shows that its agent used of what it was given: looked for once, as it is captured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.features.hooks.test_hook import DECISION, PROMPT, START, Clock, note

from palazzo.features.hooks.contract import HookRequest, HookResult
from palazzo.features.hooks.hook import hook
from palazzo.features.ledger.contract import WhyRequest
from palazzo.features.ledger.why import why
from palazzo.features.notes.contract import RememberRequest
from palazzo.features.notes.remember import remember
from palazzo.features.wakeup import proactive_context
from palazzo.features.wakeup.contract import MemoryView, ProactiveContextResult
from palazzo.model import Micros
from palazzo.operations.context import Context
from palazzo.store import hook_sessions, ledger, transcripts
from palazzo.text.times import to_iso

MINUTE = 60_000_000
Rows = list[dict[str, Any]]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def context(tmp_path: Path, clock: Clock) -> Iterator[Context]:
    (tmp_path / "api").mkdir()
    given = {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off", "TZ": "UTC", "PALAZZO_MIN_MESSAGES": "1"}
    with Context(tmp_path / "palace.db", tmp_path / "api", given, clock=clock) as context:
        yield context


class Session:
    """A session of Claude Code: what is said in it goes to its transcript, as the host would write it."""

    def __init__(self, context: Context, clock: Clock, home: Path) -> None:
        self._context, self._clock = context, clock
        self.path = home / ".claude" / "projects" / "-api" / "s-1.jsonl"
        self.path.parent.mkdir(parents=True)
        self.wrote("Go on.", role="user")

    def said(self, role: str, *content: dict[str, Any], later: int = MINUTE) -> None:
        """Write a message a minute later."""
        self._clock.go_on(later)
        row = {
            "parentUuid": None,
            "isSidechain": False,
            "userType": "external",
            "version": "2.1.330",
            "type": role,
            "sessionId": "s-1",
            "uuid": f"u-{self._clock.now}",
            "timestamp": to_iso(self._clock.now),
            "cwd": "/home/dev/api",
            "message": {"role": role, "content": list(content)},
        }
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def wrote(self, text: str, role: str = "assistant") -> None:
        self.said(role, {"type": "text", "text": text})

    def called(self, tool: str, **given: str) -> None:
        self.said("assistant", {"type": "tool_use", "id": f"t-{self._clock.now}", "name": tool, "input": given})

    def stops(self, **fields: Any) -> HookResult:
        request = HookRequest("claude-code", "stop", "s-1", transcript=str(self.path))
        return hook(self._context, replace(request, **fields))


@pytest.fixture
def session(context: Context, clock: Clock, tmp_path: Path) -> Session:
    return Session(context, clock, tmp_path)


def uses(context: Context) -> list[tuple[str, int]]:
    """What was used of each thing, and when, in order."""
    found = why(context, WhyRequest("s-1")).injections
    return [(use.how, use.at) for one in found for part in one.parts for use in part.used]


def test_a_file_that_a_memory_names_is_touched_when_a_call_opens_it(
    context: Context, session: Session, clock: Clock
) -> None:
    note(context, f"{DECISION} It is set in src/retry.py.")
    hook(context, PROMPT)
    session.wrote("Let me look.")
    session.called("Read", file_path="/home/dev/api/src/retry.py")
    at = clock.now
    session.called("Edit", file_path="/home/dev/api/src/retry.py", old_string="a", new_string="b")
    session.stops()
    assert uses(context) == [("touched", at)]


@pytest.mark.parametrize("kept", ["Owls", "Bats"])
def test_a_prompt_that_asks_for_the_past_gets_what_was_used_with_what_its_session_uses(
    context: Context, session: Session, kept: str
) -> None:
    note(context, DECISION)
    ids = {
        one: note(context, f"{one} are what the barn camera shows at night, we decided.") for one in ("Owls", "Bats")
    }
    asks = replace(PROMPT, prompt="what did we decide the barn camera shows at night?")
    hook(context, replace(PROMPT, session="s-0"))
    hook(context, replace(asks, session="s-0"))
    with context.writing().database.transaction() as connection:
        (before,) = hook_sessions.of_id(connection, "s-0")
        for uid in (*ledger.read_session_uids(connection, before.row) - set(ids.values()), ids[kept]):
            ledger.note_use(connection, before.row, uid, "fetched", context.now)
    first = hook(context, replace(asks, session="s-2")).inject
    hook(context, PROMPT)
    session.wrote(f"You know: {DECISION}")
    session.stops()
    lifted = hook(context, asks).inject
    other = next(one for one in ids if one != kept)
    assert {one for one in ids if one in first} == set(ids)
    assert lifted.index(kept) < lifted.index(other)


def test_a_file_that_a_memory_is_anchored_to_is_touched(context: Context, session: Session) -> None:
    (context.cwd / "src").mkdir()
    (context.cwd / "src" / "retry.py").write_text("retries = 3\n" * 9)
    remember(context, RememberRequest(DECISION, anchors=("src/retry.py:3-9",)))
    hook(context, PROMPT)
    session.called("Bash", command="sed -n '1,20p' src/other.py src/retry.py")
    session.stops()
    assert [how for how, _ in uses(context)] == ["touched"]


def test_words_of_a_memory_in_any_message_of_the_turn_are_a_use_at_that_time(
    context: Context, session: Session, clock: Clock
) -> None:
    note(context, DECISION)
    hook(context, PROMPT)
    session.wrote(f"You know: {DECISION}")
    at = clock.now
    session.wrote("Done.")
    session.stops(last_message="Done.")
    assert uses(context) == [("cited", at)]


def test_words_that_the_person_said_too_are_none(context: Context, session: Session) -> None:
    note(context, DECISION)
    hook(context, PROMPT)
    session.wrote(f"Is this so: {DECISION}", role="user")
    session.stops()
    session.wrote(f"I see, {DECISION}")
    session.stops()
    assert uses(context) == []


def test_what_came_before_it_was_given_is_no_use(context: Context, session: Session, clock: Clock) -> None:
    drawer = note(context, f"{DECISION} It is set in src/retry.py.")
    hook(context, START)
    session.called("Read", file_path="/home/dev/api/src/retry.py")
    session.wrote(f"{DECISION} {drawer}")
    clock.go_on()
    hook(context, PROMPT)
    session.stops()
    prompted = why(context, WhyRequest("s-1")).injections[-1]
    assert [part.used for part in prompted.parts] == [()]


def test_a_line_of_the_orientation_is_used_like_any_other(context: Context, session: Session) -> None:
    note(context, f"{DECISION} It is set in src/retry.py.")
    assert DECISION in hook(context, START).inject
    session.called("Read", file_path="/home/dev/api/src/retry.py")
    session.stops()
    assert [how for how, _ in uses(context)] == ["touched"]


def test_a_captured_call_that_reads_an_id_has_fetched_it(context: Context, session: Session) -> None:
    drawer = note(context, DECISION)
    hook(context, PROMPT)
    session.called("mcp__palazzo__read", id=drawer[:16])
    session.stops()
    assert [how for how, _ in uses(context)] == ["fetched"]


def test_what_was_looked_through_is_not_looked_through_again(context: Context, session: Session) -> None:
    note(context, DECISION)
    hook(context, PROMPT)
    for turn in ("One.", "Two."):
        session.wrote(turn)
        session.stops()
        with context.reading().database.snapshot() as connection:
            known = hook_sessions.find(connection, "claude-code", "s-1")
            source = transcripts.session_source(connection, session.path.as_uri(), "s-1")
            assert known is not None
            assert source is not None
            after = ledger.looked_through(connection, known.row, source)
            assert transcripts.captured_since(connection, source, after, 10) == []
            assert [one.text for one in transcripts.captured_since(connection, source, after - 1, 10)] == [turn]


def test_a_transcript_that_is_read_again_tells_itself_whose_it_is(context: Context, session: Session) -> None:
    note(context, DECISION)
    hook(context, PROMPT)
    session.wrote("Soon.")
    session.stops(last_message=DECISION)
    assert uses(context) == []
    session.wrote(DECISION)
    hook(context, HookRequest("", "subagent-stop", "", transcript=str(session.path)))
    assert [how for how, _ in uses(context)] == ["cited"]


def test_of_what_an_erase_took_only_the_id_is_left_to_cite(context: Context, session: Session) -> None:
    from tests.archive.test_erasing import erase

    drawer = note(context, f"{DECISION} It is set in src/retry.py.")
    hook(context, PROMPT)
    erase(context.writing(), "It is set in src/retry.py.")
    session.called("Read", file_path="/home/dev/api/src/retry.py")
    session.wrote(DECISION)
    session.wrote(f"See {drawer}.")
    session.stops()
    assert len(uses(context)) == 1


@pytest.mark.parametrize(("sessions", "comes"), [(0, True), (5, True), (7, False)])
def test_what_no_session_used_stops_coming_unasked_and_is_found_when_asked(
    context: Context, sessions: int, comes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawer = note(context, DECISION)
    for n in range(sessions):
        hook(context, replace(START, session=f"s-{n}0"))
        with context.writing().database.transaction() as connection:
            known = hook_sessions.record_hook(connection, "claude-code", f"s-{n}0", context.now)
            part = ledger.Part("drawer", drawer)
            ledger.record(connection, known.row, 0, "prompt", "relevant to a prompt", drawer, [part], 1, 1, context.now)
    found = ProactiveContextResult(
        memories=(memory(drawer),),
        reminders=(),
        todos=(),
        facts=(),
        threads=(),
        wings=("api",),
        floor=0.7,
        labels={},
        tokens=10,
        index="ready",
    )
    monkeypatch.setattr(proactive_context, "called_for", lambda *_: found)
    answer = hook(context, replace(PROMPT, prompt="The gateway drops requests when the retries of its clients storm."))
    assert (drawer in answer.inject) is comes
    assert drawer in hook(context, replace(PROMPT, session="s-asks")).inject


def memory(drawer: str) -> MemoryView:
    """A drawer as it is found for a prompt, barely above the floor."""
    return MemoryView(
        drawer, DECISION, False, "api", "notes", "note", "", (), "", Micros(0), "author", "", "user", 0.72
    )
