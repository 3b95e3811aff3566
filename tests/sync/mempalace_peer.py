"""The real MemPalace, driven by its own programs: its command line, and its MCP server over standard input.

It is installed into a cache from the package index at the version named here; `PALAZZO_MEMPALACE` names the Python of
one that is installed already. A test that cannot have it says so and is skipped; where `PALAZZO_CI` is set it fails.
Its vectors come from a server on loopback, made of the texts' hashes, through its OpenAI-compatible setting.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.fetching import fetching
from tests.index.embedding_server import EmbeddingServer

VERSION = "3.11.0"
PATIENCE = 600
CACHE = Path(os.environ.get("PALAZZO_PEER_CACHE") or Path.home() / ".cache" / "palazzo-tests") / f"mempalace-{VERSION}"
_ASK = "import importlib.metadata as found; print(found.version('mempalace'))"


@dataclass(frozen=True)
class MemPalace:
    """An installation, and a home directory of its own."""

    python: str
    home: Path
    embeddings: str

    @property
    def config(self) -> Path:
        """The directory of its settings, where it puts them in a new home; its palace is in it."""
        return self.home / ".config" / "mempalace"

    @property
    def environment(self) -> dict[str, str]:
        """The whole environment: it reads no other settings, starts no other process and asks no other address."""
        return {
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            "TZ": "Asia/Kolkata",
            "PYTHONUNBUFFERED": "1",
            "HOME": str(self.home),
            "MEMPALACE_EMBEDDING_MODEL": "openai-compat",
            "MEMPALACE_EMBEDDING_API_URL": self.embeddings,
            "MEMPALACE_EMBEDDING_API_MODEL": "hashes",
            "MEMPALACE_WRITE_ROUTING": "direct",
            "ANONYMIZED_TELEMETRY": "False",
            "ORT_DISABLE_TELEMETRY": "1",
            "HF_HUB_OFFLINE": "1",
        }

    def run(self, *arguments: str) -> str:
        """Run its command line, and return what it printed."""
        done = subprocess.run(
            [self.python, "-m", "mempalace", *arguments],
            env=self.environment,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    @contextmanager
    def serving(self, *, kill: bool = False) -> Iterator[Tools]:
        """Run its MCP server; at the end it is told to stop, or ended as by a crash."""
        with subprocess.Popen(
            [self.python, "-m", "mempalace.mcp_server"],
            env=self.environment,
            cwd=self.home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            late = threading.Timer(PATIENCE, process.kill)
            late.start()
            try:
                tools = Tools(process)
                tools.begin()
                yield tools
                if kill:
                    process.kill()
                assert process.stdin is not None
                process.stdin.close()
                process.wait()
            finally:
                process.kill()
                late.cancel()


@dataclass
class Tools:
    """Its tools, by their names without `mempalace_`."""

    process: subprocess.Popen[str]
    asked: int = field(default=0)

    def begin(self) -> None:
        """Shake hands."""
        client = {"name": "palazzo-tests", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __call__(self, name: str, /, **given: Any) -> Any:
        """Call a tool, and return what it answers; it has to succeed."""
        answer = self.ask("tools/call", {"name": f"mempalace_{name}", "arguments": given})["result"]
        told = json.loads(answer["content"][0]["text"])
        assert not isinstance(told, dict) or told.get("success", True), told
        return told

    def ask(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        """Send a request, and return the whole response: it has a `result` or an `error`."""
        self.asked += 1
        self._say({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": given})
        assert self.process.stdout is not None
        response: dict[str, Any] = json.loads(self.process.stdout.readline())
        return response

    def _say(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()


@contextmanager
def mempalace(home: Path) -> Iterator[MemPalace]:
    """Give a MemPalace with an empty home, and vectors."""
    python = _python()
    home.mkdir()
    server = EmbeddingServer()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield MemPalace(python, home, server.url)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@fetching
def _python() -> str:
    named = os.environ.get("PALAZZO_MEMPALACE")
    if named:
        return named
    python = CACHE / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(CACHE, with_pip=True)
    if _version(python) != VERSION:
        pip = [str(python), "-m", "pip", "install", "--quiet", f"mempalace=={VERSION}"]
        done = subprocess.run(pip, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if done.returncode:
            _not_run(f"pip could not install it: {done.stderr.strip()[-300:]}")
    return str(python)


def _version(python: Path) -> str:
    done = subprocess.run([str(python), "-c", _ASK], capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.stdout.strip()


def _not_run(why: str) -> NoReturn:
    told = f"NOT RUN: nothing was seen in the real MemPalace {VERSION}: {why}."
    if os.environ.get("PALAZZO_CI"):
        pytest.fail(told)
    pytest.skip(told)
