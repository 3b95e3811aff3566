"""Codex without a person and without a network: a process for each turn, which goes on with the session."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

from tests.end_to_end.machine import NOWHERE
from tests.end_to_end.model import Model

PATIENCE = 60
"""Seconds that a turn may take before the process is ended; the script answers at once."""
TRUSTED = ("--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust")
"""As a person who has looked at the hooks, and lets the agent do what it wants."""
_SETTINGS = """\
model = "scripted"
model_provider = "scripted"
model_context_window = 200000
model_auto_compact_token_limit = 150000
check_for_update_on_startup = false
web_search = "disabled"

[analytics]
enabled = false

[feedback]
enabled = false

[features]
apps = false

[model_providers.scripted]
name = "scripted"
base_url = "{address}/v1"
env_key = "NO_KEY"
wire_api = "responses"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
"""


class Codex:
    """A person's Codex in one project."""

    def __init__(self, program: Path, model: Model, project: Path, around: dict[str, str]) -> None:
        self._program, self._project = program, project
        self.home = Path(around["HOME"]) / ".codex"
        self.home.mkdir(exist_ok=True)
        self.settings = self.home / "config.toml"
        if not self.settings.exists():
            self.settings.write_text(_SETTINGS.format(address=model.address))
        kept = {name: value for name, value in around.items() if not name.startswith(("OPENAI_", "CODEX_"))}
        self._variables = {**kept, **NOWHERE, "NO_KEY": "none", "PWD": str(project)}
        self.session = ""

    def run(self, *words: str) -> str:
        """Run a command of it; what it printed."""
        done = subprocess.run(
            [str(self._program), *words], cwd=self._project, env=self._variables, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (words, done.stdout[-2_000:], done.stderr[-2_000:])
        return done.stdout

    def begin(self) -> None:
        """Let the next turn be the first of a session."""
        self.session = ""

    def turn(self, prompt: str, *how: str) -> list[dict[str, Any]]:
        """Send a prompt to the session; what the program told of the turn."""
        how = ("--json", "--skip-git-repo-check", *(how or TRUSTED))
        goes_on = ["resume", self.session] if self.session else []
        told = [json.loads(line) for line in self.run("exec", *how, *goes_on, prompt).splitlines()]
        self.session = self.session or next(one["thread_id"] for one in told if one["type"] == "thread.started")
        return told

    @property
    def transcripts(self) -> list[Path]:
        """All sessions, as it keeps them."""
        return sorted((self.home / "sessions").rglob("rollout-*.jsonl"))

    def trust_hooks(self) -> None:
        """Record that the person trusts all hooks as they stand, by the protocol that the program's own screens use."""
        command = [str(self._program), "app-server"]
        with subprocess.Popen(
            command, cwd=self._project, env=self._variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        ) as server:  # fmt: skip
            watch = threading.Timer(PATIENCE, server.kill)
            watch.start()
            client = {"name": "tests", "title": "tests", "version": "0"}
            _ask(server, "initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
            listed = _ask(server, "hooks/list", {"cwds": [str(self._project)]})
            hooks = [hook for one in listed["data"] for hook in one["hooks"]]
            trusted = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
            edit = {"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"}
            _ask(server, "config/batchWrite", {"edits": [edit]})
            server.terminate()
            watch.cancel()


def _ask(server: subprocess.Popen[str], method: str, parameters: dict[str, Any]) -> dict[str, Any]:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps({"id": method, "method": method, "params": parameters}) + "\n")
    server.stdin.flush()
    for line in server.stdout:
        answer = json.loads(line)
        if answer.get("id") == method:
            assert "result" in answer, answer
            result: dict[str, Any] = answer["result"]
            return result
    raise AssertionError(f"Codex ended before it answered {method}.")
