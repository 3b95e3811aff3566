"""Profile shodh: its names, parameters and defaults; text with an id on every row, and the fields beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from tests.faces.mcp.talking import Talk

from palazzo.faces.mcp.profiles.shodh import INSTRUCTIONS, PROFILE, TOOLS
from palazzo.faces.mcp.server import describe_tool
from palazzo.palace import Palace
from palazzo.security.injected_text import palazzo_spans
from palazzo.text.token_counts import estimate_tokens

PUBLISHED_TOOLS = json.loads((Path(__file__).parent / "shodh_published.json").read_text())["tools"]
"""The tools of the published server: parameters with types, choices and defaults, and which are required."""
OWN_TOOLS = {
    "forget_by_tags", "get_memory", "brain", "health", "audit", "cleanup", "dedup", "export", "import_memories", "sync",
    "sync_push", "sync_pull", "sync_status",
}  # fmt: skip
"""Those of servers that followed it."""
OWN_DEFAULTS = {
    ("proactive_context", "auto_ingest"): False,  # what an agent is told becomes no memory unless it is asked for
    ("proactive_context", "semantic_threshold"): None,  # scores are on another scale, whose floor is fitted
}
OWN_PARAMETERS = {
    "remember": {"metadata"},
    "recall": {"tags_only", "since", "until", "min_importance"},
    "context_summary": {"topic"},
    "list_memories": {"type", "tags", "offset"},
}
"""What the published tools have here, too."""


@pytest.fixture
def talk(stocked_palace: Palace, tmp_path: Path) -> Talk:
    home = tmp_path / "shop"
    home.mkdir()
    return Talk(stocked_palace, home, profile="shodh", toolset="core")


def told(talk: Talk, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that must succeed; what it answers is as its schema says, and fenced where words are recorded."""
    result = talk.call(name, **arguments)
    assert not result["isError"], result
    structured: dict[str, Any] = result["structuredContent"]
    tool = next(tool for tool in TOOLS if tool.name == name)
    jsonschema.validate(structured, describe_tool(tool).output_schema)
    text = result["content"][0]["text"]
    if structured.get("notice", "").startswith("Recorded words"):
        assert palazzo_spans(text) == [(0, len(text))]
    for row in (row for rows in structured.values() if isinstance(rows, list) for row in rows):
        if isinstance(row, dict) and "id" in row:
            assert row["id"] in text
    return structured


def kept(talk: Talk, content: str, **arguments: Any) -> str:
    uid: str = told(talk, "remember", content=content, **arguments)["id"]
    return uid


def test_every_published_tool_is_there_and_no_other_but_those_that_followed() -> None:
    names = {tool.name for tool in TOOLS}
    assert names == PUBLISHED_TOOLS.keys() | OWN_TOOLS
    assert len(names) == len(TOOLS)
    assert PROFILE.tools("core") == PROFILE.tools("full") == TOOLS
    assert set(PROFILE.names.values()) <= names
    assert estimate_tokens(INSTRUCTIONS) < 300


@pytest.mark.parametrize("name", PUBLISHED_TOOLS)
def test_parameters_and_defaults_are_the_published_ones(name: str) -> None:
    tool = next(tool for tool in TOOLS if tool.name == name)
    parameters = PUBLISHED_TOOLS[name]["parameters"]
    properties = tool.input["properties"]
    assert properties.keys() - OWN_PARAMETERS.get(name, set()) == parameters.keys()
    assert set(tool.input.get("required", [])) == set(PUBLISHED_TOOLS[name]["required"])
    arguments = tool.parse_call(
        {parameter: _value(parameters[parameter]) for parameter in PUBLISHED_TOOLS[name]["required"]}
    )
    for parameter, schema in parameters.items():
        ours = properties[parameter]
        assert ours["type"].replace("integer", "number") == schema["type"], parameter
        assert set(ours.get("enum", ())) >= set(schema.get("enum", ())), parameter
        assert ("enum" in ours) == ("enum" in schema), parameter
        if "default" in schema:
            assert arguments[parameter] == OWN_DEFAULTS.get((name, parameter), schema["default"]), parameter


