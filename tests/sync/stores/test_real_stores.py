"""Stores that the other memories' own programs wrote, read to the word."""

from __future__ import annotations

from pathlib import Path

import pytest

from palazzo.importers import Fact, Note, SkippedRecord
from palazzo.importers.store_readers import detect_reader
from palazzo.sources.formats.source_times import moment

from .real_programs import claude_mem, mnemograph, server_memory
from .samples import MORNING, MORNING_MILLIS

pytestmark = pytest.mark.slow

HISTORY = """
engine.create_entities_force([
    {"name": "Use Postgres", "entityType": "decision", "observations": ["Because of row locks", "Ünïcode — 漢字"]},
    {"name": "Checkout", "entityType": "project", "observations": []},
    {"name": "Mistake", "entityType": "learning", "observations": ["Never said"]},
])
engine.create_relations([
    {"from": "Use Postgres", "to": "Checkout", "relationType": "decided_for"},
    {"from": "Mistake", "to": "Checkout", "relationType": "about"},
])
engine.add_observations([{"entityName": "Checkout", "contents": ["Runs on port 8443", "Was called Basket"]}])
observation = engine.state.entities[engine.state.get_entity_id_by_name("Checkout")].observations[1]
engine.delete_observations([{"entityName": "Checkout", "observations": ["Was called Basket"]}])
engine.delete_entities(["Mistake"])
import time
then = __import__("datetime").datetime.now(__import__("datetime").timezone.utc).isoformat()
time.sleep(0.01)
engine.add_observations([{"entityName": "Checkout", "contents": ["Said in vain"]}])
engine.restore_state_at(then, "in vain")
engine.add_observations([{"entityName": "Checkout", "contents": ["Said since"]}])
state = engine.state
print(json.dumps({
    "observations": {o.id: [e.name, o.text, o.ts.isoformat()] for e in state.entities.values() for o in e.observations},
    "relations": [
        [state.entities[r.from_entity].name, r.type, state.entities[r.to_entity].name] for r in state.relations
    ],
}))
"""


def test_what_mnemograph_holds_counts_here_and_what_it_took_back_is_gone(tmp_path: Path) -> None:
    memory = tmp_path / "shop-api" / ".claude" / "memory"
    held = mnemograph(memory, HISTORY)
    reader = detect_reader(tmp_path / "shop-api")
    assert reader is not None
    assert reader.name == "mnemograph"
    things = list(reader.read(tmp_path / "shop-api"))
    assert not [one for one in things if isinstance(one, SkippedRecord)]
    notes = [one for one in things if isinstance(one, Note)]
    counting = {note.key: [note.title, note.text, note.created_at] for note in notes if not note.is_gone}
    assert counting == {
        key: [name, f"{name}: {text}", moment(at)] for key, (name, text, at) in held["observations"].items()
    }
    assert {note.text for note in notes if note.is_gone} >= {
        "Mistake: Never said", "Checkout: Was called Basket", "Checkout: Said in vain",
    }  # fmt: skip
    facts = [one for one in things if isinstance(one, Fact)]
    current = [[one.subject, one.predicate, one.object] for one in facts if one.valid_to is None]
    assert current == held["relations"]
    assert ("Mistake", "about", "Checkout") in {
        (one.subject, one.predicate, one.object) for one in facts if one.valid_to is not None
    }
    assert {note.wing for note in notes} == {"shop-api"}


def test_what_the_mcp_memory_server_holds_comes_over_to_the_word(tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    entities = [
        {"name": "Kim", "entityType": "person", "observations": ["Prefers mornings", "Line\nbreak — 漢字 \U0001f600"]},
        {"name": "Checkout", "entityType": "service", "observations": []},
    ]
    answers = server_memory(
        file,
        [
            ("create_entities", {"entities": entities}),
            ("create_relations", {"relations": [{"from": "Kim", "to": "Checkout", "relationType": "maintains"}]}),
            ("add_observations", {"observations": [{"entityName": "Checkout", "contents": ["On port 8443", "Gone"]}]}),
            ("delete_observations", {"deletions": [{"entityName": "Checkout", "observations": ["Gone"]}]}),
            ("read_graph", {}),
        ],
    )
    graph = answers[-1]["structuredContent"]
    reader = detect_reader(file)
    assert reader is not None
    assert reader.name == "mcp-memory"
    things = list(reader.read(file))
    texts = [one.text for one in things if isinstance(one, Note)]
    assert texts == [f"{one['name']}: {said}" for one in graph["entities"] for said in one["observations"]]
    assert len(texts) == 3
    facts = [(one.subject, one.predicate, one.object) for one in things if isinstance(one, Fact)]
    assert facts == [(one["from"], one["relationType"], one["to"]) for one in graph["relations"]]


def test_what_claude_mem_holds_comes_over_while_it_runs(tmp_path: Path) -> None:
    when = {"created_at": MORNING, "created_at_epoch": MORNING_MILLIS}
    session = {
        "content_session_id": "c-1", "memory_session_id": "m-1", "project": "shop-api", "user_prompt": "why?",
        "started_at": MORNING, "started_at_epoch": MORNING_MILLIS, "completed_at": None, "completed_at_epoch": None,
        "status": "completed",
    }  # fmt: skip
    observation = {
        "memory_session_id": "m-1", "project": "shop-api", "text": None, "type": "bugfix", "title": "Leak in the pool",
        "subtitle": "Connections were kept", "facts": '["It never shrank"]', "narrative": "The pool — 漢字 — grew.",
        "concepts": '["gotcha"]', "files_read": '["src/pool.py"]', "files_modified": "[]", "prompt_number": 1,
        "discovery_tokens": 0, **when,
    }  # fmt: skip
    summary = {
        "memory_session_id": "m-1", "project": "shop-api", "request": "Find the leak", "investigated": None,
        "learned": "It was the pool", "completed": None, "next_steps": "Release", "files_read": None,
        "files_edited": None, "notes": None, "prompt_number": 1, "discovery_tokens": 0, **when,
    }  # fmt: skip
    prompt = {"content_session_id": "c-1", "prompt_number": 1, "prompt_text": "why does memory grow?", **when}
    with claude_mem(tmp_path) as post:
        held = {"sessions": [session], "observations": [observation], "summaries": [summary], "prompts": [prompt]}
        assert post("/api/import", held)["success"]
        assert post("/api/memory/save", {"text": "Remember the river", "title": "River", "project": "zoo"})["success"]
        reader = detect_reader(tmp_path)
        assert reader is not None
        assert reader.name == "claude-mem"
        things = list(reader.read(tmp_path))
    notes = {one.label: one for one in things if isinstance(one, Note)}
    assert {label: (note.text, note.wing, note.trust) for label, note in notes.items()} == {
        "bugfix": (
            "Leak in the pool\nConnections were kept\n\nThe pool — 漢字 — grew.\n\n- It never shrank",
            "shop-api",
            "agent",
        ),
        "discovery": ("River\nManual memory\n\nRemember the river", "zoo", "agent"),
        "summary": ("Request: Find the leak\n\nLearned: It was the pool\n\nNext steps: Release", "shop-api", "agent"),
        "prompt": ("why does memory grow?", "shop-api", "user"),
    }
    assert {notes[label].created_at for label in ("bugfix", "summary", "prompt")} == {moment(MORNING)}
    assert notes["bugfix"].tags == ("gotcha",)
