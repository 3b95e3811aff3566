"""Each profile as a client starts it: the SDK's own client lists and calls every tool over stdio."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

import palazzo
from palazzo.faces.mcp.profile import profile_called
from palazzo.faces.mcp.profiles.shodh import unsupported_tools
from palazzo.features.hosts.contract import InstallRequest
from palazzo.features.hosts.install import install
from palazzo.operations.context import Context
from palazzo.operations.registry import operation

Known = dict[str, Any]
"""Ids by what they are of, as the calls bring them to light."""
Calls = list[tuple[str, Callable[[Known], dict[str, Any]], str]]
"""A tool, its arguments, and the field of its answer that is to be known from then on by the tool's name."""

MEMPALACE: Calls = [
    ("add_drawer", lambda known: {"wing": "zoo", "room": "okapis", "content": "Okapis are shy."}, "drawer_id"),
    ("checkpoint", lambda known: {"items": [{"wing": "web", "room": "login", "content": "Log in with a key."}]}, ""),
    ("status", lambda known: {}, ""),
    ("list_wings", lambda known: {}, ""),
    ("list_rooms", lambda known: {"wing": "zoo"}, ""),
    ("get_taxonomy", lambda known: {}, ""),
    ("get_aaak_spec", lambda known: {}, ""),
    ("search", lambda known: {"query": "okapis", "wing": "zoo", "limit": 3, "context": "a zoo"}, ""),
    ("check_duplicate", lambda known: {"content": "Okapis are shy.", "threshold": 0.8}, ""),
    ("get_drawer", lambda known: {"drawer_id": known["add_drawer"]}, ""),
    ("list_drawers", lambda known: {"wing": "zoo", "limit": 5}, ""),
    ("kg_add", lambda known: {"subject": "okapi", "predicate": "is", "object": "shy", "valid_from": "2024-01-01"}, ""),
    ("kg_query", lambda known: {"entity": "okapi", "direction": "outgoing"}, ""),
    ("kg_timeline", lambda known: {"entity": "okapi", "limit": 5}, ""),
    (
        "kg_supersede",
        lambda known: {"subject": "okapi", "predicate": "is", "old_object": "shy", "new_object": "bold"},
        "",
    ),
    ("kg_invalidate", lambda known: {"subject": "okapi", "predicate": "is", "object": "bold"}, ""),
    ("kg_stats", lambda known: {}, ""),
    ("traverse", lambda known: {"start_room": "okapis", "max_hops": 1}, ""),
    ("find_tunnels", lambda known: {"wing_a": "zoo"}, ""),
    ("graph_stats", lambda known: {}, ""),
    (
        "create_tunnel",
        lambda known: {
            "source_wing": "zoo", "source_room": "okapis", "target_wing": "web", "target_room": "login",
            "source_drawer_id": known["add_drawer"],
        },
        "id",
    ),
    ("list_tunnels", lambda known: {}, ""),
    ("follow_tunnels", lambda known: {"wing": "zoo", "room": "okapis"}, ""),
    ("delete_tunnel", lambda known: {"tunnel_id": known["create_tunnel"]}, ""),
    ("diary_write", lambda known: {"agent_name": "ada", "entry": "Fed the okapis.", "topic": "zoo"}, ""),
    ("diary_read", lambda known: {"agent_name": "ada", "last_n": 3}, ""),
    ("list_agents", lambda known: {}, ""),
    ("hook_settings", lambda known: {"silent_save": True}, ""),
    ("memories_filed_away", lambda known: {}, ""),
    ("reconnect", lambda known: {}, ""),
    ("sync", lambda known: {}, ""),
    ("update_drawer", lambda known: {"drawer_id": known["add_drawer"], "content": "Okapis are very shy."}, "drawer_id"),
    ("get_drawers", lambda known: {"drawer_ids": [known["update_drawer"], "ffffffff"]}, ""),
    ("delete_drawer", lambda known: {"drawer_id": known["update_drawer"]}, ""),
    ("delete_drawers", lambda known: {"drawer_ids": [known["update_drawer"]]}, ""),
    ("delete_by_source", lambda known: {"source_file": "okapi.md"}, ""),
    ("mine", lambda known: {"source": ".", "dry_run": True}, ""),
    ("list_hallways", lambda known: {"wing": "zoo"}, ""),
    ("delete_hallway", lambda known: {"hallway_id": "ffffffff"}, ""),
    ("artifact_put", lambda known: {"kind": "log", "content": "built\n", "created_by": "ada"}, "artifact"),
    ("artifact_get", lambda known: {"artifact_id": known["artifact_put"]["id"]}, ""),
    (
        "event_append",
        lambda known: {"type": "task.reply", "stream": "project/zoo", "room": "status", "from_agent": "ada"},
        "event",
    ),
    ("event_list", lambda known: {"stream": "project/zoo"}, ""),
    ("event_wait", lambda known: {"timeout_ms": 1}, ""),
    ("event_ack", lambda known: {"event_id": known["event_append"]["id"], "from_agent": "bob"}, ""),
    (
        "task_create",
        lambda known: {
            "project": "zoo", "from_agent": "ada", "to_agent": "bob", "goal": "Feed", "branch": "main",
            "base_commit": "1234567", "done": "Fed.",
        },
        "",
    ),
    ("patch_submit", lambda known: {"content": "diff\n", "from_agent": "bob", "stream": "project/zoo"}, ""),
    ("mesh_peers", lambda known: {}, ""),
]  # fmt: skip
SHODH: Calls = [
    ("remember", lambda known: {"content": "Okapis are shy.", "type": "Learning", "tags": ["zoo"]}, "id"),
    ("recall", lambda known: {"query": "okapis", "limit": 3, "mode": "temporal", "tags": ["zoo"]}, ""),
    ("proactive_context", lambda known: {"context": "feeding the okapis", "memory_types": ["Learning"]}, ""),
    ("list_memories", lambda known: {"type": "Learning"}, ""),
    ("get_memory", lambda known: {"id": known["remember"]}, ""),
    ("context_summary", lambda known: {"max_items": 3}, ""),
    ("brain", lambda known: {}, ""),
    ("memory_stats", lambda known: {}, ""),
    ("health", lambda known: {}, ""),
    ("audit", lambda known: {"threshold": 0.8}, ""),
    ("cleanup", lambda known: {"threshold": 0.1, "min_length": 5}, ""),
    ("dedup", lambda known: {"threshold": 0.9}, ""),
    ("recall_by_tags", lambda known: {"tags": ["zoo", "gate"]}, ""),
    ("read_memory", lambda known: {"memory_id": known["remember"]}, ""),
    ("add_todo", lambda known: {"content": "Feed the okapi.", "priority": "high"}, "id"),
    ("list_todos", lambda known: {"status": ["todo"], "limit": "5"}, ""),
    ("list_subtasks", lambda known: {"parent_id": known["add_todo"]}, ""),
    (
        "add_todo_comment",
        lambda known: {"todo_id": known["add_todo"], "content": "Leaves are in the shed."},
        "id",
    ),
    ("list_todo_comments", lambda known: {"todo_id": known["add_todo"]}, ""),
    (
        "update_todo_comment",
        lambda known: {
            "todo_id": known["add_todo"],
            "comment_id": known["add_todo_comment"],
            "content": "None found.",
        },
        "id",
    ),
    (
        "delete_todo_comment",
        lambda known: {"todo_id": known["add_todo"], "comment_id": known["update_todo_comment"]},
        "",
    ),
    ("todo_stats", lambda known: {}, ""),
    ("complete_todo", lambda known: {"todo_id": known["add_todo"]}, ""),
    ("update_todo", lambda known: {"todo_id": known["add_todo"], "status": "done"}, ""),
    ("delete_todo", lambda known: {"todo_id": known["add_todo"]}, ""),
    ("list_projects", lambda known: {}, ""),
    (
        "set_reminder",
        lambda known: {"content": "Close.", "trigger_type": "context", "keywords": ["gate"], "priority": 3},
        "id",
    ),
    ("list_reminders", lambda known: {}, ""),
    ("dismiss_reminder", lambda known: {"reminder_id": known["set_reminder"]}, ""),
    ("search_facts", lambda known: {"query": "okapi"}, ""),
    ("fact_narratives", lambda known: {}, ""),
    ("explore_entity", lambda known: {"entity_name": "okapi"}, ""),
    ("list_entities", lambda known: {}, ""),
    ("verify_index", lambda known: {}, ""),
    ("repair_index", lambda known: {}, ""),
    ("backup_create", lambda known: {}, ""),
    ("backup_list", lambda known: {}, ""),
    ("consolidation_report", lambda known: {}, ""),
    ("session_digest", lambda known: {}, ""),
    ("reinforce_memories", lambda known: {"memory_ids": [known["remember"]], "outcome": "helpful"}, ""),
    ("forget_by_tags", lambda known: {"tags": ["zoo"]}, ""),
    ("forget", lambda known: {"id": known["remember"]}, ""),
    ("export", lambda known: {"path": "memories.jsonl"}, ""),
    ("import_memories", lambda known: {"path": "memories.jsonl", "dry_run": True}, ""),
    ("sync", lambda known: {"from": "default"}, ""),
    ("sync_push", lambda known: {}, ""),
    ("sync_pull", lambda known: {}, ""),
    ("sync_status", lambda known: {}, ""),
]
OUTSIDE = ("sync", "sync_push", "sync_pull")
"""Tools of shodh's that go to where machines meet."""


