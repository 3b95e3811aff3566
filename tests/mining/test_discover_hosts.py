"""The sessions of each host are found in its own directories, and nothing beside them is taken for one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from palazzo.sources.discovery import Candidate, Mode, Rules, discover
from palazzo.sources.walk import Skip

FIXTURES = Path(__file__).parents[1] / "fixtures"
ROLLOUT = "0.169.0/rollout-2026-11-21T21-00-54-01a1ffe9-7e49-7971-83b4-a2cdeadd0a30.jsonl"
EVENTS = "82d0ee14-4119-4576-b6f0-a99a5a7d0eb6/events.jsonl"


def put(source: str, home: Path, *names: str) -> None:
    for name in names:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(FIXTURES / source, path)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home directory in which four hosts keep their sessions."""
    root = tmp_path.resolve()
    name = ROLLOUT.rpartition("/")[2]
    put(f"codex/{ROLLOUT}", root, f".codex/sessions/2026/11/21/{name}", f".codex/archived_sessions/{name}")
    session = min((FIXTURES / "pi/0.73.1").glob("*.jsonl"))
    put(f"pi/0.73.1/{session.name}", root, f".pi/agent/sessions/--home-dev-acme--/{session.name}")
    [chat, _] = sorted((FIXTURES / "gemini/0.61.0/chats").glob("*.jsonl"))
    put(f"gemini/0.61.0/chats/{chat.name}", root, f".gemini/tmp/acme/chats/{chat.name}")
    put(f"copilot/{EVENTS}", root, f".copilot/session-state/{EVENTS}")
    header = {"sessionId": "g1", "projectHash": "h", "messages": [{"id": "m", "type": "user", "content": "hi"}]}
    (root / ".gemini/tmp/acme/chats/session-old.json").write_text(json.dumps(header, indent=2))
    (root / ".gemini/tmp/acme/logs.json").write_text('[{"sessionId": "g1", "type": "user", "message": "hi"}]')
    return root


@pytest.mark.parametrize("mode", ["auto", "convos"])
def test_each_host_s_directory_gives_its_sessions(home: Path, mode: Mode) -> None:
    found = {
        one.path.relative_to(home).as_posix(): one.kind
        for one in discover([home / ".codex", home / ".pi", home / ".gemini", home / ".copilot"], Rules(mode))
        if isinstance(one, Candidate)
    }
    kinds = {path.split("/")[0] + path[-6:]: kind for path, kind in found.items()}
    assert len(found) == 6
    assert kinds == {
        ".codex.jsonl": "codex",
        ".pi.jsonl": "pi",
        ".gemini.jsonl": "gemini",
        ".geminid.json": "gemini",
        ".copilot.jsonl": "copilot",
    }


@pytest.mark.parametrize("mode", ["auto", "convos"])
def test_what_hosts_write_beside_their_sessions_is_skipped_with_its_reason(mode: Mode) -> None:
    reasons: dict[str, set[str]] = {}
    for host in ("codex", "pi", "gemini", "copilot"):
        for one in discover([FIXTURES / host / "not-sessions"], Rules(mode)):
            assert isinstance(one, Skip)
            reasons.setdefault(one.path.name, set()).add(one.reason)
    for name, word in (
        ("hooks.jsonl", "hook calls"),
        ("exec-json.jsonl", "output stream"),
        ("json-mode-stdout.jsonl", "output stream"),
        ("rpc-stdout.jsonl", "output stream"),
        ("extension-events.jsonl", "hook calls"),
        ("mcp.jsonl", "JSON-RPC"),
    ):
        assert all(word in reason for reason in reasons[name]), (name, reasons[name])
