"""Traffic of real clients, captured line by line against a small server, and its replay against ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.client.conftest import Host

CAPTURES = Path(__file__).resolve().parents[1] / "fixtures" / "mcp"
OUR_NAMES = {"memory_search": "search", "memory_add": "remember"}
"""The tools of the server that the clients talked to; `memory_boom`, which we have no like of, stays as it is."""
VERSION = "io.modelcontextprotocol/protocolVersion"

Message = dict[str, Any]


@dataclass
class Session:
    """What one process of a client sent, in order, and whether it ended the server by closing its input."""

    client: str
    number: int
    sent: list[Message] = field(default_factory=list)
    ends_by_closing: bool = False

    @property
    def name(self) -> str:
        """How it is told from others."""
        return f"{self.client}#{self.number}"

    @property
    def requests(self) -> list[Message]:
        """Those of its messages that are to be answered."""
        return [one for one in self.sent if "id" in one]

    def replay(self, host: Host) -> list[tuple[Message, Message]]:
        """Send every line, with our names of tools; return each request with its answer.

        It waits where the client did: for the answers to its greeting, and for the one to what it then cancels. All
        else is sent at once. There is exactly one answer to each request, whose id is of the same type and value.
        """
        answers: dict[str, Message] = {}
        for message in self.sent:
            if message["method"] == "notifications/cancelled":
                _hear_until(host, answers, json.dumps(message["params"]["requestId"]))
            host.write(json.dumps(_with_our_names(message)).encode() + b"\n")
            if message["method"] in ("server/discover", "initialize"):
                _hear_until(host, answers, json.dumps(message["id"]))
        for request in self.requests:
            _hear_until(host, answers, json.dumps(request["id"]))
        assert len(answers) == len(self.requests)
        return [(request, answers[json.dumps(request["id"])]) for request in self.requests]


def sessions() -> Iterator[Session]:
    """Every captured session that differs from the others of its client."""
    for path in sorted(CAPTURES.glob("*.jsonl")):
        seen: set[str] = set()
        for session in _read(path):
            course = json.dumps(
                [(one["method"], one.get("params", {}).get("name")) for one in session.sent] + [session.ends_by_closing]
            )
            if session.sent and course not in seen:
                seen.add(course)
                yield session


def is_modern(message: Message) -> bool:
    """Whether a message is of the era that knows no handshake."""
    return VERSION in message.get("params", {}).get("_meta", {})


def _read(path: Path) -> list[Session]:
    found: list[Session] = []
    for line in path.read_text().splitlines():
        seen = json.loads(line)
        if seen["dir"] == "start":
            found.append(Session(path.stem, len(found)))
        elif seen["dir"] == "in":
            found[-1].sent.append(seen["msg"])
        elif seen["dir"] == "eof":
            found[-1].ends_by_closing = True
    return found


def _with_our_names(message: Message) -> Message:
    if message["method"] != "tools/call":
        return message
    params = message["params"]
    return {**message, "params": {**params, "name": OUR_NAMES.get(params["name"], params["name"])}}


def _hear_until(host: Host, answers: dict[str, Message], name: str) -> None:
    while name not in answers:
        said = host.hear()
        if "method" in said:
            continue  # progress, of a call that asked for it
        assert json.dumps(said["id"]) not in answers, said
        answers[json.dumps(said["id"])] = said
