"""The tools documented for MemPalace: names, parameters, defaults, and the JSON that third-party clients parse."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.faces.mcp.talking import Talk, in_projects

from palazzo.faces.mcp.profiles.mempalace import INSTRUCTIONS, PROFILE, TOOLS
from palazzo.features.hosts.instructions import NAMES as TEXTS
from palazzo.injection.save_prompt import save_prompt
from palazzo.injection.tool_names import NAMES
from palazzo.model import Place
from palazzo.operations.agent_tools.tool_answers import NOTICE
from palazzo.palace import Palace
from palazzo.text.token_counts import estimate_tokens

REQUIRED, ONE_OF_TWO = object(), object()
_ROUTING = dict.fromkeys(("topic", "to_agent", "correlation_id", "branch", "base_commit"))
_FILTERS = {
    **dict.fromkeys((
        "stream", "room", "topic", "type", "to_agent", "from_agent", "writer", "correlation_id", "status",
        "since_event_id", "since_created_at",
    )),
    "limit": 50,
}  # fmt: skip
PARAMETERS: dict[str, dict[str, Any]] = {
    "status": {},
    "list_wings": {},
    "list_rooms": {"wing": None},
    "get_taxonomy": {},
    "get_aaak_spec": {},
    "search": {
        "query": REQUIRED, "limit": 5, "wing": None, "room": None, "source_file": None, "since": None, "before": None,
        "max_distance": 1.5, "context": None, "candidate_strategy": None, "cli_compatible": False,
        "include_media": False, "query_task": "search",
    },
    "check_duplicate": {"content": REQUIRED, "threshold": 0.9},
    "get_drawer": {"drawer_id": REQUIRED},
    "list_drawers": {"wing": None, "room": None, "since": None, "before": None, "limit": 20, "offset": 0},
    "add_drawer": {
        "wing": REQUIRED, "room": REQUIRED, "content": REQUIRED, "source_file": None, "added_by": "mcp",
    },
    "update_drawer": {"drawer_id": REQUIRED, "content": None, "wing": None, "room": None},
    "delete_drawer": {"drawer_id": REQUIRED},
    "get_drawers": {"drawer_ids": REQUIRED},
    "delete_drawers": {"drawer_ids": REQUIRED},
    "delete_by_source": {"source_file": REQUIRED, "dry_run": True},
    "mine": {
        "source": REQUIRED, "mode": "projects", "wing": None, "agent": "mempalace", "limit": 0, "dry_run": False,
        "extract": "exchange", "include_ignored": None, "include_subagents": False,
    },
    "sync": {"project_dir": None, "wing": None, "apply": False},
    "kg_query": {"entity": REQUIRED, "as_of": None, "direction": "both"},
    "kg_add": {
        "subject": REQUIRED, "predicate": REQUIRED, "object": REQUIRED, "valid_from": None, "valid_to": None,
        "source_closet": None, "source_file": None, "source_drawer_id": None,
    },
    "kg_supersede": {
        "subject": REQUIRED, "predicate": REQUIRED, "old_object": REQUIRED, "new_object": REQUIRED, "at": None,
    },
    "kg_invalidate": {"subject": REQUIRED, "predicate": REQUIRED, "object": REQUIRED, "ended": None},
    "kg_timeline": {"entity": None, "limit": 100, "offset": 0},
    "kg_stats": {},
    "traverse": {"start_room": REQUIRED, "max_hops": 2},
    "find_tunnels": {"wing_a": None, "wing_b": None},
    "graph_stats": {},
    "create_tunnel": {
        "source_wing": REQUIRED, "source_room": REQUIRED, "target_wing": REQUIRED, "target_room": REQUIRED, "label": "",
        "source_drawer_id": None, "target_drawer_id": None,
    },
    "list_tunnels": {"wing": None},
    "delete_tunnel": {"tunnel_id": REQUIRED},
    "list_hallways": {"wing": None, "limit": 100, "offset": 0},
    "delete_hallway": {"hallway_id": REQUIRED},
    "follow_tunnels": {"wing": REQUIRED, "room": REQUIRED},
    "diary_write": {
        "agent_name": REQUIRED, "entry": ONE_OF_TWO, "topic": "general", "wing": None, "content": ONE_OF_TWO,
    },
    "diary_read": {"agent_name": REQUIRED, "last_n": 10, "wing": None},
    "hook_settings": {"silent_save": None, "desktop_toast": None},
    "memories_filed_away": {},
    "reconnect": {},
    "list_agents": {},
    "checkpoint": {"items": REQUIRED, "diary": None, "dedup_threshold": 0.9, "added_by": None},
    "event_append": {
        "type": REQUIRED, "stream": REQUIRED, "room": REQUIRED, "topic": None, "from_agent": REQUIRED, **_ROUTING,
        "status": None, "body": "", "metadata": None, "artifact_ids": None,
    },
    "task_create": {
        "project": REQUIRED, "from_agent": REQUIRED, "to_agent": REQUIRED, "goal": REQUIRED, "branch": REQUIRED,
        "base_commit": REQUIRED, "done": REQUIRED,
    },
    "event_list": {**_FILTERS, "before_event_id": None, "order": None, "preview": False},
    "event_wait": {**_FILTERS, "timeout_ms": 60_000},
    "event_ack": {"event_id": REQUIRED, "from_agent": REQUIRED, "status": None, "body": "", "topic": None},
    "artifact_put": {"kind": REQUIRED, "content": REQUIRED, "created_by": REQUIRED, "metadata": None},
    "artifact_get": {"artifact_id": REQUIRED},
    "patch_submit": {
        "content": REQUIRED, "from_agent": REQUIRED, "stream": REQUIRED, "room": "patches", **_ROUTING, "body": "",
        "metadata": None,
    },
    "mesh_peers": {},
}  # fmt: skip
"""The documented parameters, with their defaults; None: optional, with none; a call needs one of two names of one."""


@pytest.fixture
def talk(stocked_palace: Palace, tmp_path: Path) -> Talk:
    home = tmp_path / "shop"
    home.mkdir()
    return Talk(stocked_palace, home, profile="mempalace", toolset="core")


def test_a_fact_is_one_of_the_project_of_its_server(talk: Talk) -> None:
    shop, garden = in_projects(talk, "bakery", "garden")
    fact = {"subject": "okapi gateway", "predicate": "listens on", "object": "1"}
    parsed(shop, "kg_add", **fact)
    assert [row["object"] for row in parsed(shop, "kg_query", entity="okapi gateway")["facts"]] == ["1"]
    answer = parsed(garden, "kg_query", entity="okapi gateway")
    assert (answer["facts"], answer["facts_of_other_projects"]) == ([], 1)
    assert parsed(garden, "kg_timeline", entity="okapi gateway")["timeline"] == []
    assert parsed(shop, "kg_invalidate", **fact)["success"]


def parsed(talk: Talk, tool: str, **arguments: Any) -> Any:
    """Call a tool that must succeed as a client of MemPalace does: its one text block is JSON."""
    result = talk.call(f"mempalace_{tool}", **arguments)
    assert not result["isError"], result
    (block,) = result["content"]
    told = json.loads(block["text"])
    same = result["structuredContent"]
    if isinstance(told, list):
        assert same["result"] == told
    else:
        assert {name: value for name, value in same.items() if name not in ("notice", "remarks")} == told
    return told


def failed(talk: Talk, tool: str, **arguments: Any) -> dict[str, Any]:
    result = talk.call(f"mempalace_{tool}", **arguments)
    assert result["isError"], result
    assert "structuredContent" not in result  # it would not be what the output schema says
    told: dict[str, Any] = json.loads(result["content"][0]["text"])
    return told


def added(talk: Talk, content: str = "Okapis are shy.", wing: str = "zoo", room: str = "okapis") -> str:
    uid: str = parsed(talk, "add_drawer", wing=wing, room=room, content=content)["drawer_id"]
    return uid


# --- names and parameters ----------------------------------------------------------------------------------


def test_every_documented_tool_is_there_and_no_other() -> None:
    assert {tool.name for tool in TOOLS} == {f"mempalace_{name}" for name in PARAMETERS}
    assert PROFILE.tools("core") == PROFILE.tools("full") == TOOLS


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_parameters_and_defaults_are_the_documented_ones(tool: Any) -> None:
    wanted = PARAMETERS[tool.name.removeprefix("mempalace_")]
    assert list(tool.input["properties"]) == list(wanted)
    required = [name for name, default in wanted.items() if default is REQUIRED]
    assert tool.input.get("required", []) == required
    given = [*required, *[name for name, default in wanted.items() if default is ONE_OF_TWO][:1]]
    sample = {name: _sample(tool.input["properties"][name]) for name in given}
    call = tool.parse_call(sample)
    defaults = {name: default for name, default in wanted.items() if default not in (REQUIRED, ONE_OF_TWO)}
    assert {name: call[name] for name in defaults} == defaults


def _sample(schema: dict[str, Any]) -> Any:
    return {"string": "x", "array": [], "integer": 1, "number": 1, "boolean": True}[schema["type"]]


def test_instructions_and_save_prompts_speak_of_tools_that_there_are() -> None:
    there = {tool.name for tool in TOOLS}
    assert estimate_tokens(INSTRUCTIONS) < 300
    assert set(PROFILE.names.values()) <= there
    asked = save_prompt("codex", 15, NAMES["mempalace"])
    for tool in ("diary_write", "add_drawer", "check_duplicate", "kg_add"):
        assert f"`mempalace_{tool}`" in asked
        assert f"`mempalace_{tool}`" in INSTRUCTIONS


@pytest.mark.parametrize("name", TEXTS)
def test_instruction_texts_speak_of_tools_that_there_are(talk: Talk, name: str) -> None:
    from palazzo.features.hosts.contract import InstructionsRequest
    from palazzo.features.hosts.instructions import instructions
    from palazzo.operations.context import Context

    with Context(cwd=talk.cwd, variables={}) as context:
        text = instructions(context, InstructionsRequest(name, "mempalace")).text  # type: ignore[arg-type]
    spoken_of = {word.strip("`.,:;()") for word in text.split() if "mempalace_" in word}
    assert spoken_of <= {tool.name for tool in TOOLS}


# --- results -----------------------------------------------------------------------------------------------


def test_status_counts_and_says_how_the_palace_is_used(talk: Talk) -> None:
    told = parsed(talk, "status")
    assert list(told) == ["total_drawers", "wings", "rooms", "protocol", "aaak_dialect"]
    assert told["total_drawers"] == sum(told["wings"].values()) == sum(told["rooms"].values()) > 2
    assert "mempalace_search" in told["protocol"]
    assert parsed(talk, "list_wings") == {"wings": told["wings"]}
    assert parsed(talk, "get_aaak_spec") == {"aaak_spec": told["aaak_dialect"]}
    assert parsed(talk, "list_rooms", wing="web") == {"wing": "web", "rooms": {"login": 1}}
    assert parsed(talk, "list_rooms")["rooms"] == told["rooms"]
    taxonomy = parsed(talk, "get_taxonomy")["taxonomy"]
    assert {wing: sum(rooms.values()) for wing, rooms in taxonomy.items()} == told["wings"]
    reconnected = parsed(talk, "reconnect")
    assert (reconnected["success"], reconnected["drawers"]) == (True, told["total_drawers"])


def test_a_hit_has_the_documented_fields_and_exact_words(talk: Talk) -> None:
    told = parsed(talk, "search", query="zebra retries were decided by the web team", wing="web")
    assert list(told) == ["query", "filters", "total_before_filter", "results"]
    assert told["filters"] == {"wing": "web", "room": None, "source_file": None, "since": None, "before": None}
    (hit,) = told["results"]
    assert list(hit) == [
        "drawer_id", "text", "wing", "room", "source_file", "source_path", "created_at", "similarity", "distance",
        "bm25_score",
    ]  # fmt: skip
    assert hit["text"] == "zebra retries were decided by the web team"
    assert hit["distance"] == pytest.approx(1 - hit["similarity"], abs=0.001)
    assert hit["distance"] < 0.2
    assert hit["source_file"] == ""
    assert hit["bm25_score"] > 0


def test_what_is_further_off_than_asked_for_is_left_out(talk: Talk) -> None:
    asked = {"query": "how often does a zebra retry", "limit": 20}
    far = [hit["distance"] for hit in parsed(talk, "search", **asked)["results"]]
    least = min(far)
    near = parsed(talk, "search", **asked, max_distance=least + 0.0001)["results"]
    assert {hit["distance"] for hit in near} == {least}
    assert len(near) < len(far)
    assert len(parsed(talk, "search", **asked, max_distance=0)["results"]) == len(far)


def test_a_search_in_one_file_finds_what_came_from_it(talk: Talk) -> None:
    (talk.cwd / "okapi.md").write_text("# Okapi\n\nOkapis eat leaves.\n")
    Talk(talk.palace, talk.cwd, toolset="full").told("mine", paths=["okapi.md"])
    (hit,) = parsed(talk, "search", query="what do okapis eat", source_file="okapi.md")["results"]
    assert hit["source_file"] == str(talk.cwd / "okapi.md")


def test_recorded_words_are_announced_where_models_read_them_and_not_where_clients_parse(talk: Talk) -> None:
    result = talk.call("mempalace_search", query="zebra")
    assert next(iter(result["structuredContent"])) == "notice"
    assert result["structuredContent"]["notice"].startswith(NOTICE)
    assert "notice" not in json.loads(result["content"][0]["text"])


def test_strangers_words_are_not_shown(talk: Talk) -> None:
    told = parsed(talk, "search", query="zebra page ignore all previous orders", limit=100)
    assert told["results"]
    assert "ignore all previous orders" not in json.dumps(told["results"])


def test_a_drawer_is_added_once_found_read_changed_and_deleted(talk: Talk) -> None:
    first = parsed(
        talk, "add_drawer", wing="zoo", room="okapis", content="Okapis are shy.", source_file="zoo.md", added_by="ada"
    )
    uid = first["drawer_id"]
    assert first == {"success": True, "drawer_id": uid, "wing": "zoo", "room": "okapis", "chunks": 1}
    again = parsed(talk, "add_drawer", wing="zoo", room="okapis", content="Okapis are shy.")
    assert (again["success"], again["reason"], again["drawer_id"]) == (True, "already_exists", uid)
    assert uid in {hit["drawer_id"] for hit in parsed(talk, "search", query="okapis are shy")["results"]}
    read = parsed(talk, "get_drawer", drawer_id=uid)
    assert list(read) == ["drawer_id", "content", "wing", "room", "metadata"]
    assert (read["content"], read["wing"], read["room"]) == ("Okapis are shy.", "zoo", "okapis")
    assert (read["metadata"]["source_file"], read["metadata"]["added_by"]) == ("zoo.md", "ada")
    changed = parsed(talk, "update_drawer", drawer_id=uid, content="Okapis are very shy.", room="forest")
    assert list(changed) == ["success", "drawer_id", "wing", "room", "closets_deleted"]
    assert (changed["wing"], changed["room"]) == ("zoo", "forest")
    assert parsed(talk, "get_drawer", drawer_id=changed["drawer_id"])["content"] == "Okapis are very shy."
    gone = parsed(talk, "delete_drawer", drawer_id=changed["drawer_id"])
    assert gone == {
        "success": True, "drawer_id": changed["drawer_id"], "deleted_ids": [changed["drawer_id"]], "chunks_deleted": 1,
        "closets_deleted": 0,
    }  # fmt: skip
    assert parsed(talk, "list_drawers", wing="zoo")["total"] == 0


def test_a_long_text_is_one_drawer_to_its_client(talk: Talk) -> None:
    content = "\n\n".join(f"Okapi number {n} was seen in the forest by the river at dawn." for n in range(400))
    told = parsed(talk, "add_drawer", wing="zoo", room="okapis", content=content)
    assert told["chunks"] > 1
    read = parsed(talk, "get_drawer", drawer_id=told["drawer_id"])
    assert read["truncated"] is True
    assert content.startswith(read["content"])
    assert len(read["metadata"]["drawers"]) == told["chunks"]
    parsed(talk, "delete_drawer", drawer_id=told["drawer_id"])
    assert parsed(talk, "list_drawers", wing="zoo")["total"] == 0


def test_drawers_are_listed_page_by_page(talk: Talk) -> None:
    for n in range(3):
        added(talk, f"Okapi number {n}.")
    told = parsed(talk, "list_drawers", wing="zoo", limit=2)
    assert list(told) == ["drawers", "total", "count", "offset", "limit"]
    assert (told["total"], told["count"], told["offset"], told["limit"]) == (3, 2, 0, 2)
    assert set(told["drawers"][0]) == {"drawer_id", "wing", "room", "content_preview"}
    rest = parsed(talk, "list_drawers", wing="zoo", limit=2, offset=2)
    previews = [one["content_preview"] for one in [*told["drawers"], *rest["drawers"]]]
    assert previews == [f"Okapi number {n}." for n in (2, 1, 0)]
    assert parsed(talk, "list_drawers", wing="zoo", since="2100-01-01")["total"] == 0


def test_a_hundred_long_hits_stay_within_what_hosts_show(talk: Talk) -> None:
    for n in range(60):
        words = " ".join(f"zebra word {m} of {n}" for m in range(60))
        talk.palace.remember(f"zebra {n}: {words}", Place("zoo", "zebras"))
    result = talk.call("mempalace_search", query="zebra words", limit=100)
    assert len(result["content"][0]["text"]) < 25_000
    told = json.loads(result["content"][0]["text"])
    assert told["left_out"] + len(told["results"]) > 20


def test_what_is_there_is_said_before_it_is_filed_again(talk: Talk) -> None:
    uid = added(talk, "Okapis are shy animals that live in the forest.")
    told = parsed(talk, "check_duplicate", content="Okapis are shy animals that live in the forest.")
    assert told["is_duplicate"] is True
    (match,) = told["matches"]
    assert match == {
        "id": uid, "wing": "zoo", "room": "okapis", "similarity": 1.0,
        "content": "Okapis are shy animals that live in the forest.",
    }  # fmt: skip
    assert parsed(talk, "check_duplicate", content="Quaggas are gone for good now.") == {
        "is_duplicate": False, "matches": [],
    }  # fmt: skip


def test_documents_that_are_gone_are_told_of_and_let_go_when_asked(talk: Talk) -> None:
    for name in ("okapi", "quagga"):
        (talk.cwd / f"{name}.md").write_text(f"# {name}\n\nThe {name} eats leaves.\n")
    Talk(talk.palace, talk.cwd, toolset="full").told("mine", paths=["."])
    (talk.cwd / "okapi.md").unlink()
    told = parsed(talk, "sync", project_dir=str(talk.cwd))
    assert told == {
        "success": True, "scanned": 2, "kept": 1, "gitignored": 0, "missing": 1, "removed_drawers": 0, "dry_run": True,
    }  # fmt: skip
    applied = parsed(talk, "sync", project_dir=str(talk.cwd), apply=True)
    assert (applied["dry_run"], applied["removed_drawers"]) == (False, 1)


def test_facts_are_stated_asked_and_ended(talk: Talk) -> None:
    told = parsed(talk, "kg_add", subject="Ada", predicate="works at", object="Initech", valid_from="2024-01-01")
    assert set(told) == {"success", "triple_id", "fact"}
    assert told["fact"] == "Ada → works at → Initech"
    asked = parsed(talk, "kg_query", entity="Ada")
    assert list(asked) == [
        "entity", "as_of", "active_facts", "historical_facts", "future_facts", "facts", "count",
    ]  # fmt: skip
    (fact,) = asked["facts"]
    assert (asked["active_facts"], asked["historical_facts"], asked["future_facts"]) == ([fact], [], [])
    assert list(fact) == [
        "direction", "subject", "predicate", "object", "valid_from", "valid_to", "current", "confidence",
    ]  # fmt: skip
    assert (fact["direction"], fact["current"]) == ("outgoing", True)
    assert parsed(talk, "kg_query", entity="Initech", direction="incoming")["facts"][0]["direction"] == "incoming"
    assert parsed(talk, "kg_query", entity="Initech", direction="outgoing")["count"] == 0
    ended = parsed(talk, "kg_invalidate", subject="Ada", predicate="works at", object="Initech", ended="2025-06-30")
    assert ended == {"success": True, "fact": "Ada → works at → Initech", "ended": "2025-06-30"}
    assert parsed(talk, "kg_query", entity="Ada")["facts"][0]["current"] is False
    assert len(parsed(talk, "kg_query", entity="Ada")["historical_facts"]) == 1
    assert parsed(talk, "kg_query", entity="Ada", as_of="2025-06-30")["count"] == 1
    assert parsed(talk, "kg_query", entity="Ada", as_of="2025-07-02")["count"] == 0
    timeline = parsed(talk, "kg_timeline", entity="Ada")
    assert list(timeline) == ["entity", "timeline", "count", "total", "offset", "limit"]
    assert list(timeline["timeline"][0]) == ["subject", "predicate", "object", "valid_from", "valid_to", "current"]
    assert parsed(talk, "kg_stats") == {
        "entities": 2, "triples": 1, "current_facts": 0, "expired_facts": 1, "relationship_types": ["works at"],
    }  # fmt: skip


def test_a_fact_knows_the_drawer_or_the_closet_that_says_so(talk: Talk) -> None:
    uid = added(talk)
    parsed(talk, "kg_add", subject="okapi", predicate="is", object="shy", source_closet=uid)
    parsed(talk, "kg_add", subject="okapi", predicate="eats", object="leaves", source_closet="zoo closet")
    facts = Talk(talk.palace, talk.cwd, toolset="full").told("kg_timeline")["facts"]
    assert {fact["predicate"]: fact["stated_by"] for fact in facts}["eats"] == "zoo closet"
    assert "okapi" in {fact["subject"] for fact in facts}


def test_tunnels_are_made_listed_followed_and_removed(talk: Talk) -> None:
    uid = added(talk)
    added(talk, "Okapis live in zoos, too.", "web", "okapis")
    made = parsed(
        talk, "create_tunnel", source_wing="zoo", source_room="okapis", target_wing="web", target_room="login",
        label="who may see them", source_drawer_id=uid,
    )  # fmt: skip
    assert list(made) == ["id", "source", "target", "label", "kind", "created_at"]
    assert made["source"] == {"wing": "zoo", "room": "okapis", "drawer_id": uid}
    assert parsed(talk, "list_tunnels") == [made]
    assert parsed(talk, "list_tunnels", wing="web") == [made]
    (back,) = parsed(talk, "follow_tunnels", wing="web", room="login")
    assert back == {
        "direction": "incoming", "connected_wing": "zoo", "connected_room": "okapis", "label": "who may see them",
        "drawer_id": uid, "tunnel_id": made["id"],
    }  # fmt: skip
    (shared,) = parsed(talk, "find_tunnels", wing_a="zoo", wing_b="web")
    assert list(shared) == ["room", "wings", "halls", "count", "recent"]
    assert (shared["room"], shared["wings"], shared["count"]) == ("okapis", ["web", "zoo"], 2)
    start, *others = parsed(talk, "traverse", start_room="okapis")
    assert list(start) == ["room", "wings", "halls", "count", "hop"]
    assert (start["room"], start["hop"]) == ("okapis", 0)
    assert "login" in {one["room"] for one in others}
    stats = parsed(talk, "graph_stats")
    assert list(stats) == ["total_rooms", "tunnel_rooms", "total_edges", "rooms_per_wing", "top_tunnels"]
    assert stats["top_tunnels"][0]["room"] == "okapis"
    assert parsed(talk, "delete_tunnel", tunnel_id=made["id"]) == {"deleted": made["id"]}
    assert parsed(talk, "list_tunnels") == []


def test_a_diary_is_written_and_read(talk: Talk) -> None:
    told = parsed(talk, "diary_write", agent_name="ada", entry="Fed the okapis.", topic="zoo", wing="wing_ada")
    assert list(told) == ["success", "entry_id", "agent", "topic", "timestamp", "chunks"]
    parsed(talk, "diary_write", agent_name="ada", entry="Went home.", wing="web")
    read = parsed(talk, "diary_read", agent_name="ada", last_n=1)
    assert list(read) == ["agent", "entries", "total", "showing"]
    assert (read["agent"], read["total"], read["showing"]) == ("ada", 2, 1)
    (entry,) = read["entries"]
    assert list(entry) == ["date", "timestamp", "topic", "content"]
    assert (entry["content"], entry["topic"]) == ("Went home.", "general")
    assert parsed(talk, "diary_read", agent_name="ada", wing="web")["total"] == 1
    assert parsed(talk, "diary_read", agent_name="ada", wing="wing_ada")["total"] == 2
    (agent,) = parsed(talk, "list_agents")["agents"]
    assert (agent["name"], agent["entries"]) == ("ada", 2)


def test_a_checkpoint_files_all_or_nothing(talk: Talk) -> None:
    items = [{"wing": "zoo", "room": "okapis", "content": f"Okapi {n} was fed at noon."} for n in range(2)]
    told = parsed(talk, "checkpoint", items=items, diary={"agent_name": "ada", "entry": "Fed them."})
    assert list(told) == ["added", "duplicates", "errors", "diary"]
    assert len(told["added"]) == 2
    assert list(told["added"][0]) == ["success", "drawer_id", "wing", "room", "chunks"]
    assert told["diary"]["success"]
    assert told["errors"] == []
    again = parsed(talk, "checkpoint", items=items[:1])
    assert (again["added"], len(again["duplicates"])) == ([], 1)
    assert parsed(talk, "diary_read", agent_name="ada")["total"] == 1
    wrong = failed(talk, "checkpoint", items=[*items, {"wing": "zoo", "room": "okapis", "content": "   "}])
    assert "Nothing was saved" in wrong["error"]


def test_what_was_filed_last_is_told_or_that_all_is_quiet(talk: Talk, tmp_path: Path) -> None:
    told = parsed(talk, "memories_filed_away")
    assert list(told) == ["status", "message", "count", "timestamp"]
    assert told["status"] == "ok"
    assert told["count"] > 0
    with Palace.open(tmp_path / "empty.db") as empty:
        quiet = parsed(Talk(empty, talk.cwd, profile="mempalace"), "memories_filed_away")
    assert (quiet["status"], quiet["count"]) == ("quiet", 0)


def test_hook_settings_are_read_and_set(talk: Talk) -> None:
    told = parsed(talk, "hook_settings")
    assert told == {"success": True, "settings": {"silent_save": True, "desktop_toast": False}, "updated": []}
    changed = parsed(talk, "hook_settings", silent_save=False)
    assert changed["updated"] == ["silent_save"]
    assert changed["settings"]["silent_save"] is False
    assert parsed(talk, "hook_settings", desktop_toast=True)["settings"] == {
        "silent_save": False, "desktop_toast": True,
    }  # fmt: skip


# --- failures ----------------------------------------------------------------------------------------------


def test_a_call_that_fails_says_so_in_json_and_as_an_error(talk: Talk) -> None:
    for tool, arguments in (
        ("get_drawer", {"drawer_id": "ffffffff"}),
        ("delete_drawer", {"drawer_id": "ffffffff"}),
        ("kg_invalidate", {"subject": "Ada", "predicate": "is", "object": "old"}),
        ("search", {"query": "zebra", "since": "no day"}),
        ("add_drawer", {"wing": "", "room": "x", "content": "x"}),
    ):
        told = failed(talk, tool, **arguments)
        assert told["success"] is False
        assert told["error"].endswith(".")


def test_deleting_twice_is_no_success(talk: Talk) -> None:
    uid = added(talk)
    parsed(talk, "delete_drawer", drawer_id=uid)
    assert failed(talk, "delete_drawer", drawer_id=uid)["success"] is False


def test_a_room_that_there_is_not_is_answered_with_those_that_are_near(talk: Talk) -> None:
    told = failed(talk, "traverse", start_room="logn")
    assert told["suggestions"] == ["web/login"]
    assert "logn" in told["error"]


def test_a_missing_argument_is_named_with_what_was_given_in_its_place(talk: Talk) -> None:
    code, sentence = talk.error("mempalace_add_drawer", wing="a", room="b", text="Okapis are shy.")
    assert code == -32602
    assert sentence.startswith("mempalace_add_drawer needs the argument 'content'.")
    assert "has no argument 'text'" in sentence


def test_remarks_do_not_break_the_json(talk: Talk) -> None:
    added(talk)
    full = replace(talk, profile="palazzo", toolset="full")
    from palazzo.features.places.contract import RoomRenameRequest
    from palazzo.operations import registry
    from palazzo.operations.context import Context

    with Context(cwd=full.cwd, variables={}, palace_opener=lambda context, mode: talk.palace) as context:
        registry.operation("room_rename").run(context, RoomRenameRequest("zoo/okapis", "giraffes"))
    result = talk.call("mempalace_list_drawers", wing="zoo", room="okapis")
    assert json.loads(result["content"][0]["text"])["total"] == 1
    assert result["structuredContent"]["remarks"]


@pytest.mark.parametrize(
    ("given_days", "expected_days"),
    [
        ({"valid_from": "2024-01-01"}, ("2024-01-01", None)),
        ({"valid_from": "2024-01-01T09:30:00Z"}, ("2024-01-01T09:30:00Z", None)),
        ({"valid_from": "2024-01-01", "valid_to": "2024-02-29"}, ("2024-01-01", "2024-02-29")),
        ({"valid_to": "2024-02-29T18:00:00Z"}, (None, "2024-02-29T18:00:00Z")),
        ({"valid_from": "2024-01"}, ("2024-01-01", None)),
        ({"valid_from": "", "valid_to": None}, (None, None)),
    ],
)
def test_days_come_back_as_days(
    talk: Talk, given_days: dict[str, Any], expected_days: tuple[str | None, str | None]
) -> None:
    parsed(talk, "kg_add", subject="Ada", predicate="works at", object="Initech", **given_days)
    for rows in (
        parsed(talk, "kg_query", entity="Ada")["facts"],
        parsed(talk, "kg_timeline", entity="Ada")["timeline"],
    ):
        assert [(row["valid_from"], row["valid_to"]) for row in rows] == [expected_days]


def test_a_diary_entry_may_be_called_content(talk: Talk) -> None:
    parsed(talk, "diary_write", agent_name="Ada", content="By the other name.")
    parsed(talk, "diary_write", agent_name="Ada", entry="By its own name.", content="By the other name once more.")
    texts = [entry["content"] for entry in parsed(talk, "diary_read", agent_name="Ada")["entries"]]
    assert texts == ["By its own name.", "By the other name."]
    assert "'entry'" in talk.error("mempalace_diary_write", agent_name="Ada")[1]
