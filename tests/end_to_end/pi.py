"""pi without a person and without a network: a process that is spoken to in JSON lines, or one for each turn."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from tests.end_to_end.machine import NOWHERE
from tests.end_to_end.model import Model

PATIENCE = 90
"""Seconds that a turn may take before it counts as hung; the script answers at once."""
_MODEL = {
    "id": "scripted", "name": "Scripted", "contextWindow": 200_000, "maxTokens": 8_000, "input": ["text"],
    "reasoning": False,
}  # fmt: skip


class Pi:
    """A person's pi in one project. `program` is the command line that starts it."""

    def __init__(self, program: Sequence[str], model: Model, project: Path, around: dict[str, str]) -> None:
        self._program, self.project = program, project
        self.home = Path(around["HOME"]) / ".pi" / "agent"
        self.home.mkdir(parents=True, exist_ok=True)
        provider = {"baseUrl": f"{model.address}/v1", "api": "openai-completions", "apiKey": "none", "models": [_MODEL]}
        (self.home / "models.json").write_text(json.dumps({"providers": {"scripted": provider}}))
        compaction = {"enabled": True, "keepRecentTokens": 50, "reserveTokens": 1_000}
        (self.home / "settings.json").write_text(json.dumps({"compaction": compaction}))
        kept = {name: value for name, value in around.items() if not name.startswith("PI_")}
        self.variables = {
            **kept, **NOWHERE, "PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0", "NO_COLOR": "1",
            "PWD": str(project),
        }  # fmt: skip

    def run(self, *words: str) -> str:
        """Run it to its end; what it printed."""
        done = subprocess.run(
            [*self._program, "--model", "scripted/scripted", *words], cwd=self.project, env=self.variables,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (words, done.stdout[-2_000:], done.stderr[-2_000:])
        return done.stdout

    def turn(self, prompt: str, *how: str) -> str:
        """Send a prompt to a process of its own."""
        return self.run(*how, "-p", prompt)

    def talk(self, *how: str) -> Talk:
        """Start one that goes on for several turns."""
        words = [*self._program, "--mode", "rpc", "--model", "scripted/scripted", *how]
        return Talk(words, self.project, self.variables)

    @property
    def transcripts(self) -> list[Path]:
        """All sessions, as it keeps them."""
        return sorted((self.home / "sessions").rglob("*.jsonl"))


class Talk:
    """A process of pi in RPC mode, as a context manager. What it says is kept."""

    def __init__(self, words: Sequence[str], project: Path, variables: dict[str, str]) -> None:
        self.said: list[dict[str, Any]] = []
        self.complaints = ""
        self._arrived: queue.Queue[dict[str, Any]] = queue.Queue()
        self._count = 0
        self.process = subprocess.Popen(
            words, cwd=project, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, encoding="utf-8",
        )  # fmt: skip
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._input: IO[str] = self.process.stdin
        self._readers = [
            threading.Thread(target=self._read, args=(self.process.stdout,)),
            threading.Thread(target=self._keep, args=(self.process.stderr,)),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *failure: object) -> None:
        self._input.close()
        try:
            assert self.process.wait(PATIENCE) == 0, self.complaints
        finally:
            self.process.kill()
            for reader in self._readers:
                reader.join()
            for pipe in (self.process.stdout, self.process.stderr):
                if pipe is not None:
                    pipe.close()

    def send(self, command: dict[str, Any]) -> dict[str, Any]:
        """Send a command; what it is answered."""
        self._count += 1
        number = f"r{self._count}"
        self._input.write(json.dumps({**command, "id": number}) + "\n")
        self._input.flush()
        return self._until(lambda one: one.get("type") == "response" and one.get("id") == number)

    def turn(self, prompt: str) -> None:
        """Send a prompt, and wait until all that comes of it is done."""
        answer = self.send({"type": "prompt", "message": prompt})
        assert answer["success"], answer
        self.settle()

    def settle(self) -> None:
        """Wait until nothing goes on any more, twice over: what an extension sends comes a moment later."""
        deadline, calm = time.monotonic() + PATIENCE, 0
        while calm < 2:
            assert time.monotonic() < deadline
            time.sleep(0.1)
            state = self.send({"type": "get_state"})["data"]
            going = state.get("isStreaming") or state.get("isCompacting") or state.get("pendingMessageCount")
            calm = 0 if going else calm + 1

    @property
    def told(self) -> list[str]:
        """What the person was told."""
        return [str(one["message"]) for one in self.said if one.get("method") == "notify"]

    def _until(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while True:
            one = self._arrived.get(timeout=max(0.01, deadline - time.monotonic()))
            assert one, ("pi has ended", self.complaints)
            if is_it(one):
                return one

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            one = json.loads(line)
            self.said.append(one)
            self._arrived.put(one)
        self._arrived.put({})

    def _keep(self, stream: IO[str]) -> None:
        for line in stream:
            self.complaints += line
