"""Copilot CLI without a person and without a network."""

from __future__ import annotations

from pathlib import Path

from tests.end_to_end.model import Model
from tests.end_to_end.programs import COPILOT_PARTS
from tests.end_to_end.turn_process import TurnProcess

_ALONE = ("--allow-all-tools", "--disable-builtin-mcps", "--disable-client-telemetry", "--no-auto-update")


class CopilotCli(TurnProcess):
    """A person's Copilot CLI in one project."""

    name = "copilot"
    server = "palazzo-"
    """How the names of the server's tools begin."""
    own_variables = ("COPILOT_", "GITHUB_", "GH_")

    def __init__(self, program: tuple[str, ...], model: Model, project: Path, around: dict[str, str]) -> None:
        self.home = Path(around["HOME"]) / ".copilot"
        self.home.mkdir()
        (self.home / "mcp-config.json").write_text('{"mcpServers":{}}')
        variables = {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PKG_CACHE_HOME": str(COPILOT_PARTS),
            "COPILOT_PROVIDER_BASE_URL": f"{model.address}/v1",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "scripted",
        }
        super().__init__(program, project, around, variables)

    def options(self, is_continued: bool) -> list[str]:
        """Return the options of a turn."""
        return ["--continue" if is_continued else "--trust-folder", *_ALONE]

    @property
    def transcripts(self) -> list[Path]:
        """All sessions, as it keeps them."""
        return sorted(self.home.glob("session-state/*/events.jsonl"))