NOT_HERE = {tool.name for tool in unsupported_tools.TOOLS}
"""Tools of shodh's that say what there is instead."""


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PALAZZO_SERVICE": "off",
        "PALAZZO_PALACE": str(tmp_path / "palace.db"),
        "PYTHONPATH": str(Path(palazzo.__file__).parents[1]),
    }


def started(profile: str, variables: dict[str, str], directory: Path) -> StdioServerParameters:
    """The server as clients of the profile start it: those of MemPalace by the program that is installed for them."""
    command, *arguments = [sys.executable, "-m", "palazzo", "mcp", "--profile", profile]
    if profile == "mempalace":
        (directory / "okapi.md").write_text("# Okapi\n\nOkapis are fed at noon.\n")
        with Context(cwd=directory, variables=variables) as context:
            mine = operation("mine")
            mine.run(context, mine.request((directory / "okapi.md",)))
            written = install(context, InstallRequest("mempalace-compat", Path("bin")))
        command, arguments = written.files[1].path, []
    else:
        (directory / "remote").mkdir()
        with Context(cwd=directory, variables=variables) as context:
            begin = operation("sync_init")
            begin.run(context, begin.request(str(directory / "remote")))
    return StdioServerParameters(command=command, args=arguments, env=variables, cwd=directory)


