"""Cline's program without a person, an account or a network: with a model of the person's own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.end_to_end.model import Model
from tests.end_to_end.turn_process import PATIENCE, TurnProcess

_PROVIDER = "openai-compatible"


class Cline(TurnProcess):
    """A person's Cline in one project. Its first turn starts a process for all, which `close` ends."""

    name = "cline"
    server = "palazzo__"
    """How the names of the server's tools begin."""
    own_variables = ("CLINE_", "OPENAI_")
    prompt_option = ()

    def __init__(self, program: tuple[str, ...], model: Model, project: Path, around: dict[str, str]) -> None:
        self.home = Path(around["HOME"]) / ".cline"
        self.documents = Path(around["HOME"]) / "Documents" / "Cline"
        self.settings = self.home / "data" / "settings"
        self.settings.mkdir(parents=True)
        own = {"provider": _PROVIDER, "apiKey": "none", "model": "scripted", "baseUrl": f"{model.address}/v1"}
        entry = {"settings": own, "updatedAt": "2026-11-27T00:00:00.000Z", "tokenSource": "manual"}
        providers = {"version": 1, "lastUsedProvider": _PROVIDER, "modes": {}, "providers": {_PROVIDER: entry}}
        (self.settings / "providers.json").write_text(json.dumps(providers, indent=2))
        other = {"mcpServers": {"other": {"command": "other", "disabled": True}}}
        (self.settings / "cline_mcp_settings.json").write_text(json.dumps(other, indent=2) + "\n")
        super().__init__(program, project, around, {})

    def options(self, is_continued: bool) -> list[str]:
        """Return the options of a turn. Each is a session of its own: only a terminal can continue one."""
        assert not is_continued
        return ["--auto-approve", "true"]

    @property
    def transcripts(self) -> list[Path]:
        """All sessions, as it keeps them."""
        return sorted(self.home.glob("data/sessions/*/*.messages.json"))

    def close(self) -> None:
        """End the process that all its sessions share."""
        command = [*self._program, "hub", "stop"]
        subprocess.run(
            command, cwd=self._project, env=self._variables, capture_output=True, timeout=PATIENCE, check=False
        )
