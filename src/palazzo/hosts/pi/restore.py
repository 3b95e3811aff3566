"""Where pi looks for a session: `sessions/<folder of the directory>/<time>_<session>.jsonl`."""

from __future__ import annotations

import re
from pathlib import PurePath

from palazzo.hosts.session_layout import SessionOrigin

_SEPARATOR = re.compile(r"[/:\\]")


def place(directory: str, file: SessionOrigin) -> PurePath | None:
    """Return the path of a file below a directory of that name; None if it keeps its name there."""
    return PurePath(_project(file), _name(file)) if directory == "sessions" else None


def project_folder(cwd: str) -> str:
    """Return the name that pi gives to the folder of a working directory."""
    return "--" + _SEPARATOR.sub("-", cwd.lstrip("/")) + "--"


def _project(file: SessionOrigin) -> str:
    folder = file.path.parent.name
    return folder if folder.startswith("--") and folder.endswith("--") else project_folder(file.cwd)


def _name(file: SessionOrigin) -> str:
    is_pi_name = file.path.name.endswith(f"_{file.session}.jsonl")
    return file.path.name if is_pi_name else f"{file.stamp}-000Z_{file.session}.jsonl"
