"""aider without a person and without a network: a process for each prompt."""

from __future__ import annotations

from pathlib import Path

from tests.end_to_end.model import Model
from tests.end_to_end.turn_process import TurnProcess

_ALONE = ("--no-check-update", "--analytics-disable", "--no-show-release-notes", "--no-show-model-warnings")


class Aider(TurnProcess):
    """A person's aider in one project. It has no MCP servers; the person has a list of files that it always reads."""

    name = "aider"
    own_variables = ("AIDER_", "OPENAI_")
    prompt_option = ("--message",)

    def __init__(self, program: tuple[str, ...], model: Model, project: Path, around: dict[str, str]) -> None:
        self.home = Path(around["HOME"]) / ".aider"
        self.home.mkdir()
        self.settings = Path(around["HOME"]) / ".aider.conf.yml"
        self.settings.write_text("# mine\nmodel: openai/scripted\nread: NOTES.md\n")
        (project / "NOTES.md").write_text("The harbour master is called Ines.\n")
        self._history = project / ".aider.chat.history.md"
        variables = {"OPENAI_API_BASE": f"{model.address}/v1", "OPENAI_API_KEY": "none"}
        super().__init__(program, project, around, variables)

    def options(self, is_continued: bool) -> list[str]:
        """Return the options of a turn."""
        return [*(["--restore-chat-history"] if is_continued else []), "--yes-always", *_ALONE]

    @property
    def transcripts(self) -> list[Path]:
        """The project's history, which has all sessions."""
        return [self._history]

    @property
    def session_count(self) -> int:
        """How often it was started."""
        return self._history.read_text().count("# aider chat started at")
