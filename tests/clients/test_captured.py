"""Six clients' captured traffic, replayed against `palazzo mcp`: all they ask is answered as they need it."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from tests.client.conftest import Host
from tests.clients.captured import Message, Session, is_modern, sessions
from tests.clients.conftest import Start
from tests.daemon.conftest import User

from palazzo.palace import Palace

SESSIONS = list(sessions())
LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
INVALID_PARAMS = -32602


def test_there_is_traffic_of_six_clients_in_both_eras() -> None:
    assert {session.client.split("-")[0] for session in SESSIONS} == {
        "claude", "codex", "copilot", "gemini", "opencode", "pi",
    }  # fmt: skip
    assert {session.client for session in SESSIONS if all(map(is_modern, session.requests))} == {
        "claude-code-2.1.330-mcp-2026-07-28",
        "copilot-1.0.102-mcp-2026-07-28",
    }
    assert any(one["method"] == "notifications/cancelled" for session in SESSIONS for one in session.sent)


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.name)
def test_a_client_gets_what_it_asks_for_by_the_relay_and_the_service(
    start: Start, someone: User, session: Session
) -> None:
    goes_as_the_client_needs(start("--toolset", "full"), someone, session)


@pytest.mark.slow
@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.name)
def test_a_client_gets_what_it_asks_for_from_a_process_of_its_own(
    start: Start, someone: User, session: Session
) -> None:
    goes_as_the_client_needs(start("--toolset", "full", alone=True), someone, session)


def goes_as_the_client_needs(host: Host, someone: User, session: Session) -> None:
    """Replay a session, look at each answer, and end it as the client does; what it wrote is kept."""
    written = []
    for request, answer in session.replay(host):
        if request["method"] == "tools/call":
            written += called(request, answer)
        else:
            assert "error" not in answer, answer
            greeted_or_listed(request, answer["result"])
    if session.ends_by_closing:
        assert host.close() == 0
    else:
        host.process.send_signal(signal.SIGTERM)
        host.ended()
    assert host.complaints() == ""
    with Palace.open(someone.palace, "read") as palace, palace.database.snapshot() as connection:
        kept = {row[0].hex() for row in connection.execute("SELECT uid FROM item")}
    assert set(written) <= kept


def greeted_or_listed(request: Message, result: dict[str, Any]) -> None:
    """Look at the answer to anything but a call."""
    method = request["method"]
    of_its_era(request, result)
    if method == "server/discover":
        assert "2026-07-28" in result["supportedVersions"]
    elif method == "initialize":
        assert result["protocolVersion"] == request["params"]["protocolVersion"]
    if method in ("server/discover", "initialize"):
        assert {"tools", "resources", "prompts"} <= set(result["capabilities"])
        assert "search" in result["instructions"]
        return
    listed = result[LISTS[method]]
    assert listed
    assert "nextCursor" not in result  # no captured client asks for a second page
    if method == "tools/list":
        assert {"search", "remember"} <= {tool["name"] for tool in listed}


def called(request: Message, answer: Message) -> list[str]:
    """Look at the answer to a call; return the ids of what it wrote."""
    asked = request["params"]["name"]
    if asked == "memory_boom":
        assert answer["error"]["code"] == INVALID_PARAMS
        assert "'memory_boom'" in answer["error"]["message"]
        return []
    result = answer["result"]
    of_its_era(request, result)
    assert result["isError"] is False, result
    assert result["content"][0]["text"].strip()
    told = result["structuredContent"]
    if asked == "memory_search":
        assert "8443" in told["hits"][0]["text"]
        return []
    return [told["id"]]


def of_its_era(request: Message, result: dict[str, Any]) -> None:
    """An answer to a modern request says that it is complete; one to an older client has nothing it does not know."""
    if is_modern(request):
        assert result["resultType"] == "complete"
    else:
        assert not {"resultType", "ttlMs", "cacheScope"} & set(result)