@pytest.mark.parametrize(
    ("profile", "prefix", "calls"),
    [("mempalace", "mempalace_", MEMPALACE), pytest.param("shodh", "", SHODH, marks=pytest.mark.slow)],
)
def test_every_tool_is_listed_and_called_by_the_sdks_client(
    profile: str, prefix: str, calls: Calls, variables: dict[str, str], tmp_path: Path
) -> None:
    tools = {tool.name for tool in profile_called(profile).tools("core")} - NOT_HERE
    assert {prefix + name for name, _, _ in calls} == tools

    async def talk() -> None:
        async with Client(started(profile, variables, tmp_path)) as client:
            there = (await client.list_tools()).tools
            assert {tool.name for tool in there} - NOT_HERE == tools
            for tool in there:
                outside = profile == "shodh" and tool.name in OUTSIDE
                assert tool.annotations
                assert tool.annotations.open_world_hint is outside
            known: Known = {}
            for name, arguments, kept in calls:
                result = await client.call_tool(prefix + name, arguments(known))
                assert not result.is_error, (name, result.content)
                (block,) = result.content
                if profile == "mempalace":
                    json.loads(block.text)  # type: ignore[union-attr]
                if kept:
                    known[name] = (result.structured_content or {})[kept]

    anyio.run(talk)
