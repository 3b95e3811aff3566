"""Gemini CLI without a person and without a network."""

from __future__ import annotations

import json
from pathlib import Path

from tests.end_to_end.model import Model
from tests.end_to_end.turn_process import TurnProcess

SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}


class GeminiCli(TurnProcess):
    """A person's Gemini CLI in one project."""

    name = "gemini-cli"
    server = "palazzo_"
    """How the names of the server's tools begin, after the host's own prefix."""
    own_variables = ("GEMINI_", "GOOGLE_")

    def __init__(self, program: tuple[str, ...], model: Model, project: Path, around: dict[str, str]) -> None:
        self.home = Path(around["HOME"]) / ".gemini"
        self.home.mkdir()
        (self.home / "settings.json").write_text("// mine\n" + json.dumps(SETTINGS, indent=2) + "\n")
        variables = {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": model.address,
            "GEMINI_CLI_NO_RELAUNCH": "1",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        super().__init__(program, project, around, variables)

    def options(self, is_continued: bool) -> list[str]:
        """Return the options of a turn."""
        resumed = ["--resume", "latest"] if is_continued else []
        return [*resumed, "-m", "gemini-2.5-pro", "--approval-mode", "yolo", "--output-format", "stream-json"]

    @property
    def transcripts(self) -> list[Path]:
        """All sessions, as it keeps them."""
        return sorted(self.home.glob("tmp/*/chats/session-*.json*"))
