"""Claude Code without a person and without a network: a process of it that takes one prompt after the other."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.end_to_end.machine import NOWHERE
from tests.end_to_end.model import Model

PATIENCE = 60
"""Seconds that a turn may take before the process is ended; the script answers at once."""
TOOLS = "Bash,Read,Edit,Write,Agent,mcp__palazzo,mcp__plugin_palazzo_palazzo"


def variables(around: dict[str, str], model: Model) -> dict[str, str]:
    """An environment in which it asks nobody but `model`."""
    return {
        **{name: value for name, value in around.items() if not name.startswith(("ANTHROPIC_", "CLAUDE"))},
        **NOWHERE,
        "ANTHROPIC_BASE_URL": model.address,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    }


def run(program: Path, model: Model, project: Path, around: dict[str, str], *words: str) -> str:
    """Run one of its other commands; what it printed."""
    done = subprocess.run(
        [str(program), *words], cwd=project, env=variables(around, model), capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


class ClaudeCode:
    """A session that goes on until the `with` ends, in a process of its own."""

    def __init__(self, program: Path, model: Model, project: Path, around: dict[str, str], *more: str) -> None:
        self._command = [
            str(program), "--print", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
            "--model", "claude-sonnet-4-5", "--allowedTools", TOOLS, *more,
        ]  # fmt: skip
        self._project, self._variables = project, variables(around, model)
        self.told: list[dict[str, Any]] = []

    def __enter__(self) -> ClaudeCode:
        self._process = subprocess.Popen(
            self._command, cwd=self._project, env={**self._variables, "PWD": str(self._project)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        return self

    def __exit__(self, *failure: object) -> None:
        _, complaints = self._process.communicate(timeout=PATIENCE)
        assert self._process.returncode == 0 or failure[0] is not None, complaints

    def turn(self, prompt: str) -> str:
        """Send a prompt, wait for the end of the turn, return what was said last."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        message = {"role": "user", "content": [{"type": "text", "text": prompt}]}
        self._process.stdin.write(json.dumps({"type": "user", "message": message}) + "\n")
        self._process.stdin.flush()
        watch = threading.Timer(PATIENCE, self._process.kill)
        watch.start()
        try:
            for line in self._process.stdout:
                event = json.loads(line)
                self.told.append(event)
                if event["type"] == "result":
                    return str(event.get("result"))
        finally:
            watch.cancel()
        raise AssertionError(f"Claude Code ended: {self._process.stderr and self._process.stderr.read()[-2_000:]}")

    def turns(self, prompts: Sequence[str]) -> None:
        """Send these, each after the other's turn."""
        for prompt in prompts:
            self.turn(prompt)
