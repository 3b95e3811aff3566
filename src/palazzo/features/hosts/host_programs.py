"""Starting programs of hosts, and commands that hosts start, to read what they answer."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping

_PATIENCE = 15.0
"""Seconds for one answer; a program that is started for the first time takes two or three."""
_DIRECTORY_VARIABLES = (
    "HOME",
    "USERPROFILE",
    "CODEX_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
)
_LONGEST_VERSION = 60


def run(command: list[str], standard_input: str, variables: Mapping[str, str], cwd: str | None) -> bytes | str:
    """Return what a command writes to standard output, as bytes; or, as a text, how it failed."""
    program = shutil.which(command[0], path=variables.get("PATH", ""))
    if program is None:
        return f"starts {command[0]}, which is not there"
    try:
        process = subprocess.run(  # noqa: S603 - the command that stands in the host's settings
            [program, *command[1:]],
            input=standard_input.encode(),
            capture_output=True,
            env=dict(variables),
            cwd=cwd,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return f"does not end within {_PATIENCE:.0f} seconds"
    except OSError as error:
        return f"cannot be started ({error.strerror})"
    if process.returncode:
        last_line = process.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return f"ends with {process.returncode}: {''.join(last_line) or 'it says nothing'}"
    return process.stdout


def read_version(program: str | None, variables: Mapping[str, str]) -> str:
    """Return the version that a host's program prints; empty if it prints none."""
    if program is None:
        return ""
    with tempfile.TemporaryDirectory() as home:  # opencode creates its directories whenever it starts
        variables = {**variables, **dict.fromkeys(_DIRECTORY_VARIABLES, home)}
        answer = run([program, "--version"], "", variables, home)
    lines = answer.decode(errors="replace").split("\n") if isinstance(answer, bytes) else [""]
    return lines[0].strip()[:_LONGEST_VERSION]
