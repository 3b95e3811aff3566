"""What readers of other memories' stores tell of stores that are whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from palazzo.importers import Fact, Note, SkippedRecord, StoreRecord, Task
from palazzo.importers.store_readers import detect_reader, find_reader
from palazzo.sources.formats.source_times import moment

from . import samples
from .samples import EVENING, IDS, MORNING, NOON, WRITERS


def read(name: str, path: Path) -> list[StoreRecord]:
    return list(find_reader(name).read(path))


def notes(things: list[StoreRecord]) -> list[Note]:
    return [one for one in things if isinstance(one, Note)]


@pytest.mark.parametrize("name", WRITERS)
def test_a_store_is_recognised_as_what_it_is_and_as_nothing_else(name: str, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path)
    reader = detect_reader(path)
    assert reader is not None
    assert reader.name == name
    for other in WRITERS:
        assert find_reader(other).recognises(path) == (other == name)


@pytest.mark.parametrize("name", WRITERS)
def test_a_store_that_is_read_twice_tells_the_same_and_keys_are_its_own(name: str, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path)
    once = read(name, path)
    assert once == read(name, path)
    keys = [one.key for one in once if not isinstance(one, SkippedRecord)]
    assert len(keys) == len(set(keys)) > 0
    assert not any(str(tmp_path) in key for key in keys)


def test_mcp_memory_observations_stand_behind_their_entity_and_relations_are_facts(tmp_path: Path) -> None:
    things = read("mcp-memory", samples.mcp_memory(tmp_path))
    assert [(note.text, note.room, note.title, note.created_at) for note in notes(things)] == [
        ("Kim_Park: Prefers morning reviews", "person", "Kim_Park", None),
        ("Kim_Park owns checkout", "person", "Kim_Park", None),
    ]
    facts = [(one.subject, one.predicate, one.object) for one in things if isinstance(one, Fact)]
    assert facts == [("Checkout", "is a", "service"), ("Kim_Park", "maintains", "Checkout")]


def test_mcp_memory_of_two_machines_is_one_where_it_says_the_same(tmp_path: Path) -> None:
    """The file has no ids: who files both files has each observation once."""
    first = samples.mcp_memory(tmp_path)
    second = tmp_path / "other.jsonl"
    lines = first.read_text(encoding="utf-8").splitlines()
    second.write_text("\n".join(reversed(lines)), encoding="utf-8")
    assert {one.key for one in read("mcp-memory", first)} == {one.key for one in read("mcp-memory", second)}


def test_mcp_memory_of_the_fork_that_marks_its_files_is_recognised(tmp_path: Path) -> None:
    path = samples.mcp_memory(tmp_path)
    mark = '{"type":"_aim","source":"mcp-knowledge-graph"}\n'
    path.write_text(mark + path.read_text(encoding="utf-8"), encoding="utf-8")
    reader = detect_reader(path)
    assert reader is not None
    assert reader.name == "mcp-memory"
    assert not [one for one in reader.read(path) if isinstance(one, SkippedRecord)]


def test_wt_memory_records_are_notes_and_to_dos_of_their_project(tmp_path: Path) -> None:
    things = read("wt-memory", samples.wt_memory(tmp_path))
    first, second, todo = things
    assert isinstance(first, Note)
    assert isinstance(second, Note)
    assert (first.text, first.wing, first.label) == (
        "RocksDB crashes when two processes write.", "shop-api", "learning",
    )  # fmt: skip
    assert (first.branch, first.tags, first.created_at) == (
        "feature/locks", ("rocksdb", "change:locking"), moment(MORNING),
    )  # fmt: skip
    assert second.key == IDS[2], "a memory that was imported there is the one that it was"
    assert second.about == {"importance": 0.5, "metadata": {"why": "one writer"}}
    assert isinstance(todo, Task)
    assert (todo.kind, todo.text, todo.state, todo.tags) == ("todo", "Write the release notes.", "open", ("release",))


def test_shodh_memories_todos_reminders_and_relationships_come_with_their_times(tmp_path: Path) -> None:
    things = read("shodh", samples.shodh(tmp_path))
    memory, summary = notes(things)
    assert (memory.key, memory.text, memory.label, memory.tags) == (
        IDS[0], "We deploy blue-green, never in place.", "decision", ("deploy",),
    )  # fmt: skip
    assert memory.created_at == moment("2026-01-02T08:30:00.123456Z")
    assert (memory.author, memory.origin, memory.trust) == ("claude", "s-1", "agent")
    assert memory.about == {"importance": 0.8, "metadata": {"ticket": "SHOP-12"}, "entities": ["Blue"]}
    assert (summary.text, summary.label) == ("checkout: Takes the money.", "entity")
    todo, context, duration = (one for one in things if isinstance(one, Task))
    assert todo.text == "Rotate the keys\n\nBoth of them.\n\nDone by night."
    assert (todo.state, todo.wing, todo.due_at, todo.tags) == ("done", "Shop", moment(EVENING), ("security",))
    assert (context.kind, context.topic, context.due_at) == ("reminder", "deploy release", None)
    noon = moment(NOON)
    assert noon is not None
    assert duration.due_at == noon + 3_600_000_000
    (fact,) = (one for one in things if isinstance(one, Fact))
    assert (fact.subject, fact.predicate, fact.object, fact.confidence) == ("checkout", "depends_on", "Postgres", 0.9)
    assert (fact.valid_from, fact.valid_to, fact.stated_at) == (moment(MORNING), moment(EVENING), moment(MORNING))
    assert [one.what for one in things if isinstance(one, SkippedRecord)] == ["relationships"]


def test_shodh_export_of_version_1_is_the_same_memories(tmp_path: Path) -> None:
    memory = {"id": f"mem_{IDS[0]}", "content": "Likes Rust.", "type": "Learning", "created_at": MORNING, "tags": []}
    todo = {"id": f"todo_{IDS[1]}", "content": "Ship.", "status": "todo", "project": {"id": "p", "name": "Backend"}}
    edges = [{"source": "a", "target": "b", "weight": 0.7, "type": "semantic_association"}]
    export = {"mif_version": "1.0", "memories": [memory], "todos": [todo], "graph": {"edges": edges}}
    note, task, left = read("shodh", samples.json_file(tmp_path / "x.mif.json", export))
    assert isinstance(note, Note)
    assert (note.key, note.label, note.text) == (IDS[0], "learning", "Likes Rust.")
    assert isinstance(task, Task)
    assert (task.key, task.wing, task.state) == (IDS[1], "Backend", "open")
    assert isinstance(left, SkippedRecord)
    assert left.count == 1


def test_mnemograph_tells_what_counts_at_the_end_and_what_counted_before_as_gone(tmp_path: Path) -> None:
    things = read("mnemograph", samples.mnemograph(tmp_path))
    assert [(note.key, note.text, note.label, note.wing, note.is_gone) for note in notes(things)] == [
        ("O1", "Use Postgres: Because of row locks", "decision", "shop-api", False),
        ("O2", "Use Postgres: SQLite was too slow", "decision", "shop-api", True),
    ]
    (fact,) = (one for one in things if isinstance(one, Fact))
    assert (fact.subject, fact.predicate, fact.object) == ("Use Postgres", "decided_for", "Checkout")
    assert (fact.stated_at, fact.valid_to) == (moment(NOON), moment(EVENING))


def test_mnemograph_is_found_in_the_project_and_in_its_directory(tmp_path: Path) -> None:
    file = samples.mnemograph(tmp_path)
    whole = read("mnemograph", file)
    for path in (file.parent, file.parent.parent.parent):
        reader = detect_reader(path)
        assert reader is not None
        assert reader.name == "mnemograph"
        assert list(reader.read(path)) == whole


def said(own: str, text: str, at: str) -> tuple[str, str, dict[str, Any]]:
    return at, "add_observation", {"entity_id": "E", "observation": {"id": own, "text": text, "ts": at, "source": ""}}


BEGUN: tuple[str, str, dict[str, Any]] = (MORNING, "create_entity", {"id": "E", "name": "Pool", "type": "concept"})


def gone(path: Path) -> dict[str, bool]:
    return {note.text: note.is_gone for note in notes(read("mnemograph", path))}


def test_mnemograph_restore_leaves_out_what_came_between(tmp_path: Path) -> None:
    late = "2026-01-02T20:00:00+00:00"
    events = [
        BEGUN,
        said("A", "one", MORNING),
        said("B", "two", EVENING),
        (late, "restore_to", {"timestamp": NOON}),
        said("C", "three", "2026-01-02T21:00:00+00:00"),
    ]
    assert gone(samples.mnemograph(tmp_path, events)) == {"Pool: one": False, "Pool: two": True, "Pool: three": False}


def test_mnemograph_compact_says_again_what_counts(tmp_path: Path) -> None:
    again = {"id": "E", "name": "Pool", "type": "concept", "observations": [{"id": "A", "text": "one", "ts": MORNING}]}
    events = [
        BEGUN,
        said("A", "one", MORNING),
        said("B", "two", MORNING),
        (NOON, "compact", {}),
        (NOON, "create_entity", again),
    ]
    assert gone(samples.mnemograph(tmp_path, events)) == {"Pool: one": False, "Pool: two": True}


def test_mnemograph_before_0_4_kept_its_events_in_lines(tmp_path: Path) -> None:
    path = tmp_path / "shop-api" / ".claude" / "memory" / "events.jsonl"
    path.parent.mkdir(parents=True)
    lines = [
        {"id": f"V{n}", "ts": at, "op": op, "session_id": "s1", "source": "user", "data": data}
        for n, (at, op, data) in enumerate(samples.EVENTS)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    reader = detect_reader(path)
    assert reader is not None
    assert reader.name == "mnemograph"
    assert [(note.key, note.trust) for note in notes(list(reader.read(path)))] == [("O1", "user"), ("O2", "user")]


def test_claude_mem_observations_summaries_and_prompts_are_notes_of_their_project(tmp_path: Path) -> None:
    things = read("claude-mem", samples.claude_mem(tmp_path))
    observation, summary, prompt = notes(things)
    assert observation.text == (
        "Leak in the pool\nConnections were kept\n\nThe pool kept each connection that had failed.\n\n"
        "- The pool never shrank\n- Each request took one"
    )
    assert (observation.wing, observation.label, observation.tags) == (
        "shop-api", "bugfix", ("problem-solution", "gotcha"),
    )  # fmt: skip
    assert observation.created_at == moment(MORNING)
    assert (observation.origin, observation.author, observation.trust) == ("m-1", "claude", "agent")
    assert observation.about["files_modified"] == ["src/pool.py", "tests/test_pool.py"]
    assert summary.text == "Request: Find the leak\n\nLearned: It was the pool\n\nNext steps: Release"
    assert (prompt.text, prompt.wing, prompt.trust) == ("why does memory grow?", "shop-api", "user")
    (left,) = (one for one in things if isinstance(one, SkippedRecord))
    assert (left.what, left.count) == ("queued messages", 2)


def test_claude_memory_tells_notes_of_projects_and_a_persons_instructions_apart(tmp_path: Path) -> None:
    things = read("claude-memory", samples.claude_memory(tmp_path))
    found = {note.title: note for note in notes(things)}
    assert set(found) == {"CLAUDE", "python", "MEMORY", "Terse answers"}
    terse = found["Terse answers"]
    assert terse.text == "No summaries at the end.\n\n**Why:** they are not read.\n"
    assert (terse.wing, terse.label, terse.origin, terse.trust) == ("shop-api", "feedback", "c-1", "agent")
    assert terse.about["description"] == "no summaries at the end"
    assert (found["CLAUDE"].trust, found["CLAUDE"].label, found["CLAUDE"].wing) == ("user", "instructions", "")
    assert found["MEMORY"].author == "reviewer"
    (left,) = (one for one in things if isinstance(one, SkippedRecord))
    assert left.what == "indexes"


@pytest.mark.parametrize("below", ["", "projects", "projects/-home-kim-shop-api", "projects/-home-kim-shop-api/memory"])
def test_claude_memory_notes_are_the_same_from_wherever_they_are_read(below: str, tmp_path: Path) -> None:
    claude = samples.claude_memory(tmp_path)
    reader = detect_reader(claude / below)
    assert reader is not None
    assert reader.name == "claude-memory"
    terse = next(note for note in notes(list(reader.read(claude / below))) if note.title == "Terse answers")
    assert terse.wing == "shop-api"
    assert terse == next(note for note in notes(read("claude-memory", claude)) if note.title == "Terse answers")


def test_claude_memory_of_a_project_is_its_own_files(tmp_path: Path) -> None:
    root = tmp_path / "shop-api"
    for name in ("CLAUDE.md", "CLAUDE.local.md", ".claude/rules/sql.md", ".claude/agent-memory/dba/MEMORY.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"words of {name}\n", encoding="utf-8")
    trusts = {note.about["file"]: note.trust for note in notes(read("claude-memory", root))}
    assert trusts == {"CLAUDE.md": "repo", "CLAUDE.local.md": "user", "sql.md": "repo", "MEMORY.md": "agent"}


def test_claude_memory_follows_no_link(tmp_path: Path) -> None:
    claude = samples.claude_memory(tmp_path)
    secret = tmp_path / "id_rsa"
    secret.write_text("PRIVATE", encoding="utf-8")
    memory = claude / "projects" / "-home-kim-shop-api" / "memory"
    try:
        (memory / "key.md").symlink_to(secret)
        (memory / "all").symlink_to(tmp_path)
    except OSError:
        pytest.skip("no links here")
    things = read("claude-memory", claude)
    assert not any("PRIVATE" in note.text for note in notes(things))
    assert [one.what for one in things if isinstance(one, SkippedRecord)].count("links") == 1
