"""Before there is a palace: what only reads is answered as of an empty one, and makes none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.faces.mcp.talking import Talk

from palazzo.faces.mcp.client_calls import OperationCall
from palazzo.operations import idempotency, registry
from palazzo.operations.context import Context
from palazzo.palace import Palace

NOTHING_KEPT = "Nothing is stored yet: there is no palace. The first write, such as `remember`, creates it."


class Alone(Talk):
    """Has each call look for the palace, as a server without a service does."""

    def _run(self, asked: OperationCall) -> Any:
        around = asked.surroundings
        with Context(around.palace, around.cwd, around.variables, trust=around.trust) as context:
            return idempotency.call(context, registry.operation(asked.operation), asked.request, asked.key)


def talk_of(directory: Path, palace: Palace, profile: str) -> Alone:
    """A client in a home without a palace; `palace` lies elsewhere, and is asked by nobody."""
    home = directory / "home"
    home.mkdir(exist_ok=True)
    return Alone(palace, home, profile=profile)


def calls(talk: Talk, *wanted: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Make calls that must succeed, on one connection, and return their results."""
    answers = talk.ask(*(("tools/call", {"name": name, "arguments": given}) for name, given in wanted))
    results: list[dict[str, Any]] = [answer["result"] for answer in answers]
    assert not any(result["isError"] for result in results), results
    return results


def test_clients_of_mempalace_read_the_same_fields_empty(tmp_path: Path, palace: Palace) -> None:
    wanted = {
        "status": {},
        "search": {"query": "port"},
        "check_duplicate": {"content": "a port"},
        "list_drawers": {},
        "list_wings": {},
        "get_taxonomy": {},
        "kg_query": {"entity": "Ada"},
        "kg_stats": {},
        "diary_read": {"agent_name": "codex"},
        "list_tunnels": {},
    }
    talk = talk_of(tmp_path, palace, "mempalace")
    results = calls(talk, *((f"mempalace_{name}", given) for name, given in wanted.items()))
    told = {name: json.loads(one["content"][0]["text"]) for name, one in zip(wanted, results, strict=True)}
    status = told.pop("status")
    assert (status["total_drawers"], status["wings"], status["rooms"]) == (0, {}, {})
    assert told == {
        "search": {
            "query": "port",
            "filters": dict.fromkeys(("wing", "room", "source_file", "since", "before")),
            "total_before_filter": 0,
            "results": [],
        },
        "check_duplicate": {"is_duplicate": False, "matches": []},
        "list_drawers": {"drawers": [], "total": 0, "count": 0, "offset": 0, "limit": 20},
        "list_wings": {"wings": {}},
        "get_taxonomy": {"taxonomy": {}},
        "kg_query": {
            "entity": "Ada",
            "as_of": None,
            "active_facts": [],
            "historical_facts": [],
            "future_facts": [],
            "facts": [],
            "count": 0,
        },
        "kg_stats": {"entities": 0, "triples": 0, "current_facts": 0, "expired_facts": 0, "relationship_types": []},
        "diary_read": {"agent": "codex", "entries": [], "total": 0, "showing": 0},
        "list_tunnels": [],
    }
    assert list((tmp_path / "home").rglob("*.db")) == []


@pytest.mark.parametrize(
    ("profile", "wanted"),
    [
        (
            "palazzo",
            [
                ("search", {"query": "port"}),
                ("status", {}),
                ("wake_up", {}),
                ("diary_read", {}),
                ("kg_query", {"entity": "Ada"}),
            ],
        ),
        ("shodh", [("recall", {"query": "port"}), ("list_memories", {}), ("context_summary", {})]),
    ],
)
def test_what_reads_says_that_nothing_is_kept_yet(
    tmp_path: Path, palace: Palace, profile: str, wanted: list[tuple[str, dict[str, Any]]]
) -> None:
    talk = talk_of(tmp_path, palace, profile)
    for result in calls(talk, *wanted):
        assert result["content"][0]["text"].endswith(NOTHING_KEPT)
        assert result["structuredContent"]["remarks"] == [NOTHING_KEPT]
        assert not result["structuredContent"].get("size_bytes")
    assert list((tmp_path / "home").rglob("*.db")) == []


def test_the_first_thing_that_is_kept_makes_the_palace_and_is_found(tmp_path: Path, palace: Palace) -> None:
    talk = talk_of(tmp_path, palace, "palazzo")
    _, _, found = calls(
        talk,
        ("search", {"query": "zebra port"}),
        ("remember", {"text": "The zebra gateway listens on port 8443."}),
        ("search", {"query": "zebra port"}),
    )
    assert "8443" in found["content"][0]["text"]
    assert NOTHING_KEPT not in found["content"][0]["text"]


def test_a_palace_that_is_there_and_cannot_be_read_stays_an_error(tmp_path: Path, palace: Palace) -> None:
    broken = tmp_path / "home" / ".local" / "share" / "palazzo" / "palace.db"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"no palace" * 1_000)
    assert "success" in talk_of(tmp_path, palace, "mempalace").refusal("mempalace_status")


def test_nothing_says_that_a_palace_is_sound_which_is_not_there(tmp_path: Path, palace: Palace) -> None:
    assert "There is no palace at" in talk_of(tmp_path, palace, "palazzo").refusal("verify")


def test_clients_of_mempalace_find_nothing_in_a_wing_that_there_is_not(tmp_path: Path, palace: Palace) -> None:
    """They name a wing with every call, before anything was filed there; with a palace, and without one."""
    wanted = (
        ("mempalace_search", {"query": "port", "wing": "nowhere"}),
        ("mempalace_list_drawers", {"wing": "nowhere", "room": "none"}),
        ("mempalace_list_rooms", {"wing": "nowhere"}),
    )
    for talk in (Talk(palace, tmp_path, profile="mempalace"), talk_of(tmp_path, palace, "mempalace")):
        results = calls(talk, *wanted)
        searched, listed, rooms = (json.loads(one["content"][0]["text"]) for one in results)
        assert searched["results"] == []
        assert (listed["drawers"], listed["total"]) == ([], 0)
        assert rooms == {"wing": "nowhere", "rooms": {}}
        assert any("nowhere" in remark for one in results for remark in one["structuredContent"]["remarks"])
