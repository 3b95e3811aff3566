"""The same calls of the real MemPalace's server and of ours: what succeeds there succeeds here, in the same shape."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.faces.mcp.talking import Talk
from tests.faces.mcp.test_mempalace_published import PUBLISHED
from tests.sync.mempalace_peer import Tools, mempalace

from palazzo.palace import Palace

pytestmark = pytest.mark.slow

Known = dict[str, Any]
Arguments = Callable[[Known], dict[str, Any]]
_FACT = {"subject": "Ada", "predicate": "works at", "object": "Initech"}
_TUNNEL = {"source_wing": "zoo", "source_room": "okapis", "target_wing": "web", "target_room": "okapis"}
_DRAWER = {"wing": "zoo", "room": "okapis", "content": "Okapis are shy animals of the forest."}
_LEAVES = {**_DRAWER, "content": "The okapi eats leaves all day."}

_EVENT = {"type": "task.request", "stream": "project/zoo", "room": "delegation", "from_agent": "ada"}
_TASK = {
    "project": "zoo", "from_agent": "ada", "to_agent": "bob", "goal": "Feed them", "branch": "main",
    "base_commit": "1234567", "done": "They are fed.",
}  # fmt: skip

Call = tuple[str, Arguments, str]
"""A tool, its arguments, and the field of its answer that is known from then on (by the tool's name, or NAME=). A full
stop leads to a field of a field."""

VALID: list[Call] = [
    ("add_drawer", lambda known: _DRAWER, "drawer_id"),
    ("add_drawer", lambda known: _LEAVES, "second=drawer_id"),
    ("add_drawer", lambda known: {**_DRAWER, "wing": "web"}, ""),
    ("add_drawer", lambda known: _DRAWER, ""),
    ("status", lambda known: {}, ""),
    ("list_wings", lambda known: {}, ""),
    ("list_rooms", lambda known: {}, ""),
    ("list_rooms", lambda known: {"wing": "zoo"}, ""),
    ("get_taxonomy", lambda known: {}, ""),
    ("get_aaak_spec", lambda known: {}, ""),
    ("search", lambda known: {"query": "okapis of the forest", "wing": "zoo"}, ""),
    ("search", lambda known: {"query": "okapis", "wing": "nowhere"}, ""),
    ("search", lambda known: {"query": "okapis", "candidate_strategy": "union"}, ""),
    ("search", lambda known: {"query": "okapis", "cli_compatible": True}, ""),
    ("check_duplicate", lambda known: {"content": _DRAWER["content"]}, ""),
    ("get_drawer", lambda known: {"drawer_id": known["add_drawer"]}, ""),
    ("get_drawers", lambda known: {"drawer_ids": [known["add_drawer"], "ffffffff"]}, ""),
    ("list_drawers", lambda known: {"wing": "zoo", "limit": 1}, ""),
    ("list_drawers", lambda known: {"wing": "nowhere"}, ""),
    ("update_drawer", lambda known: {"drawer_id": known["add_drawer"], "content": "Okapis are bold."}, "drawer_id"),
    ("kg_add", lambda known: {**_FACT, "valid_from": "2024-01-01", "source_file": "zoo.md"}, ""),
    ("kg_query", lambda known: {"entity": "Ada"}, ""),
    ("kg_query", lambda known: {"entity": "Nobody"}, ""),
    (
        "kg_supersede",
        lambda known: {
            "subject": "Ada", "predicate": "works at", "old_object": "Initech", "new_object": "Initrode",
            "at": "2025-01-01",
        },
        "",
    ),
    ("kg_invalidate", lambda known: {**_FACT, "object": "Initrode"}, ""),
    ("kg_timeline", lambda known: {"entity": "Ada"}, ""),
    ("kg_timeline", lambda known: {}, ""),
    ("kg_stats", lambda known: {}, ""),
    ("traverse", lambda known: {"start_room": "okapis"}, ""),
    ("find_tunnels", lambda known: {"wing_a": "zoo"}, ""),
    ("graph_stats", lambda known: {}, ""),
    ("create_tunnel", lambda known: {**_TUNNEL, "label": "animals"}, "id"),
    ("list_tunnels", lambda known: {}, ""),
    ("follow_tunnels", lambda known: {"wing": "zoo", "room": "okapis"}, ""),
    ("delete_tunnel", lambda known: {"tunnel_id": known["create_tunnel"]}, ""),
    ("list_hallways", lambda known: {}, ""),
    ("delete_hallway", lambda known: {"hallway_id": "nope"}, ""),
    ("diary_write", lambda known: {"agent_name": "ada", "entry": "Fed the okapis."}, ""),
    ("diary_write", lambda known: {"agent_name": "ada", "content": "Went home."}, ""),
    ("diary_read", lambda known: {"agent_name": "ada"}, ""),
    (
        "checkpoint",
        lambda known: {
            "items": [{**_DRAWER, "content": "A giraffe was born at the gate."}, _LEAVES],
            "diary": {"agent_name": "ada", "entry": "A good day."},
            "added_by": "ada",
        },
        "",
    ),
    ("hook_settings", lambda known: {}, ""),
    ("memories_filed_away", lambda known: {}, ""),
    ("reconnect", lambda known: {}, ""),
    ("mine", lambda known: {"source": known["docs"], "dry_run": True}, ""),
    ("mine", lambda known: {"source": known["docs"]}, ""),
    ("sync", lambda known: {"project_dir": known["docs"]}, ""),
    ("delete_by_source", lambda known: {"source_file": f"{known['docs']}/okapi.md"}, ""),
    ("delete_by_source", lambda known: {"source_file": f"{known['docs']}/okapi.md", "dry_run": False}, ""),
    ("delete_by_source", lambda known: {"source_file": "nowhere.md", "dry_run": False}, ""),
    ("delete_drawers", lambda known: {"drawer_ids": [known["second"], "ffffffff"]}, ""),
    ("delete_drawer", lambda known: {"drawer_id": known["update_drawer"]}, ""),
    ("artifact_put", lambda known: {"kind": "log", "content": "built\n", "created_by": "ada"}, "artifact.id"),
    ("artifact_put", lambda known: {"kind": "patch", "content": "no newline", "created_by": "ada"}, ""),
    ("artifact_get", lambda known: {"artifact_id": known["artifact_put"]}, ""),
    (
        "event_append",
        lambda known: {
            **_EVENT, "to_agent": "bob", "correlation_id": "t-1", "branch": "main", "base_commit": "1234567",
            "status": "open", "body": "Feed the okapis. " * 20, "metadata": {"herd": 3}, "topic": "food",
            "artifact_ids": [known["artifact_put"]],
        },
        "event.id",
    ),
    ("event_append", lambda known: _EVENT, ""),
    ("event_list", lambda known: {"correlation_id": "t-1", "preview": True}, ""),
    ("event_list", lambda known: {"since_event_id": known["event_append"], "from_agent": "bob"}, ""),
    ("event_list", lambda known: {"order": "ASC", "limit": 1, "since_created_at": "2020-01-01"}, ""),
    ("event_list", lambda known: {"stream": "nowhere"}, ""),
    ("event_wait", lambda known: {"to_agent": "bob", "timeout_ms": 100}, ""),
    ("event_wait", lambda known: {"correlation_id": "none", "timeout_ms": 1}, ""),
    ("event_ack", lambda known: {"event_id": known["event_append"], "from_agent": "bob", "status": "claimed"}, ""),
    ("task_create", lambda known: _TASK, ""),
    ("patch_submit", lambda known: {"content": "diff\n", "from_agent": "bob", "stream": "project/zoo"}, ""),
    ("mesh_peers", lambda known: {}, ""),
]  # fmt: skip
INVALID: list[tuple[str, dict[str, Any]]] = [
    ("add_drawer", {**_DRAWER, "wing": ""}),
    ("add_drawer", {"wing": "zoo"}),
    ("search", {"query": "okapis", "since": "no day"}),
    ("search", {"query": "okapis", "candidate_strategy": "other"}),
    ("search", {"query": "okapis", "context": "a zoo", "cli_compatible": True}),
    ("search", {}),
    ("get_drawer", {"drawer_id": "ffffffff"}),
    ("get_drawers", {"drawer_ids": []}),
    ("get_drawers", {"drawer_ids": "ffffffff"}),
    ("get_drawers", {"drawer_ids": ["ffffffff"] * 501}),
    ("update_drawer", {"drawer_id": "ffffffff", "content": "x"}),
    ("delete_drawer", {"drawer_id": "ffffffff"}),
    ("delete_drawers", {"drawer_ids": []}),
    ("delete_by_source", {"source_file": " "}),
    ("kg_add", {**_FACT, "valid_from": "no day"}),
    ("kg_add", {"subject": "Ada"}),
    ("kg_query", {"entity": "Ada", "direction": "sideways"}),
    ("kg_query", {"entity": "Ada", "as_of": "no day"}),
    ("kg_supersede", {"subject": "Ada", "predicate": "is", "old_object": "a", "new_object": "b", "at": "no day"}),
    ("traverse", {"start_room": "okapi"}),
    ("create_tunnel", {**_TUNNEL, "source_wing": ""}),
    ("diary_write", {"agent_name": "", "entry": "x"}),
    ("diary_write", {"agent_name": "ada"}),
    ("mine", {"source": "/nowhere/at/all"}),
    ("mine", {"source": "/", "mode": "other"}),
    ("event_append", {**_EVENT, "type": "Task Request"}),
    ("event_append", {**_EVENT, "room": ""}),
    ("event_append", {**_EVENT, "status": "finished"}),
    ("event_append", {**_EVENT, "artifact_ids": ["art_none"]}),
    ("event_append", {"type": "task.request"}),
    ("event_list", {"since_event_id": "evt_none"}),
    ("event_list", {"order": "random"}),
    ("event_list", {"since_created_at": "no day"}),
    ("event_wait", {"status": "finished"}),
    ("event_ack", {"event_id": "evt_none", "from_agent": "bob"}),
    ("task_create", {**_TASK, "base_commit": "main"}),
    ("task_create", {**_TASK, "goal": " "}),
    ("patch_submit", {"content": "", "from_agent": "bob", "stream": "project/zoo"}),
    ("artifact_put", {"kind": "binary", "content": "x", "created_by": "ada"}),
    ("artifact_get", {"artifact_id": "art_none"}),
    ("nothing", {}),
]

NOT_HERE: dict[str, set[str]] = {
    "status": {"backend", "embedding_device", "sqlite_integrity", "library_versions", "updates"},
    "search": {
        "filed_at", "authored_at", "authored_at_source", "content_date", "content_date_source", "effective_distance",
        "closet_boost", "matched_via",
    },
    "list_drawers": {"metadata"},
    "kg_query": {"source_closet"},
    "graph_stats": {
        "total_room_instances", "passive_tunnel_rooms", "explicit_tunnels", "total_connections",
    },
    "create_tunnel": {"strength", "stability", "last_activated", "access_count"},
    "list_tunnels": {"strength", "stability", "last_activated", "access_count"},
    "reconnect": {"vector_disabled_reason"},
    "sync": {
        "unresolved", "no_source", "out_of_scope", "removed_closets", "by_source", "unresolved_by_source",
    },
    "checkpoint": {"agent", "topic", "timestamp"},
}  # fmt: skip
"""Fields of its answers that ours do not have: of its closets, its decay of links, and its own book-keeping."""


@dataclass
class Side:
    """One of the two servers, and the ids that its answers brought to light."""

    call: Callable[[str, dict[str, Any]], dict[str, Any]]
    known: Known = field(default_factory=dict)

    def answer(self, name: str, arguments: Arguments) -> Any:
        """Call a tool and return the value of its text block, or the protocol's error."""
        response = self.call(name, arguments(self.known))
        if "error" in response:
            return response
        return json.loads(response["result"]["content"][0]["text"])


def test_both_servers_answer_in_one_shape(tmp_path: Path, palace: Palace) -> None:
    home = tmp_path / "shop"
    home.mkdir()
    talk = Talk(palace, home, profile="mempalace", toolset="core")
    with mempalace(tmp_path / "home") as peer, peer.serving() as tools:
        check_published(tools)
        sides = {"there": Side(caller_of(tools)), "here": Side(lambda name, given: talk.ask(_call(name, given))[0])}
        for name, side in sides.items():
            side.known["docs"] = write_docs(tmp_path / name)
        absent: dict[str, set[str]] = {}
        problems = [problem for call in VALID for problem in compare_valid(sides, call, absent)]
        problems += [problem for name, given in INVALID for problem in compare_invalid(sides, name, given)]
    assert not problems, "\n".join(problems)
    absent["mesh_peers"] = {field for field in absent.get("mesh_peers", ()) if not field.startswith("rep_")}  # ids
    assert {name: fields for name, fields in absent.items() if fields} == NOT_HERE


def check_published(tools: Tools) -> None:
    """The fixture is what the real server lists."""
    listed = tools.ask("tools/list", {})["result"]["tools"]
    described = {
        tool["name"]: {
            "parameters": {
                name: {key: schema[key] for key in ("type", "enum") if key in schema}
                for name, schema in tool["inputSchema"].get("properties", {}).items()
            },
            "required": tool["inputSchema"].get("required", []),
        }
        for tool in listed
    }
    assert described == PUBLISHED["tools"]
    called = {f"mempalace_{name}" for name, _, _ in VALID}
    assert called == set(described)


def write_docs(directory: Path) -> str:
    directory.mkdir()
    (directory / "okapi.md").write_text("# Okapi\n\n" + "The okapi eats leaves in the forest.\n" * 20)
    return str(directory)


def caller_of(tools: Tools) -> Callable[[str, dict[str, Any]], dict[str, Any]]:
    return lambda name, given: tools.ask(*_call(name, given))


def _call(name: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "tools/call", {"name": f"mempalace_{name}", "arguments": given}


def compare_valid(sides: dict[str, Side], call: Call, absent: dict[str, set[str]]) -> list[str]:
    """Return values of another type, and add fields that ours lacks to `absent`; remember an id that came to light."""
    name, arguments, known_as = call
    answers = {place: side.answer(name, arguments) for place, side in sides.items()}
    label = f"{name} {arguments(sides['here'].known)}"
    for place, answer in answers.items():
        if _is_refusal(answer):
            return [f"{label}: refused {place}: {answer}"]
        if known_as:
            key, is_named, column = known_as.partition("=")
            value = answer
            for part in (column if is_named else key).split("."):
                value = value[part]
            sides[place].known[key if is_named else name] = value
    missing: set[str] = set()
    problems = list(differences(answers["there"], answers["here"], missing))
    if missing:
        absent.setdefault(name, set()).update(missing)
    return [f"{label}: {problem}" for problem in problems]


def differences(there: Any, here: Any, missing: set[str], path: str = "answer") -> Iterator[str]:
    """Yield values of another type, and add the names of missing fields; one row stands for all of a list."""
    if isinstance(there, dict) and isinstance(here, dict):
        if not _is_map_of_names(path):
            missing |= there.keys() - here.keys()
            for key in there.keys() & here.keys():
                yield from differences(there[key], here[key], missing, f"{path}.{key}")
    elif isinstance(there, list) and isinstance(here, list):
        if there and here:
            yield from differences(there[0], here[0], missing, f"{path}[0]")
    elif None not in (there, here) and _kind(there) is not _kind(here):
        yield f"{path} is {here!r} here and {there!r} there"


def _kind(value: Any) -> type:
    return float if type(value) is int else type(value)


def _is_map_of_names(path: str) -> bool:
    """Return whether the keys of an object are names of places, or what each memory knows of a drawer."""
    return path.rpartition(".")[2] in (
        "wings",
        "rooms",
        "taxonomy",
        "rooms_per_wing",
        "metadata",
        "version_vector",
        "profile",
    )


def compare_invalid(sides: dict[str, Side], name: str, given: dict[str, Any]) -> list[str]:
    """Return what is wrong if a call that the real server refuses is not refused here with a sentence."""
    there, here = (sides[place].answer(name, lambda known: given) for place in ("there", "here"))
    if not _is_refusal(there):
        return [f"{name} {given}: not refused there: {there}"]
    if not _is_refusal(here) or not here.get("error"):
        return [f"{name} {given}: not refused here: {here}"]
    return []


def _is_refusal(answer: Any) -> bool:
    return isinstance(answer, dict) and ("error" in answer or answer.get("success") is False)
