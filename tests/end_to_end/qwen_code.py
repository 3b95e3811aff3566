"""Qwen Code without a person and without a network."""

from __future__ import annotations

import json
from pathlib import Path

from tests.end_to_end.model import Model
from tests.end_to_end.turn_process import TurnProcess

SETTINGS = {
    "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "$version": 4,
}
"""With the version of their form, which the host would add itself at its first start."""


class QwenCode(TurnProcess):
    """A person's Qwen Code in one project."""

    name = "qwen-code"
    server = "mcp__palazzo__"
    """How the names of the server's tools begin. They are not in a request: the model is to look for them."""
    own_variables = ("QWEN_", "OPENAI_")

    def __init__(self, program: tuple[str, ...], model: Model, project: Path, around: dict[str, str]) -> None:
        self.home = Path(around["HOME"]) / ".qwen"
        self.home.mkdir()
        (self.home / "settings.json").write_text("// mine\n" + json.dumps(SETTINGS, indent=2) + "\n")
        variables = {
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": f"{model.address}/v1",
            "OPENAI_MODEL": "scripted",
            "QWEN_CODE_NO_RELAUNCH": "true",
        }
        super().__init__(program, project, around, variables)

    def options(self, is_continued: bool) -> list[str]:
        """Return the options of a turn."""
        return [*(["--continue"] if is_continued else []), "--approval-mode", "yolo", "--output-format", "stream-json"]

    @property
    def transcripts(self) -> list[Path]:
        """All sessions, as it keeps them."""
        return sorted(self.home.glob("projects/*/chats/*.jsonl"))
