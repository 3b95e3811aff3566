"""opencode without a person and without a network: a server that is asked over HTTP, or a process for each turn."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

from tests.end_to_end.machine import NOWHERE
from tests.end_to_end.model import Model

PATIENCE = 90
"""Seconds that a turn may take before it counts as hung; the script answers at once."""
_LISTENS = re.compile(r"listening on (http://\S+)")
_MODEL = {"providerID": "scripted", "modelID": "scripted"}


def settings(model: Model) -> dict[str, Any]:
    """A person's own settings: one model, and nothing that asks others."""
    limits = {"context": 200_000, "output": 8_000}
    said = {"name": "Scripted", "limit": limits, "tool_call": True, "reasoning": False}
    provider = {
        "npm": "@ai-sdk/openai-compatible", "name": "Scripted", "models": {"scripted": said},
        "options": {"baseURL": f"{model.address}/v1", "apiKey": "none"},
    }  # fmt: skip
    return {
        "$schema": "https://opencode.ai/config.json",
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "autoupdate": False,
        "share": "disabled",
        "permission": {"*": "allow"},
        "provider": {"scripted": provider},
    }


class Opencode:
    """A person's opencode in one project."""

    def __init__(self, program: Path, model: Model, project: Path, around: dict[str, str]) -> None:
        self.program, self.project = program, project
        self.home = Path(around.get("XDG_CONFIG_HOME") or Path(around["HOME"]) / ".config") / "opencode"
        self.home.mkdir(parents=True, exist_ok=True)
        self.settings = self.home / "opencode.json"
        if not self.settings.exists():
            self.settings.write_text(json.dumps(settings(model), indent=2) + "\n")
        data = Path(around.get("XDG_DATA_HOME") or Path(around["HOME"]) / ".local" / "share")
        self.history = data / "opencode" / "opencode.db"
        never = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE")
        self.variables = {
            **{name: value for name, value in around.items() if not name.startswith("OPENCODE_")},
            **NOWHERE,
            **{f"OPENCODE_DISABLE_{name}": "1" for name in never},
            "npm_config_fetch_retries": "0",
            "NO_COLOR": "1",
            "PWD": str(project),  # which it takes for the directory to work in, whatever the process's own is
        }

    def run(self, prompt: str, *how: str) -> str:
        """Run `opencode run` for one turn; what it printed."""
        command = [str(self.program), "run", "--auto", "--title", "A talk", *how, prompt]
        done = subprocess.run(
            command, cwd=self.project, env=self.variables, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stdout[-2_000:], done.stderr[-2_000:])
        return done.stdout


class Server:
    """`opencode serve`, until the `with` ends; a terminal is such a client of it as this is."""

    def __init__(self, host: Opencode) -> None:
        self._host = host
        self.session = ""

    def __enter__(self) -> Server:
        host = self._host
        command = [str(host.program), "serve", "--port", "0", "--hostname", "127.0.0.1", "--print-logs"]
        self._log = (host.project.parent / "opencode.log").open("ab")
        self._process = subprocess.Popen(
            command, cwd=host.project, env=host.variables, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=self._log, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        found = next(filter(None, (_LISTENS.search(line) for line in self._process.stdout)), None)
        assert found is not None, "opencode did not say where it listens"
        self._address = found[1]
        return self

    def __exit__(self, *failure: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(PATIENCE)
        finally:
            self._process.kill()
            self._log.close()
            if self._process.stdout is not None:
                self._process.stdout.close()

    @property
    def process(self) -> int:
        """The server's own process."""
        return self._process.pid

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Ask the server; its document."""
        content = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{self._address}{path}", content, headers, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def begin(self) -> str:
        """Begin a session; its id. It has a title, so that the model is not asked for one."""
        self.session = self.ask("POST", "/session", {"title": "A talk"})["id"]
        return self.session

    def turn(self, prompt: str) -> str:
        """Send a prompt to the session, wait for the end of the turn; what was said last."""
        body = {"model": _MODEL, "parts": [{"type": "text", "text": prompt}]}
        answer = self.ask("POST", f"/session/{self.session}/message", body)
        return "".join(part.get("text", "") for part in answer["parts"])

    def compact(self) -> None:
        """As a person does who types `/compact`."""
        self.ask("POST", f"/session/{self.session}/summarize", _MODEL)

    def dispose(self) -> None:
        """As the terminal does when it ends."""
        self.ask("POST", "/instance/dispose")


def child_of(parent: int, marked: str) -> int:
    """The process that was started by another and has this in its command line."""
    found = subprocess.run(["pgrep", "-P", str(parent), "-f", marked], capture_output=True, text=True, check=False)
    return int(found.stdout.split()[0])


__all__ = ["PATIENCE", "Opencode", "Server", "child_of", "settings"]
