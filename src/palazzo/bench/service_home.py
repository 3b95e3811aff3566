"""A separate home with a service, as hosts and agents see it: hooks, tools and operations over the real connection.

It knows how to talk to the service, and nothing about its answers. Hooks wait for their answer however long it takes: a
benchmark of injection must not count a late answer as no answer.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from palazzo.client import rpc
from palazzo.client.jsonl import Stream
from palazzo.errors import PalazzoError, ServiceUnavailable

_PATIENCE = 60_000
"""Milliseconds that a hook allows the service."""
_PASSED_VARIABLES = ("PATH", "LANG", "SYSTEMROOT", "PYTHONPATH", "LD_LIBRARY_PATH", "TMPDIR", "TEMP")
_EXTENSIONS = ("opencode", "pi")
_PAYLOADS = {
    "copilot": ("sessionId", "cwd", "transcriptPath", "toolName", "toolArgs", "toolResult"),
    "": ("session_id", "cwd", "transcript_path", "tool_name", "tool_input", "tool_response"),
}
"""The hosts' names for the same fields."""
_SHELLS: Mapping[str, Mapping[str, str]] = {
    "claude-code": {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "{session}"},
    "codex": {"CODEX_THREAD_ID": "{session}"},
    "opencode": {"OPENCODE": "1"},
    "pi": {"PI_SESSION_ID": "{session}"},
    "gemini-cli": {"GEMINI_CLI": "1"},
    "copilot": {"COPILOT_CLI": "1"},
}
"""The environment variables of the shells in which hosts' agents run commands."""


