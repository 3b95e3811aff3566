"""`--json` writes one document and nothing else, with exactly the fields that scripts rely on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.faces.cli.command import Command, spawn

from palazzo.store.schema import MIGRATIONS

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z")
HIT = {
    "id", "score", "text", "truncated", "wing", "room", "kind", "title", "created_at", "recorded_at", "role", "author",
    "source", "trust", "branch", "commit", "visibility", "freshness", "citations", "why", "turns", "context",
    "superseded", "label", "state", "tags", "filed_as", "importance", "strength", "location", "path", "line",
    "short_id", "quoted", "parts", "feedback", "person",
}  # fmt: skip
MINE = {
    "commits",
    "sources",
    "new",
    "grown",
    "unchanged",
    "skipped",
    "items",
    "drawers",
    "failed",
    "took_s",
    "unread",
    "files",
    "embedding_s",
    "rows",
    "noise",
    "repeated",
    "unreadable",
    "left_out",
    "taken_back",
    "code_skipped",
}
STATUS = {
    "palace", "version", "schema", "items", "drawers", "facts", "wings", "embedder", "size_bytes", "service",
    "open_todos", "tunnels", "filed", "injected", "quarantine", "paused", "paused_until", "backup_at",
    "sync_failed", "set_aside", "unfinished_imports", "entities",
    "mentions",
    "connections",
}  # fmt: skip


def test_search(palazzo: Command, shop: Path) -> None:
    found = palazzo.json("search", "deploy port")
    assert set(found) == {
        "query",
        "scope",
        "index",
        "took_ms",
        "total_candidates",
        "hits",
        "below",
        "left_out",
        "uncertain",
    }
    assert found["query"] == "deploy port"
    assert found["scope"] == {"wing": None, "as_of": None}
    assert found["index"] == "keyword-only"
    assert found["took_ms"] > 0
    assert found["total_candidates"] >= 1
    hit = found["hits"][0]
    assert set(hit) == HIT
    assert re.fullmatch("[0-9a-f]{32}", hit["id"])
    assert 0 < hit["score"] <= 1
    assert "port 8443" in hit["text"]
    assert (hit["truncated"], hit["wing"], hit["room"], hit["kind"]) == (False, "shop", "docs", "section")
    assert (hit["role"], hit["trust"], hit["freshness"]) == ("author", "repo", "unknown")
    assert hit["visibility"] in ("merged", "unmerged")
    assert TIME.fullmatch(hit["created_at"])
    assert TIME.fullmatch(hit["recorded_at"])
    assert set(hit["source"]) == {"uri", "kind", "session_id", "locator"}
    assert hit["source"]["uri"].endswith("/shop/docs/deploy.md")
    assert hit["source"]["kind"] == "document"
    assert all(isinstance(reason, str) for reason in hit["why"])


def test_search_in_a_wing_says_so(palazzo: Command, shop: Path) -> None:
    assert palazzo.json("search", "port", "--wing", "shop")["scope"] == {"wing": "shop", "as_of": None}


def test_mine(palazzo: Command, home: Path) -> None:
    (home / "shop" / "docs" / "a.md").write_text("# A\n\nSome words.\n")
    first = palazzo.json("mine", "docs")
    assert set(first) == MINE
    assert (first["sources"], first["new"], first["unchanged"], first["items"]) == (1, 1, 0, 1)
    assert first["drawers"] >= 1
    assert (first["skipped"], first["failed"]) == ([], [])
    assert isinstance(first["took_s"], float)
    assert (first["rows"], first["noise"], first["repeated"], first["unreadable"]) == (1, 0, 0, 0)
    again = palazzo.json("mine", "docs")
    assert (again["sources"], again["new"], again["unchanged"], again["items"]) == (1, 0, 1, 0)


def test_mine_names_what_it_left_out(palazzo: Command, home: Path) -> None:
    (home / "shop" / "docs" / "noise.jsonl").write_text('{"a": 1}\n')
    (one,) = palazzo.json("mine", "docs/noise.jsonl")["skipped"]
    assert set(one) == {"uri", "reason"}


def test_status(palazzo: Command, shop: Path) -> None:
    found = palazzo.json("status")
    assert set(found) == STATUS
    assert found["palace"] == str(shop)
    assert (found["items"], found["drawers"], found["facts"], found["schema"]) == (4, 5, 0, len(MIGRATIONS))
    assert found["wings"] == {"shop": {"rooms": {"animals": 1, "docs": 3, "notes": 1}, "drawers": 5}}
    assert set(found["embedder"]) == {"id", "dimension", "state"}
    assert found["embedder"]["state"] == "building"
    assert found["size_bytes"] > 0
    assert found["service"] == {"running": False, "pid": None, "viewer_trouble": ""}


def test_verify(palazzo: Command, shop: Path) -> None:
    found = palazzo.json("verify")
    assert set(found) == {"ok", "checks"}
    assert found["ok"] is True
    assert all(set(check) == {"name", "ok", "detail"} and check["ok"] is True for check in found["checks"])


COMMANDS = [
    ["init"],
    ["mine", "docs"],
    ["mine", "docs", "--dry-run"],
    ["mine", "docs", "--wait"],
    ["search", "port"],
    ["show", "ID"],
    ["show", "ID", "--context", "2"],
    ["wake-up"],
    ["remember", "Another note."],
    ["forget", "ID", "--dry-run"],
    ["forget", "ID", "--yes"],
    ["undo", "--list"],
    ["undo"],
    ["status"],
    ["doctor"],
    ["verify"],
    ["repair"],
    ["repair", "--rebuild", "fts"],
    ["settings"],
    ["settings", "get", "redact"],
    ["settings", "set", "save_interval", "20"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_every_command_writes_one_document_and_nothing_else(palazzo: Command, shop: Path, arguments: list[str]) -> None:
    hit = palazzo.json("search", "port")["hits"][0]["id"]
    palazzo("backup")  # without one doctor is not content
    ran = palazzo(*(hit if one == "ID" else one for one in arguments), "--json")
    assert ran.code == 0, ran.error
    assert isinstance(ran.json, dict)
    assert ran.error == ""


def test_an_error_leaves_standard_output_empty(palazzo: Command) -> None:
    assert palazzo("status", "--json").out == ""


@pytest.mark.slow
def test_words_of_every_kind_survive(shop: Path) -> None:
    strange = "a\tb \x1b[31m é 漢字 😀 \x00 done\r\nnext"
    note = spawn("remember", "-", "--json", stdin=strange.encode()).json
    assert text_of(spawn("show", note["id"], "--json").json) == strange
    assert spawn("show", note["id"], "--raw").out == strange


def text_of(shown: Any) -> str:
    """The text of the only entry that was shown."""
    (entry,) = shown["entries"]
    return str(entry["text"])