def _value(schema: dict[str, Any]) -> Any:
    """A value for a parameter."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "array":
        return [_value(schema.get("items", {"type": "string"}))]
    return {"string": "x", "number": 1, "boolean": True, "object": {}}[schema["type"]]


def test_what_is_remembered_is_recalled_and_read_in_full(talk: Talk) -> None:
    uid = kept(
        talk, "Okapis are fed at noon, because they sleep at dawn.", type="Decision", tags=["zoo"], importance=0.9,
        metadata={"ticket": "ZOO-1"}, created_at="2026-03-04",
    )  # fmt: skip
    (memory,) = told(talk, "recall", query="when are okapis fed", limit=1)["memories"]
    assert {name: memory[name] for name in ("id", "content", "type", "tags")} == {
        "id": uid, "content": "Okapis are fed at noon, because they sleep at dawn.", "type": "Decision",
        "tags": ["zoo"],
    }  # fmt: skip
    assert 0 < memory["score"] <= 1
    assert memory["created_at"].startswith("2026-03-04")
    whole = told(talk, "get_memory", id=uid[:12])
    assert (whole["content"], whole["importance"], whole["metadata"]) == (
        memory["content"], 0.9, {"ticket": "ZOO-1"},
    )  # fmt: skip
    again = told(talk, "remember", content="Okapis are fed at noon, because they sleep at dawn.")
    assert (again["id"], again["duplicate_of"]) == (uid, uid)


def test_memories_are_recalled_by_tag_time_and_importance(talk: Talk) -> None:
    old = kept(talk, "The okapi gate opens at eight.", tags=["gate"], created_at="2024-01-01", importance=0.2)
    new = kept(talk, "The okapi gate opens at nine.", tags=["gate", "hours"], importance=0.8)
    assert [one["id"] for one in told(talk, "recall", query="x", tags=["gate"], tags_only=True)["memories"]] == [
        new, old,
    ]  # fmt: skip
    talk.palace.embed_pending()
    asked = {"query": "when does the okapi gate open"}
    assert [one["id"] for one in told(talk, "recall", **asked, mode="temporal", limit=1)["memories"]] == [new]
    assert [one["id"] for one in told(talk, "recall", **asked, tags=["hours"])["memories"]] == [new]
    assert [one["id"] for one in told(talk, "recall", **asked, min_importance=0.7)["memories"]] == [new]
    assert old in {one["id"] for one in told(talk, "recall", **asked, until="2025-01-01")["memories"]}
    assert new in {one["id"] for one in told(talk, "recall", **asked, mode="semantic")["memories"]}
    assert new in {one["id"] for one in told(talk, "recall", **asked, mode="associative")["memories"]}


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "temporal", "associative"])
def test_where_nothing_is_remembered_it_is_said_what_to_try(talk: Talk, mode: str) -> None:
    answer = told(talk, "recall", query="zebra gateway", mode=mode, since="2100-01-01")
    assert answer["memories"] == []
    assert "try other words" in answer["notice"]


def test_memories_are_listed_by_type(talk: Talk) -> None:
    decision = kept(talk, "Feed the okapis at noon.", type="Decision")
    kept(talk, "Okapis like leaves.", type="Learning")
    answer = told(talk, "list_memories", type="Decision")
    assert ([one["id"] for one in answer["memories"]], answer["total"]) == ([decision], 1)
    assert told(talk, "list_memories", limit=1)["total"] == 3
    assert told(talk, "list_memories", type="Error")["memories"] == []


def test_a_memory_is_forgotten_by_id_and_several_by_tag_after_a_dry_run(talk: Talk) -> None:
    one, two = (kept(talk, f"Okapi number {n}.", tags=["okapi"]) for n in range(2))
    planned = told(talk, "forget_by_tags", tags=["okapi"])
    assert (planned["forgotten"], set(planned["ids"])) == (0, {one, two})
    assert told(talk, "forget", id=one) == {"forgotten": 1, "ids": [one]}
    assert talk.call("forget", id=one)["isError"]
    assert told(talk, "forget_by_tags", tags=["okapi"], dry_run=False) == {"forgotten": 1, "ids": [two]}
    assert told(talk, "list_memories", tags=["okapi"])["memories"] == []


def test_a_summary_has_decisions_learnings_and_the_rest(talk: Talk) -> None:
    assert told(talk, "context_summary")["notice"].startswith(("There are no memories", "Recorded"))
    ids = {kind: kept(talk, f"Okapi {kind}.", type=kind) for kind in ("Decision", "Learning", "Context")}
    answer = told(talk, "context_summary")
    assert [one["id"] for one in answer["decisions"]] == [ids["Decision"]]
    assert [one["id"] for one in answer["learnings"]] == [ids["Learning"]]
    assert ids["Context"] in {one["id"] for one in answer["context"]}


def test_what_bears_on_the_work_is_told_and_kept_only_when_asked(talk: Talk) -> None:
    context = "which port does the zebra gateway use"
    answer = told(talk, "proactive_context", context=context)
    assert list(answer) == ["notice", "memories", "reminders", "todos", "facts", "count"]
    before = told(talk, "list_memories")["total"]
    ingested = told(talk, "proactive_context", context=context, auto_ingest=True)["ingested"]
    assert told(talk, "get_memory", id=ingested)["content"] == context
    assert told(talk, "list_memories")["total"] == before + 1
    injected = "<palazzo-memory>\nzebra zebra zebra\n</palazzo-memory>"
    assert "ingested" not in told(talk, "proactive_context", context=injected, auto_ingest=True)


def test_how_the_memory_is(talk: Talk) -> None:
    kept(talk, "Feed the okapis at noon.", type="Decision", tags=["zoo"])
    stats = told(talk, "memory_stats")
    assert stats == told(talk, "brain")
    assert stats["by_type"]["Decision"] == 1
    assert stats["by_tag"]["zoo"] == 1
    assert stats["memories"] == sum(stats["by_trust"].values())
    assert {"name", "ok", "detail"} <= set(told(talk, "health")["checks"][0])
    findings = told(talk, "audit")["findings"]
    assert all("mend" in one for one in findings if not one["ok"])


def test_tidying_only_says_what_it_would_do_unless_told_otherwise(talk: Talk) -> None:
    short = kept(talk, "ok", importance=0.1)
    text = "Okapis are shy animals that live in the forest by the river and eat leaves at noon"
    one, two = kept(talk, text), kept(talk, f"{text}.")
    planned = told(talk, "cleanup")
    assert ([row["id"] for row in planned["candidates"]], planned["removed"]) == ([short], 0)
    assert told(talk, "cleanup", dry_run=False)["removed"] == 1
    (cluster,) = told(talk, "dedup")["clusters"]
    assert {cluster["survivor"], *cluster["copies"]} == {one, two}
    assert told(talk, "dedup", dry_run=False)["folded"] == 1
    assert told(talk, "dedup")["clusters"] == []


def test_what_is_no_memory_is_refused_in_a_sentence(talk: Talk) -> None:
    assert talk.refusal("get_memory", id="ffffffff").endswith(".")
    assert talk.refusal("remember", content="   ")
    assert "must be one of Observation, Decision" in talk.error("remember", content="x", type="Gossip")[1]
