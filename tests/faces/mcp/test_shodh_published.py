"""Every tool of the published server: called with the least and with all that it takes, and what comes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from tests.faces.mcp.talking import Talk

from palazzo.faces.mcp.profiles.shodh import TOOLS, unsupported_tools
from palazzo.faces.mcp.server import describe_tool
from palazzo.operations.agent_tools.tool import Tool
from palazzo.palace import Palace
from palazzo.security.injected_text import palazzo_spans

PUBLISHED_TOOLS = json.loads((Path(__file__).parent / "shodh_published.json").read_text())["tools"]
ABSENT = {tool.name for tool in unsupported_tools.TOOLS}
VALUES: dict[str, Any] = {
    "tags": ["zoo"],
    "created_at": "2026-03-04",
    "since": "2026-01-01",
    "until": "2100-01-01",
    "entity": "Ada",
    "entity_filter": "Ada",
    "entity_name": "Ada",
    "max_depth": 2,
    "keywords": ["okapi"],
    "trigger_at": "2100-01-01T09:00Z",
    "due_date": "2100-01-01",
    "after_seconds": 60,
    "importance": 0.5,
    "status": "done",
    "limit": 5,
    "max_items": 3,
    "max_results": 3,
    "semantic_threshold": 0.5,
    "project": "zoo",
    "memory_types": ["Learning", "Pattern"],
}
FULL_ONLY: dict[str, dict[str, Any]] = {
    "list_todos": {"status": ["todo", "done"], "query": "okapi", "due": "all", "context": "@phone", "priority": "high"},
    "add_todo": {"status": "in_progress", "contexts": ["@phone"], "priority": "high"},
    "list_reminders": {"status": "all"},
    "recall": {"mode": "semantic", "tags": []},
    "remember": {"importance": 0.5},
}
REFUSED_IN_FULL = {"update_todo": "cannot be edited"}
"""Of what is asked in full, what cannot be done; the sentence that says so."""


@pytest.fixture
def talk(stocked_palace: Palace, tmp_path: Path) -> Talk:
    home = tmp_path / "shop"
    home.mkdir()
    variables = {"PALAZZO_PALACE": str(stocked_palace.database.path)}
    return Talk(stocked_palace, home, profile="shodh", toolset="core", variables=variables)


def fill_palace(talk: Talk) -> dict[str, Any]:
    """File a memory, a to-do with a comment, a reminder and a fact; return the ids."""
    memory = talk.told("remember", content="Okapis are shy.", type="Learning", tags=["zoo"])["id"]
    todo = talk.told("add_todo", content="Feed the okapi.", project="zoo")["id"]
    comment = talk.told("add_todo_comment", todo_id=todo, content=f"Leaves for {todo} are in the shed.")["id"]
    reminder = talk.told("set_reminder", content="Close the gate.", trigger_type="duration", after_seconds=900)["id"]
    full = Talk(talk.palace, talk.cwd)
    full.told("kg_add", subject="Ada", predicate="works at", object="the zoo", valid_from="2024-01-01")
    return {
        "id": memory, "memory_id": memory, "todo_id": todo, "parent_id": todo, "comment_id": comment,
        "reminder_id": reminder, "memory_ids": [memory],
    }  # fmt: skip


def arguments(name: str, ids_by_parameter: dict[str, Any], *, full: bool) -> dict[str, Any]:
    """The least that a tool takes, or all of it."""
    parameters = PUBLISHED_TOOLS[name]["parameters"]
    names = parameters if full else PUBLISHED_TOOLS[name]["required"]
    values = {**VALUES, **ids_by_parameter, **(FULL_ONLY.get(name, {}) if full else {})}
    least = {"trigger_type": "time", "trigger_at": VALUES["trigger_at"]} if name == "set_reminder" else {}
    least |= {"status": "cancelled"} if name == "update_todo" and not full else {}
    return {parameter: values.get(parameter, _value(parameters[parameter])) for parameter in names} | least


def _value(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "array":
        return [_value(schema.get("items", {"type": "string"}))]
    return {"string": "okapi", "number": 1, "boolean": True, "object": {"a": 1}}[schema["type"]]


@pytest.mark.parametrize("full", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["least", "full"])
def test_every_tool_is_called(talk: Talk, full: bool) -> None:
    ids_by_parameter = fill_palace(talk)
    for tool in (tool for tool in TOOLS if tool.name in PUBLISHED_TOOLS):
        if tool.hints.destroys or tool.name in ("complete_todo", "reinforce_memories"):
            ids_by_parameter = fill_palace(talk)
        result = talk.call(tool.name, **arguments(tool.name, ids_by_parameter, full=full))
        (block,) = result["content"]
        if tool.name in ABSENT:
            assert (result["isError"], block["text"]) == (True, tool.description)
        elif full and tool.name in REFUSED_IN_FULL:
            assert result["isError"]
            assert REFUSED_IN_FULL[tool.name] in block["text"]
        else:
            check_answer(tool, result)


def check_answer(tool: Tool, result: dict[str, Any]) -> None:
    """Look at an answer: it is as its schema says, with an id on every row, and recorded words are in the fence."""
    (block,) = result["content"]
    assert not result["isError"], (tool.name, block["text"])
    assert block["text"].strip(), tool.name
    fields = result["structuredContent"]
    jsonschema.validate(fields, describe_tool(tool).output_schema)
    if fields.get("notice", "").startswith("Recorded words"):
        assert palazzo_spans(block["text"]), tool.name
    for row in (row for rows in fields.values() if isinstance(rows, list) for row in rows):
        if isinstance(row, dict) and "id" in row:
            assert row["id"] in block["text"], tool.name


def test_what_is_not_here_is_refused_in_one_sentence_and_writes_nothing(talk: Talk) -> None:
    for name in ABSENT:
        sentence = talk.refusal(name, **arguments(name, {}, full=False))
        assert ". " not in sentence, name
        assert sentence.endswith("."), name
    assert talk.asked == []


def test_each_type_is_kept_shown_and_listed(talk: Talk) -> None:
    for kind in PUBLISHED_TOOLS["remember"]["parameters"]["type"]["enum"]:
        memory = talk.told("remember", content=f"Okapi {kind}.", type=kind)
        assert memory["memory_type"] == kind
        whole = talk.told("read_memory", memory_id=memory["id"])
        assert (whole["found"], whole["memory_type"], whole["content"]) == (True, kind, f"Okapi {kind}.")
        assert [row["memory_type"] for row in talk.told("list_memories", type=kind)["memories"]] == [kind]


def test_what_else_is_said_of_a_memory_is_kept_beside_it(talk: Talk) -> None:
    memory = talk.told("remember", content="Okapi 7 is ill.", robot_id="r7", reward=-0.5, geo_location=[1.5, 2, 3])
    assert talk.told("read_memory", memory_id=memory["id"])["metadata"] == {
        "robot_id": "r7", "reward": -0.5, "geo_location": [1.5, 2, 3],
    }  # fmt: skip


def test_memories_are_recalled_by_any_of_several_tags(talk: Talk) -> None:
    for tags in (["zoo"], ["gate"], ["zoo", "gate"], ["cafe"]):
        talk.told("remember", content=f"Okapi of {tags}.", tags=tags)
    rows = talk.told("recall_by_tags", tags=["zoo", "gate"])["memories"]
    assert [row["tags"] for row in rows] == [["gate", "zoo"], ["gate"], ["zoo"]]
    assert len(talk.told("recall_by_tags", tags=["zoo", "gate"], limit=2)["memories"]) == 2


def test_a_recall_by_places_is_refused_and_a_filter_that_is_not_here_is_named(talk: Talk) -> None:
    assert "no mode 'spatial'" in talk.refusal("recall", query="x", mode="spatial")
    assert talk.told("recall", query="zebra", robot_id="r7")["remarks"] == ["'robot_id' has no effect here."]


def test_a_to_do_keeps_what_is_said_of_it_and_is_found_by_it(talk: Talk) -> None:
    added = talk.told(
        "add_todo", content="Feed the okapi.", priority="high", status="blocked", blocked_on="Ada",
        notes="Leaves only.", contexts=["@zoo", "@phone"], tags=["okapi"], due_date="2100-03-04", project="zoo",
    )  # fmt: skip
    assert added["content"] == "Feed the okapi.\n\nLeaves only."
    fields = ("priority", "status", "blocked_on", "contexts", "tags", "due_date", "project")
    assert [added[name] for name in fields] == [
        "high", "blocked", "Ada", ["@zoo", "@phone"], ["okapi"], "2100-03-04", "zoo",
    ]  # fmt: skip
    plain = talk.told("add_todo", content="Paint the gate.")
    assert (plain["status"], plain["priority"]) == ("todo", "medium")

    def ids(**filters: Any) -> list[str]:
        return [row["id"] for row in talk.told("list_todos", **filters)["todos"]]

    assert set(ids()) == {added["id"], plain["id"]}
    for filters in (
        {"priority": "high"}, {"context": "@phone"}, {"project": "zoo"}, {"status": ["blocked"]},
        {"query": "okapi leaves"},
    ):  # fmt: skip
        assert ids(**filters) == [added["id"]], filters
    assert ids(due="this_week") == ids(due="overdue") == ids(project="nowhere") == []
    assert ids(limit=1, offset=1) == ids()[1:]


def test_a_to_do_is_done_or_dropped_and_counted(talk: Talk) -> None:
    done_id, dropped_id, open_id = (talk.told("add_todo", content=f"Okapi task {n}.")["id"] for n in range(3))
    part = talk.told("add_todo", content="A part.", parent_id=open_id)["id"]
    assert talk.told("complete_todo", todo_id=done_id)["status"] == "done"
    assert talk.told("complete_todo", todo_id=done_id)["changed"] is False
    assert talk.told("update_todo", todo_id=dropped_id, status="cancelled")["status"] == "cancelled"
    assert "cannot be edited" in talk.refusal("update_todo", todo_id=open_id, content="Other words.")
    assert talk.refusal("complete_todo", todo_id="ffffffff")
    stats = talk.told("todo_stats")
    assert [stats[name] for name in ("total", "todo", "done", "cancelled")] == [4, 2, 1, 1]
    assert [row["id"] for row in talk.told("list_subtasks", parent_id=open_id)["subtasks"]] == [part]
    assert [row["id"] for row in talk.told("list_todos", status=["done"])["todos"]] == [done_id]
    assert talk.told("delete_todo", todo_id=part)["status"] == "cancelled"
    shop = next(row for row in talk.told("list_projects")["projects"] if row["name"] == "shop")
    assert shop["stats"]["total"] == 4


def test_comments_are_notes_about_a_to_do(talk: Talk) -> None:
    todo = talk.told("add_todo", content="Feed the okapi.")["id"]
    talk.told("add_todo_comment", todo_id=todo, content="Leaves are in the shed.")
    talk.told("add_todo_comment", todo_id=todo, content="Half of it is done.", comment_type="progress")
    rows = talk.told("list_todo_comments", todo_id=todo)["comments"]
    assert [(row["content"], row["comment_type"]) for row in rows] == [
        ("Leaves are in the shed.", "comment"), ("Half of it is done.", "progress"),
    ]  # fmt: skip
    talk.told("update_todo_comment", todo_id=todo, comment_id=rows[1]["id"], content="All of it is done.")
    talk.told("delete_todo_comment", todo_id=todo, comment_id=rows[0]["id"])
    assert [row["content"] for row in talk.told("list_todo_comments", todo_id=todo)["comments"]] == [
        "All of it is done."
    ]
    assert talk.refusal("add_todo_comment", todo_id="f" * 32, content="Of nothing.")
    assert "whole id" in talk.refusal("add_todo_comment", todo_id=todo[:8], content="Of a part.")
    assert talk.told("list_todo_comments", todo_id="f" * 32)["comments"] == []


def test_only_a_comment_of_the_to_do_is_changed_or_forgotten(talk: Talk) -> None:
    todo, other_todo = (talk.told("add_todo", content=f"Okapi task {n}.")["id"] for n in range(2))
    note = talk.told("remember", content="Okapis are shy.")["id"]
    comment = talk.told("add_todo_comment", todo_id=todo, content="Half of it is done.")["id"]
    for of, uid in ((todo, note), (todo, other_todo), (todo, todo), (other_todo, comment)):
        for tool, more in (("update_todo_comment", {"content": "Other words."}), ("delete_todo_comment", {})):
            assert "is not a comment on the to-do" in talk.refusal(tool, todo_id=of, comment_id=uid, **more)
    assert {row["id"] for row in talk.told("list_todos")["todos"]} == {todo, other_todo}
    assert talk.told("read_memory", memory_id=note)["content"] == "Okapis are shy."
    assert "No to-do has the id" in talk.refusal("add_todo_comment", todo_id=note, content="Of a note.")
    assert talk.told("delete_todo_comment", todo_id=todo, comment_id=comment)["forgotten"] == 1
    long = talk.told("add_todo_comment", todo_id=todo, content="All that is known of okapis. " * 300)["id"]
    assert talk.told("delete_todo_comment", todo_id=todo, comment_id=long)["forgotten"] >= 1


def test_a_long_to_do_is_found_by_its_words(talk: Talk) -> None:
    long = talk.told("add_todo", content="Feed the okapi with leaves of the fig tree. " * 200)["id"]
    short = talk.told("add_todo", content="Paint the gate.")["id"]
    rows = [row["id"] for row in talk.told("list_todos", query="okapi fig leaves")["todos"]]
    assert rows[:1] == [long]
    assert short not in rows


def test_what_is_overdue_is_not_due_today(talk: Talk) -> None:
    talk.told("add_todo", content="Late.", due_date="2020-03-04")
    talk.told("add_todo", content="Now.", due_date="today")
    stats = talk.told("todo_stats")
    assert (stats["overdue"], stats["due_today"]) == (1, 1)


def test_a_reminder_after_no_time_says_when_it_is(talk: Talk) -> None:
    reminder = talk.told("set_reminder", content="Close.", trigger_type="duration", after_seconds=-5)
    assert reminder["remarks"] == ["'after_seconds' is -5, below the minimum; 1 was used."]
    assert "above the maximum" in talk.text("set_reminder", content="x", trigger_type="duration", after_seconds=1e300)


def test_reminders_are_set_listed_and_dismissed(talk: Talk) -> None:
    timed_reminder = talk.told("set_reminder", content="Close.", trigger_type="time", trigger_at="2100-01-01T09:00:00Z")
    assert (timed_reminder["due_at"], timed_reminder["status"]) == ("2100-01-01T09:00:00Z", "pending")
    topical_reminder = talk.told("set_reminder", content="Ask Ada.", trigger_type="context", keywords=["okapi", "diet"])
    assert topical_reminder["keywords"] == "okapi diet"
    for kind, missing in (("time", "trigger_at"), ("duration", "after_seconds"), ("context", "keywords")):
        assert f"needs '{missing}'" in talk.refusal("set_reminder", content="x", trigger_type=kind)
    assert {row["id"] for row in talk.told("list_reminders")["reminders"]} == {
        timed_reminder["id"],
        topical_reminder["id"],
    }
    assert talk.told("list_reminders", status="triggered")["reminders"] == []
    assert talk.told("dismiss_reminder", reminder_id=timed_reminder["id"])["status"] == "dismissed"
    assert talk.told("dismiss_reminder", reminder_id=timed_reminder["id"])["changed"] is False
    assert [row["id"] for row in talk.told("list_reminders", status="dismissed")["reminders"]] == [timed_reminder["id"]]


def test_what_is_wrong_is_said_of_the_arguments_that_there_are(talk: Talk) -> None:
    span = {"since": "2026-03-04", "until": "2026-01-01"}
    timed_arguments = {"content": "x", "trigger_type": "time", "trigger_at": "nonsense"}
    for name, arguments_of_tool, begins in (
        ("consolidation_report", span, "The time range is inverted: since must be before until."),
        (
            "recall",
            {**span, "query": "x", "tags_only": True},
            "The time range is inverted: since must be before until.",
        ),
        ("set_reminder", timed_arguments, "trigger_at: 'nonsense' is not a future time"),
    ):
        assert talk.refusal(name, **arguments_of_tool).startswith(begins)


def test_facts_are_searched_by_words_and_by_whom_they_are_about(talk: Talk) -> None:
    fill_palace(talk)
    assert [row["fact"] for row in talk.told("search_facts", query="zoo ADA")["facts"]] == ["Ada works at the zoo"]
    assert talk.told("search_facts", query="giraffe")["facts"] == []
    assert talk.told("search_facts", entity="Ada")["count"] == 1
    assert talk.told("fact_narratives", entity_filter="the zoo")["count"] == 1
    entity_view = talk.told("explore_entity", entity_name="ada")
    assert [row["name"] for row in entity_view["entities"]] == ["Ada", "the zoo"]
    assert entity_view["relationships"][0]["relation_type"] == "works at"
    assert talk.told("explore_entity", entity_name="Nobody")["found"] is False
