"""Continue's program `cn` without a person, an account or a network."""

from __future__ import annotations

from pathlib import Path

from tests.end_to_end.model import Model
from tests.end_to_end.turn_process import TurnProcess

SETTINGS = """\
# mine
name: Mine
version: 1.0.0
schema: v1
models:
  - name: Scripted
    provider: openai
    model: scripted
    apiBase: {address}/v1
    apiKey: none
    useResponsesApi: false
    capabilities: [tool_use]
    roles: [chat]
"""


class ContinueDev(TurnProcess):
    """A person's Continue in one project."""

    name = "continue"
    server = ""
    """How the names of the server's tools begin: it offers them under their own."""
    own_variables = ("CONTINUE_", "OPENAI_")

    def __init__(self, program: tuple[str, ...], model: Model, project: Path, around: dict[str, str]) -> None:
        self.home = Path(around["HOME"]) / ".continue"
        self.home.mkdir()
        (self.home / "config.yaml").write_text(SETTINGS.format(address=model.address))
        super().__init__(program, project, around, {"CONTINUE_TELEMETRY_ENABLED": "0"})

    def options(self, is_continued: bool) -> list[str]:
        """Return the options of a turn."""
        return [*(["--resume"] if is_continued else []), "--auto"]

    @property
    def transcripts(self) -> list[Path]:
        """All sessions, as it keeps them, without their index."""
        return sorted(self.home.glob("sessions/*-*.json"))
