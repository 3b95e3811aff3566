"""A client of a peer's MCP server on standard input and output, one call at a time.

Standard library alone: it measures what an agent gets from a call, not how fast.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

_PROTOCOL = "2025-06-18"


class ToolServer:
    """A running server. `call` raises `RuntimeError` if it answers with an error, or ends."""

    def __init__(self, requests: IO[str], replies: IO[str]) -> None:
        self._requests, self._replies, self._number = requests, replies, 0
        client = {"name": "peer-suite", "version": "1"}
        self._ask("initialize", {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": client})
        self._send({"method": "notifications/initialized"})

    def call(self, tool: str, arguments: Mapping[str, object]) -> dict[str, Any]:
        """Return the result of a tool: its `content`, and its `structuredContent` if there is one."""
        return self._ask("tools/call", {"name": tool, "arguments": dict(arguments)})

    def _ask(self, method: str, parameters: Mapping[str, object]) -> dict[str, Any]:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": dict(parameters)})
        for line in self._replies:
            reply = json.loads(line)
            if reply.get("id") == self._number and "method" not in reply:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']}")
                result: dict[str, Any] = reply["result"]
                return result
        raise RuntimeError(f"The server ended before it answered {method}.")

    def _send(self, message: Mapping[str, object]) -> None:
        self._requests.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._requests.flush()


def texts(result: Mapping[str, Any]) -> str:
    """Return the text that an agent reads of a result."""
    return "\n".join(part["text"] for part in result.get("content", ()) if part.get("type") == "text")


@contextmanager
def running_server(
    command: Sequence[str], environment: Mapping[str, str], directory: Path, seconds: float
) -> Iterator[ToolServer]:
    """Start a server, and end it after `seconds` at the latest; its log goes to `server.log` in the directory."""
    with (
        (directory / "server.log").open("w", encoding="utf-8") as log,
        subprocess.Popen(
            command,
            env=dict(environment),
            cwd=directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Timer(seconds, process.kill)
        late.start()
        try:
            yield ToolServer(process.stdin, process.stdout)
        finally:
            late.cancel()
            process.terminate()
