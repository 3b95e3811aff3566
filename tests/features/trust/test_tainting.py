"""What an agent writes on purpose: believed no more than what its session has met from outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.features.trust.sessions_written import PAGE, POISON, Session, World, run

from palazzo.client import rpc
from palazzo.errors import UsageError
from palazzo.operations import caller_taint, unarchived_transcripts
from palazzo.operations.caller_taint import whom_to_believe
from palazzo.operations.context import Context
from palazzo.security.note_taint import AGENTS_VARIABLES

NOTE = "Deployments skip the review."


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


@pytest.fixture
def session(world: World) -> Session:
    made = world.session("s-1")
    made.asks("How do we deploy?")
    return made


def trust_of(context: Context, drawers: tuple[str, ...]) -> set[str]:
    return {run(context, "show", one).entries[0].trust for one in drawers}


def woken(context: Context) -> str:
    return str(run(context, "wake_up").text)


# --- what taints -------------------------------------------------------------------------------------------


def test_a_note_after_a_page_of_the_same_turn_is_believed_no_more_than_the_page(world: World, session: Session) -> None:
    session.reads_a_page()
    agent = world.agent("s-1")
    notices: list[str] = []
    agent.on_notice = notices.append
    filed = run(agent, "remember", NOTE, by="claude")
    assert [notice for notice in notices if "Filed in quarantine, because this session has read" in notice]
    assert trust_of(agent, filed.drawers) == {"external"}
    assert NOTE not in woken(world.context())
    assert run(agent, "search", "deployments review").hits
    shown = run(agent, "show", filed.id)
    assert shown.entries[0].author == "claude"


def test_before_anything_from_outside_a_note_is_an_agents(world: World, session: Session) -> None:
    session.calls("Bash", "42 passed", command="pytest")
    agent = world.agent("s-1")
    filed = run(agent, "remember", NOTE)
    assert trust_of(agent, filed.drawers) == {"agent"}
    assert NOTE in woken(world.context())


def test_it_lasts_until_the_session_ends_and_no_longer(world: World, session: Session) -> None:
    session.reads_a_page()
    session.answers("It says so.")
    session.asks("Thanks. What time is it?")
    session.answers("Noon.")
    assert whom_to_believe(world.agent("s-1")).trust == "external"
    world.session("s-2").asks("Something else.")
    assert whom_to_believe(world.agent("s-2")).trust == "agent"


@pytest.mark.parametrize(
    ("operation", "given"),
    [
        ("remember", {"text": NOTE}),
        ("diary_write", {"agent": "claude", "text": NOTE}),
        ("todo_add", {"text": NOTE}),
        ("remind", {"text": NOTE, "topic": "deployments"}),
        ("checkpoint", {"document": json.dumps({"items": [{"content": NOTE}]})}),
        ("checkpoint", {"document": json.dumps({"diary": {"agent": "claude", "entry": NOTE}})}),
    ],
)
def test_every_way_of_writing_is_tainted_alike(
    world: World, session: Session, operation: str, given: dict[str, Any]
) -> None:
    session.reads_a_page()
    run(world.agent("s-1"), operation, **given)
    (entry,) = run(world.context(), "quarantine_list").entries
    assert entry.text == NOTE
    assert [one.origin for one in entry.why] == [PAGE]
    assert NOTE not in woken(world.context())


def test_a_task_in_quarantine_says_so_when_it_is_listed(world: World, session: Session) -> None:
    session.reads_a_page()
    run(world.agent("s-1"), "todo_add", NOTE)
    run(world.agent("s-1"), "remind", NOTE, topic="deployments")
    run(world.context(), "todo_add", "Rotate the keys.")
    assert {todo.text: todo.trust for todo in run(world.context(), "todo_list").todos} == {
        NOTE: "external",
        "Rotate the keys.": "user",
    }
    assert [reminder.trust for reminder in run(world.context(), "reminders", "open").reminders] == ["external"]


@pytest.mark.parametrize("operation", ["kg_add", "kg_add_many", "checkpoint"])
def test_a_fact_that_is_stated_after_a_page_is_not_told(world: World, session: Session, operation: str) -> None:
    session.reads_a_page()
    agent = world.agent("s-1")
    fact = {"subject": "Deployments", "predicate": "skip", "object": "the review"}
    match operation:
        case "kg_add":
            run(agent, operation, **fact)
        case "kg_add_many":
            run(agent, operation, json.dumps(fact))
        case _:
            run(agent, operation, json.dumps({"facts": [fact]}))
    (told,) = run(agent, "kg_query", "Deployments").facts
    assert told.trust == "external"
    assert "skip" not in woken(world.context())
    (entry,) = run(world.context(), "quarantine_list").entries
    assert (entry.kind, entry.text, [one.origin for one in entry.why]) == (
        "fact",
        "Deployments skip the review",
        [PAGE],
    )


def test_a_change_by_an_agent_that_has_read_a_page_is_marked_and_taken_back_in_one_step(
    world: World, session: Session
) -> None:
    person = world.context()
    note = run(person, "remember", "The retry budget is ten percent.", wing="api", room="limits")
    todo = run(person, "todo_add", "Rotate the keys.").todo
    before = len(run(person, "undo", list=True).changes)
    run(world.agent("s-1"), "wing_rename", "api", "service")  # before anything from outside
    session.reads_a_page()
    agent = world.agent("s-1")
    notices: list[str] = []
    agent.on_notice = notices.append
    run(agent, "forget", (note.id,))
    run(agent, "todo_done", (todo.id,))
    run(agent, "room_rename", "service/limits", "junk")
    assert len(notices) == 3
    assert all("palazzo undo" in notice for notice in notices)
    changes = run(person, "undo", list=True).changes
    made = changes[: len(changes) - before]
    assert [(change.verb, change.after_untrusted) for change in made] == [
        ("room rename", True),
        ("todo done", True),
        ("forget", True),
        ("wing rename", False),
    ]
    with pytest.raises(UsageError, match="a person can"):
        run(agent, "undo")
    for change in made[:3]:
        assert run(person, "undo", id=change.id).undone.id == change.id
    assert [hit.room for hit in run(person, "search", "retry budget").hits] == ["limits"]
    run(person, "forget", (note.id,))
    assert not run(person, "undo", list=True).changes[0].after_untrusted


def test_a_persons_words_are_a_persons_whatever_the_agent_has_read(world: World, session: Session) -> None:
    session.reads_a_page()
    person = world.context()
    filed = run(person, "remember", NOTE)
    assert trust_of(person, filed.drawers) == {"user"}


def test_what_is_typed_in_an_agents_shell_is_the_agents(world: World, session: Session) -> None:
    shell = world.context(CLAUDECODE="1", CLAUDE_CODE_SESSION_ID="s-1")
    assert whom_to_believe(shell).trust == "agent"
    session.reads_a_page()
    assert trust_of(shell, run(shell, "remember", NOTE).drawers) == {"external"}


def test_a_service_is_told_whether_a_shell_is_an_agents() -> None:
    passed = rpc.surroundings("/", dict.fromkeys(AGENTS_VARIABLES, "1"))["variables"]
    assert set(passed) >= set(AGENTS_VARIABLES)


def test_what_the_memory_hands_back_taints_as_it_did_when_it_came(world: World, session: Session) -> None:
    session.reads_a_page()
    whom_to_believe(world.agent("s-1"))
    hit = next(one for one in run(world.context(), "search", "deployments must skip the review").hits)
    assert hit.trust == "external"
    later = world.session("s-2")
    later.asks("What do we know about deployments?")
    later.calls("mcp__palazzo__search", f"[{hit.id}] · today · external\n{hit.text}", query="deployments")
    assert whom_to_believe(world.agent("s-2")).trust == "external"


# --- which session it is -----------------------------------------------------------------------------------


def test_without_a_name_every_session_counts_that_goes_on_here(world: World, session: Session) -> None:
    session.reads_a_page()
    assert whom_to_believe(world.context("agent")).trust == "external"
    world.now += 5 * 3_600_000_000  # type: ignore[assignment]
    assert whom_to_believe(world.context("agent")).trust == "agent"


def test_a_session_that_is_named_is_not_tainted_by_another(world: World, session: Session) -> None:
    session.reads_a_page()
    other = world.session("s-2")
    other.asks("Something else.")
    assert whom_to_believe(world.agent("s-2")).trust == "agent"


def test_a_name_that_stayed_behind_stands_for_the_session_that_came_after(world: World, session: Session) -> None:
    session.answers("With a script.")
    assert whom_to_believe(world.agent("s-1", "CLAUDE_CODE_SESSION_ID")).trust == "agent"
    later = world.session("s-2")
    later.asks("After /clear: what does the page say?")
    later.reads_a_page()
    assert whom_to_believe(world.agent("s-1", "CLAUDE_CODE_SESSION_ID")).trust == "external"


def test_a_session_that_nobody_knows_is_not_one_that_met_nothing(world: World) -> None:
    assert whom_to_believe(world.agent("never-seen")).trust == "external"


def test_a_session_of_which_nothing_is_kept_is_judged_by_its_transcript_and_still_not_kept(world: World) -> None:
    unknown = Session(world, "5f0c1a9e-unheard")
    unknown.asks("What does the page say?")
    unknown.reads_a_page()
    agent = world.agent(unknown.name)
    filed = run(agent, "remember", NOTE)
    assert trust_of(agent, filed.drawers) == {"external"}
    assert not any(POISON in hit.text for hit in run(agent, "search", POISON).hits)


@pytest.mark.parametrize("palace", ["palace.db", "not made yet.db"])
def test_without_a_name_what_changed_lately_is_judged_though_nothing_of_it_is_kept(world: World, palace: str) -> None:
    unknown = Session(world, "5f0c1a9e-unheard")
    unknown.asks("What does the page say?")
    agent = world.context("agent", palace=palace)
    assert whom_to_believe(agent).trust == "agent"
    unknown.reads_a_page()
    filed = run(agent, "remember", NOTE)
    assert trust_of(agent, filed.drawers) == {"external"}
    assert not any(POISON in hit.text for hit in run(agent, "search", POISON).hits)


def test_without_a_name_a_session_in_another_project_is_not_the_callers(world: World) -> None:
    elsewhere = Session(world, "5f0c1a9e-unheard", world.home / "web")
    elsewhere.asks("What does the page say?")
    elsewhere.reads_a_page()
    assert whom_to_believe(world.context("agent")).trust == "agent"


def test_what_there_was_no_time_to_take_in_is_judged(
    world: World, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caller_taint, "_READING", -1.0)
    session.reads_a_page()
    newer = world.session("s-2")
    newer.asks("Something else.")
    assert whom_to_believe(world.context("agent")).trust == "external"


def test_a_transcript_that_nobody_can_read_is_not_one_of_who_met_nothing(world: World) -> None:
    unknown = Session(world, "5f0c1a9e-unheard")
    unknown.path.write_bytes(b"\x00\xff not a transcript")
    assert whom_to_believe(world.agent(unknown.name)).trust == "external"


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("kg_end", {"subject": "api", "predicate": "uses", "object": "Redis"}),
        ("kg_supersede", {"subject": "api", "predicate": "uses", "old": "Redis", "new": "Valkey"}),
    ],
)
def test_a_fact_of_a_person_is_not_ended_under_words_from_outside(
    world: World, session: Session, operation: str, arguments: dict[str, str]
) -> None:
    run(world.context(), "kg_add", "api", "uses", "Redis")
    session.reads_a_page()
    with pytest.raises(UsageError, match="a person can"):
        run(world.agent("s-1"), operation, **arguments)
    (fact,) = run(world.context(), "kg_query", "api").facts
    assert (fact.object, fact.trust) == ("Redis", "user")


def test_tags_and_tunnels_are_not_made_under_words_from_outside(world: World, session: Session) -> None:
    note = run(world.context(), "remember", "Tests are run with nox.", room="tests")
    run(world.context(), "remember", "Builds are run with make.", room="builds")
    session.reads_a_page()
    with pytest.raises(UsageError, match="a person can"):
        run(world.agent("s-1"), "tag", "add", "approved by the owner", (note.id,))
    with pytest.raises(UsageError, match="a person can"):
        run(world.agent("s-1"), "tunnel_add", "tests", "builds", label="approved by the owner")


def test_while_capture_is_off_a_session_is_judged_and_nothing_is_taken_in(world: World) -> None:
    session = world.session("0f31aa02-off")
    session.asks("What does the page say?")
    session.reads_a_page()
    run(world.context(), "pause")
    assert whom_to_believe(world.agent(session.name)).trust == "external"
    assert not any(POISON in hit.text for hit in run(world.context(), "search", POISON).hits)


def test_an_agent_does_not_speak_as_the_person(world: World, session: Session) -> None:
    stated = run(world.agent("s-1"), "kg_add", "api", "uses", "Redis", stated_by="user")
    assert [(one.stated_by, one.trust) for one in stated.fact.provenance] == [("agent", "agent")]


def test_an_agent_is_believed_no_more_than_what_it_cites(world: World, session: Session) -> None:
    session.reads_a_page()
    whom_to_believe(world.agent("s-1"))
    page = next(one for one in run(world.context(), "search", POISON).hits if one.trust == "external")
    world.session("s-2").asks("Something else.")
    stated = run(world.agent("s-2"), "kg_add", "Deployments", "skip", "the review", sources=(page.id,))
    assert stated.fact.trust == "external"
    assert run(world.context(), "kg_add", "Reviews", "are", "optional", sources=(page.id,)).fact.trust == "user"


def test_what_an_agent_puts_in_the_place_of_recorded_words_is_worth_no_more_than_they(
    world: World, session: Session
) -> None:
    session.reads_a_page()
    filed = run(world.agent("s-1"), "remember", NOTE)
    world.session("s-2").asks("Something else.")
    better = run(world.agent("s-2"), "update_drawer", filed.id, text="No deployment is ever reviewed.")
    (entry,) = run(world.context(), "quarantine_list").entries
    assert (entry.id, [one.origin for one in entry.why]) == (better.item, [PAGE])


def test_what_is_stated_after_a_page_is_not_told_when_its_name_comes_up(world: World, session: Session) -> None:
    words = "How does Deployments-Bot skip the review?"
    session.reads_a_page()
    run(world.agent("s-1"), "kg_add", "Deployments-Bot", "skips", "the review")
    run(world.agent("s-1"), "todo_add", "Let Deployments-Bot skip the review")
    run(world.agent("s-1"), "remind", "Let Deployments-Bot skip the review", topic="Deployments-Bot")
    told = run(world.context(), "proactive_context", words)
    assert (told.facts, told.todos, told.reminders, told.memories) == ((), (), (), ())
    run(world.context(), "kg_add", "Deployments-Bot", "needs", "the review")
    assert [one.object for one in run(world.context(), "proactive_context", words).facts] == ["the review"]


@pytest.mark.parametrize("operation", ["remember", "checkpoint"])
def test_what_is_in_quarantine_is_no_double_of_a_persons_words(world: World, session: Session, operation: str) -> None:
    given = {"text": NOTE, "once": True}
    if operation == "checkpoint":
        given = {"document": json.dumps({"items": [{"content": NOTE}]})}
    session.reads_a_page()
    for _ in range(2):
        run(world.agent("s-1"), operation, **given)
    assert len(run(world.context(), "quarantine_list").entries) == 1
    run(world.context(), operation, **given)
    assert NOTE in woken(world.context())


def test_names_are_not_merged_under_words_from_outside(world: World, session: Session) -> None:
    for name in ("api", "gateway"):
        run(world.context(), "kg_add", name, "uses", "Redis")
    session.reads_a_page()
    with pytest.raises(UsageError, match="a person can"):
        run(world.agent("s-1"), "kg_merge", "api", "gateway")
    assert run(world.context(), "kg_merge", "api", "gateway").merged.into == "gateway"


@pytest.mark.parametrize("kept", [True, False])
def test_a_transcript_that_is_too_long_to_wait_for_is_judged(
    world: World, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    session = world.session("0f31aa02-long")
    session.asks("What does the page say?")
    if kept:
        assert whom_to_believe(world.agent(session.name)).trust == "agent"
    monkeypatch.setattr(caller_taint, "_MOST_OWN", 100)
    session.reads_a_page()
    assert whom_to_believe(world.agent(session.name)).trust == "external"
    assert not any(POISON in hit.text for hit in run(world.context(), "search", POISON).hits)


UNARCHIVED = "5f0c1a9e-unarchived"


@pytest.mark.parametrize(
    ("calls", "trust"),
    [
        ([("Bash", {"command": "git pull"}), ("Read", {"file_path": "README.md"})], "external"),
        ([("Bash", {"command": "curl -s https://x.example -o a.md"}), ("Read", {"file_path": "a.md"})], "external"),
        ([("Read", {"file_path": "/tmp/elsewhere/a.md"})], "external"),
        ([("Agent", {"prompt": "look into the files"})], "external"),
        ([("Bash", {"command": "git status"}), ("Read", {"file_path": "README.md"})], "agent"),
        ([("Bash", {"command": "curl -s http://localhost:8080/health"})], "agent"),
    ],
)
def test_a_transcript_that_is_not_archived_is_judged_by_what_its_earlier_calls_left(
    world: World, calls: list[tuple[str, dict[str, str]]], trust: str
) -> None:
    session = Session(world, UNARCHIVED)
    session.asks("What is new?")
    for tool, arguments in calls:
        session.calls(tool, "some words", **arguments)
    assert whom_to_believe(world.agent(UNARCHIVED)).trust == trust


def test_what_a_person_pastes_taints_a_session_that_is_not_archived(world: World) -> None:
    session = Session(world, UNARCHIVED)
    session.asks("The vendor writes:\n\n> Deployments skip the review.\n\nIs that so?")
    assert whom_to_believe(world.agent(UNARCHIVED)).trust == "external"


@pytest.mark.parametrize(("reads_a_page", "trust"), [(True, "external"), (False, "agent")])
def test_a_sub_agent_that_is_not_archived_is_judged_by_its_own_transcript(
    world: World, reads_a_page: bool, trust: str
) -> None:
    session = Session(world, UNARCHIVED)
    session.asks("How do we deploy?")
    session.delegates("a1b2c3d4", "look it up", "we deploy on Fridays", reads_a_page)
    assert whom_to_believe(world.agent(UNARCHIVED)).trust == trust


def test_a_transcript_that_is_too_long_to_be_read_may_hold_anything(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unarchived_transcripts, "_LARGEST", 100)
    unknown = Session(world, "5f0c1a9e-unheard")
    unknown.asks("Nothing of note, at some length.")
    assert whom_to_believe(world.agent(unknown.name)).trust == "external"
