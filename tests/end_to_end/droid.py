"""Factory's Droid without a person, an account or a network: with a model of the person's own."""

from __future__ import annotations

import json
from pathlib import Path

from tests.end_to_end.model import Model
from tests.end_to_end.turn_process import TurnProcess


class Droid(TurnProcess):
    """A person's Droid in one project."""

    name = "droid"
    server = "palazzo___"
    """How the names of the server's tools begin. They are not in a request: the model is to look for them."""
    own_variables = ("FACTORY_", "DROID_")
    prompt_option = ()

    def __init__(self, program: tuple[str, ...], model: Model, project: Path, around: dict[str, str]) -> None:
        self.home = Path(around["HOME"]) / ".factory"
        self.home.mkdir()
        own_model = {
            "model": "scripted", "displayName": "Scripted", "baseUrl": f"{model.address}/v1", "apiKey": "none",
            "provider": "generic-chat-completion-api", "maxOutputTokens": 1_000,
        }  # fmt: skip
        settings = {"customModels": [own_model], "cloudSessionSync": False}
        (self.home / "settings.json").write_text(json.dumps(settings, indent=2) + "\n")
        super().__init__(program, project, around, {"FACTORY_TELEMETRY_DISABLED": "1"})

    def options(self, is_continued: bool) -> list[str]:
        """Return the options of a turn. Each is a session of its own."""
        assert not is_continued
        return ["--model", "custom:scripted", "--auto", "high"]

    @property
    def transcripts(self) -> list[Path]:
        """All sessions, as it keeps them."""
        return sorted(self.home.glob("sessions/*/*.jsonl"))