class ServiceSandbox:
    """A home directory with a palace and its service."""

    def __init__(self, home: Path, runtime: Path, settings: Mapping[str, str]) -> None:
        self.home = home
        self.variables = {
            **{name: os.environ[name] for name in _PASSED_VARIABLES if name in os.environ},
            "HOME": str(home),
            "USERPROFILE": str(home),
            "XDG_RUNTIME_DIR": str(runtime),
            "PALAZZO_WATCH_BACKGROUND": "off",
            "TZ": "UTC",
            **settings,
        }
        self._where = rpc.address(rpc.chosen_palace(None, self.variables, str(home)), self.variables)

    def hook(self, host: str, event: str, payload: Mapping[str, Any], cwd: Path, **settings: str) -> str:
        """Return the host's answer as JSON; raise if the service gives no answer. `settings` are variables."""
        body = json.dumps(payload).encode()
        hello = {
            "want": "hook",
            "host": host,
            "event": event,
            "length": len(body),
            "within_ms": _PATIENCE,
            "surroundings": rpc.surroundings(str(cwd), {**self.variables, **settings}),
        }
        stream = self._reach(hello)
        try:
            stream.socket.sendall(body)
            answer = stream.read_line()
        finally:
            stream.close()
        if answer is None:
            raise ServiceUnavailable(f"The service did not answer {event} of {host}.")
        return answer.decode()

    def run(
        self, host: str, cwd: Path, session: str, *arguments: str, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `palazzo` in an agent's shell, with its host's variables and the given ones."""
        return subprocess.run(  # noqa: S603
            (sys.executable, "-m", "palazzo", *arguments),
            cwd=cwd,
            env={**self.variables, **agents_variables(host, session), **variables},
            capture_output=True,
            text=True,
            timeout=_PATIENCE / 1_000,
        )

    def call(self, operation: str, cwd: Path, **request: Any) -> dict[str, Any]:
        """Return the result of an operation; raise an error if it is refused."""
        with rpc.Caller(self._where, self.variables, str(cwd)) as caller:
            response = caller.call(operation, request)
        if "error" in response:
            raise PalazzoError(str(response["error"]))
        result: dict[str, Any] = response["result"]
        return result

    def settle(self, patience: float = 600.0) -> None:
        """Wait until all background work is done."""
        deadline = time.monotonic() + patience
        calm = 0
        while calm < 2:
            state = self.call("status", self.home)
            calm = calm + 1 if not state["pending"] and not state["embedding"] else 0
            if time.monotonic() > deadline:
                raise PalazzoError(f"{state['pending']} passages still have no vector after {patience:.0f} seconds.")
            time.sleep(0.3)

    @contextmanager
    def agent(
        self, host: str, cwd: Path, session: str = "", profile: str = "palazzo", toolset: str = "full"
    ) -> Iterator[Agent]:
        """Connect an agent's client. Claude Code gives its session in the environment, Codex with each call."""
        names = {"CLAUDE_CODE_SESSION_ID": session} if host == "claude-code" and session else {}
        around = rpc.surroundings(str(cwd), {**self.variables, **names})
        stream = self._reach({"want": "mcp", "profile": profile, "toolset": toolset, "surroundings": around})
        meta = {"x-codex-turn-metadata": {"session_id": session}} if host == "codex" and session else {}
        with stream:
            yield Agent(stream, host, meta)

    def _reach(self, hello: Mapping[str, Any]) -> Stream:
        stream = rpc.ensure_service(self._where, self.variables, {**hello, "any": True})
        stream.socket.settimeout(_PATIENCE / 1_000)
        return stream

    def close(self) -> None:
        """End the service, and wait until it has ended."""
        try:
            stream, _ = rpc.greet(self._where, {"want": "stop", "any": True})
        except ServiceUnavailable:
            return
        stream.close()
        deadline = time.monotonic() + _PATIENCE / 1_000
        while rpc.is_starting(self._where) and time.monotonic() < deadline:
            time.sleep(0.05)


class Agent:
    """An agent's connection to the tools."""

    def __init__(self, stream: Stream, host: str, meta: Mapping[str, Any]) -> None:
        self._stream, self._meta, self._asked = stream, dict(meta), 0
        parameters = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": host, "version": "1"}}
        self.greeting = self.ask("initialize", **parameters)
        stream.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result of a request, or the error under `error`."""
        self._asked += 1
        self._stream.send({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params})
        while (message := self._stream.read()) is not None:
            if message.get("id") == self._asked:
                result: dict[str, Any] = message.get("result", {"error": message.get("error")})
                return result
        raise ServiceUnavailable("The service ended during a call.")

    def use(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Return the result of a tool's call."""
        return self.ask("tools/call", name=tool, arguments=arguments, _meta=self._meta)


@contextmanager
def open_sandbox(settings: Mapping[str, str] | None = None) -> Iterator[ServiceSandbox]:
    """Yield a home, a palace and a service, and remove them afterwards."""
    base = Path(tempfile.mkdtemp(prefix="palazzo-bench-"))
    home, runtime = base / "home", base / "run"
    home.mkdir()
    runtime.mkdir(mode=0o700)
    sandbox = ServiceSandbox(home, runtime, settings or {})
    try:
        yield sandbox
    finally:
        sandbox.close()
        _remove(base)


def _remove(base: Path) -> None:
    """Remove all of it. The embedding process ends after its service, and writes until then."""
    deadline = time.monotonic() + _PATIENCE / 1_000
    while base.exists() and time.monotonic() < deadline:
        shutil.rmtree(base, ignore_errors=True)
        time.sleep(0.1)


def agents_variables(host: str, session: str) -> dict[str, str]:
    """Return the variables that a host sets in the shell of its agent."""
    return {name: value.format(session=session) for name, value in _SHELLS.get(host, {}).items()}


def payload(host: str, session: str, cwd: Path, **fields: Any) -> dict[str, Any]:
    """Return the payload that a host sends to its hook.

    `fields` are ours: transcript, prompt, source, tool, last_message, agent. `tool` is a name, its arguments, its
    output, and the error, if it failed.
    """
    name, arguments, output, error = fields.pop("tool", ("", {}, "", ""))
    transcript = str(fields.pop("transcript", ""))
    if host in _EXTENSIONS:
        tool = {"name": name, "input": arguments, "output": output, "error": error}
        event = {"session": session, "cwd": str(cwd), "transcript": transcript}
        return event | fields | ({"tool": tool} if name else {})
    keys = _PAYLOADS.get(host, _PAYLOADS[""])
    body = dict(zip(keys, (session, str(cwd), transcript, name, arguments, output), strict=True))
    if error:
        body["error"] = error
    field_names = {"last_message": "last_assistant_message", "agent": "agent_id", "agent_kind": "agent_type"}
    return body | {field_names.get(key, key): value for key, value in fields.items()}
