"""A client that talks to the server in this process, over lines as on stdio, about a palace that is open."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from palazzo.bench.poison_hosts import SESSIONS
from palazzo.bench.poison_session import Utterance
from palazzo.faces.mcp.client_calls import OperationCall, Surroundings
from palazzo.faces.mcp.jsonrpc_lines import serve_lines
from palazzo.operations import idempotency, registry
from palazzo.operations.context import Context
from palazzo.palace import Palace

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "2.1.330"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass
class Talk:
    """Each `ask` is a connection of its own: it greets, asks one thing after the other, and leaves."""

    palace: Palace
    cwd: Path
    profile: str = "palazzo"
    toolset: str = "full"
    client: str = "codex-mcp-client"
    variables: dict[str, str] = field(default_factory=dict)
    asked: list[OperationCall] = field(default_factory=list)

    def ask(self, *requests: tuple[str, dict[str, Any]], modern: bool = False) -> list[dict[str, Any]]:
        """Return the answer to each request."""
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": self.client, "version": "1"},
        }
        if modern:
            lines = [_request(n, method, {**params, "_meta": MODERN}) for n, (method, params) in enumerate(requests)]
        else:
            lines = [_request("hello", "initialize", hello), {"jsonrpc": "2.0", "method": "notifications/initialized"}]
            lines += [_request(n, method, params) for n, (method, params) in enumerate(requests)]
        answers = self.send(*(json.dumps(line).encode() for line in lines))
        return [answer for answer in answers if answer.get("id") != "hello" and "method" not in answer]

    def send(self, *lines: bytes) -> list[dict[str, Any]]:
        """Send lines, each once what was asked before is answered; return all that came back."""
        return anyio.run(self._send, lines)

    def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its result, which must not be the protocol's error."""
        (answer,) = self.ask(("tools/call", {"name": name, "arguments": arguments}))
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def told(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed, and return the JSON that it answers."""
        result = self.call(name, **arguments)
        assert not result["isError"], result
        told: dict[str, Any] = result["structuredContent"]
        return told

    def text(self, name: str, /, **arguments: Any) -> str:
        """Call a tool and return the text that it answers, also where that says what was wrong."""
        text: str = self.call(name, **arguments)["content"][0]["text"]
        return text

    def refusal(self, name: str, /, **arguments: Any) -> str:
        """Call a tool that must refuse, and return the sentence that says why."""
        result = self.call(name, **arguments)
        assert result["isError"], result
        text: str = result["content"][0]["text"]
        return text

    def error(self, name: str, /, **arguments: Any) -> tuple[int, str]:
        """Call a tool in a way that is no call of it, and return the protocol's error."""
        (answer,) = self.ask(("tools/call", {"name": name, "arguments": arguments}))
        return answer["error"]["code"], answer["error"]["message"]

    async def _send(self, lines: tuple[bytes, ...]) -> list[dict[str, Any]]:
        answers: list[dict[str, Any]] = []
        waiting = anyio.Event()

        async def write(line: bytes) -> None:
            answers.append(json.loads(line))
            if "method" not in answers[-1]:
                waiting.set()

        async def coming() -> AsyncIterator[bytes]:
            nonlocal waiting
            for line in lines:
                waiting = anyio.Event()
                yield line
                if b'"method": "notifications/' not in line:
                    await waiting.wait()

        own = {"PALAZZO_SERVICE": "off", "HOME": str(self.cwd), "CODEX_HOME": str(_history_of(self.cwd))}
        surroundings = Surroundings(self.cwd, {**own, **self.variables})
        await serve_lines(
            coming(), write, profile=self.profile, toolset=self.toolset, surroundings=surroundings, call=self.carry_out
        )
        return answers

    async def carry_out(self, operation_call: OperationCall) -> Any:
        """Do what a tool asks for with the palace that is open."""
        self.asked.append(operation_call)
        return await anyio.to_thread.run_sync(self._run, operation_call)

    def _run(self, operation_call: OperationCall) -> Any:
        around = operation_call.surroundings
        with Context(
            cwd=around.cwd,
            variables=around.variables,
            on_progress=operation_call.on_progress,
            on_notice=operation_call.on_notice,
            trust=around.trust,
            palace_opener=lambda context, mode: self.palace,
        ) as context:
            return idempotency.call(
                context, registry.operation(operation_call.operation), operation_call.request, operation_call.key
            )


def _history_of(project: Path) -> Path:
    """Return where the client's host keeps its history: of a session that has met nothing untrusted."""
    home = project.parent / f"{project.name}-host"
    if not home.exists():
        SESSIONS["codex"](home, project).add(Utterance("user", "Let us begin."))
    return home / ".codex"


def in_projects(talk: Talk, *names: str) -> list[Talk]:
    """Return the same palace as it is seen from projects of these names."""
    talks = []
    for name in names:
        directory = talk.cwd.parent / name
        directory.mkdir()
        talks.append(replace(talk, cwd=directory, variables={"HOME": str(talk.cwd)}))
    return talks


def _request(number: int | str, method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
