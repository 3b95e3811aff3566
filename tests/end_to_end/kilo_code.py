"""Kilo Code without a person, an account or a network: it is built on opencode, and has that program's settings."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.end_to_end import opencode
from tests.end_to_end.model import Model
from tests.end_to_end.turn_process import TurnProcess

from palazzo.faces.mcp.profiles import own_profile

SCHEMA = "https://app.kilo.ai/config.json"
"""It would add that itself at its first start, and the permission for `bash`."""


class KiloCode(TurnProcess):
    """A person's Kilo Code in one project."""

    name = "kilo-code"
    server = "palazzo_"
    """How the names of the server's tools begin."""
    own_variables = ("KILO_",)
    prompt_option = ()
    instructions = own_profile.PROFILE.instructions.strip()
    """Its files of instructions are left alone: those of the MCP server reach the model."""

    def __init__(self, program: tuple[str, ...], model: Model, project: Path, around: dict[str, str]) -> None:
        home = Path(around["HOME"])
        self.home = Path(around.get("XDG_CONFIG_HOME") or home / ".config") / "kilo"
        self.home.mkdir(parents=True)
        settings = {**opencode.settings(model), "$schema": SCHEMA, "permission": {"*": "allow", "bash": "allow"}}
        (self.home / "kilo.jsonc").write_text("// mine\n" + json.dumps(settings, indent=2) + "\n")
        self.database = Path(around.get("XDG_DATA_HOME") or home / ".local" / "share") / "kilo" / "kilo.db"
        never = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE", "CODEBASE_INDEXING", "SESSION_INGEST")
        variables = {
            **{f"KILO_DISABLE_{name}": "1" for name in never},
            "KILO_TELEMETRY_LEVEL": "off",
            "npm_config_fetch_retries": "0",
        }
        super().__init__(program, project, around, variables)

    def options(self, is_continued: bool) -> list[str]:
        """Return the options of a turn. It has a title, so that the model is not asked for one."""
        return ["--auto", "--title", "A talk", *(["--continue"] if is_continued else [])]

    @property
    def transcripts(self) -> list[Path]:
        """The database that has all sessions."""
        return [self.database]

    @property
    def session_count(self) -> int:
        """How many sessions are in the database."""
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as database:
            (count,) = database.execute("SELECT count(*) FROM session").fetchone()
        return int(count)
