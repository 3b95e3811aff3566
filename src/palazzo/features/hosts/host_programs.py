"""Running hosts' programs, and commands that hosts start, to read their output."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping

_PATIENCE = 15.0
"""Seconds to wait for one answer; the first start of a program takes two or three."""
SLOW = "does not finish"
"""What is said of a program that takes longer: the machine may be busy, and the settings may be right."""
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
    """Return a command's standard output as bytes, or a text that says how it failed."""
    program = shutil.which(command[0], path=variables.get("PATH", ""))
    if program is None:
        return f"starts {command[0]}, which was not found"
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
        return f"{SLOW} within {_PATIENCE:.0f} seconds"
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
