"""Where each host keeps its history on this machine, and for how long.

A row of `_LOCATIONS` describes one directory: the variable that moves it, its default location, and its content. The
rows come from the hosts themselves (Claude Code 2.1, Codex, opencode 1.18, pi 0.87, Gemini CLI and Copilot CLI as they
were run for `tests/fixtures`) and from the source code of Continue and opencode.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_CLAUDE_CODE_DAYS = 30
"""Claude Code's default for `cleanupPeriodDays`."""


@dataclass(frozen=True, slots=True)
class History:
    """An existing directory or file with the sessions of one host.

    `deletes_after_days` is None if nothing is deleted.
    """

    host: str
    path: Path
    deletes_after_days: int | None = None


@dataclass(frozen=True, slots=True)
class _HistoryLocation:
    """Names of `entries`, which may be patterns, below `$variable` or below `default` in the home directory."""

    host: str
    variable: str
    default: str
    entries: tuple[str, ...] = (".",)


_LOCATIONS = (
    _HistoryLocation("claude-code", "CLAUDE_CONFIG_DIR", ".claude", ("projects",)),
    _HistoryLocation("claude-code", "", ".config/claude", ("projects",)),
    _HistoryLocation("codex", "CODEX_HOME", ".codex", ("sessions", "archived_sessions")),
    _HistoryLocation("opencode", "OPENCODE_DB", ""),
    _HistoryLocation("opencode", "XDG_DATA_HOME", ".local/share", ("opencode/opencode*.db", "opencode/storage")),
    _HistoryLocation("pi", "PI_CODING_AGENT_SESSION_DIR", ""),
    _HistoryLocation("pi", "PI_CODING_AGENT_DIR", ".pi/agent", ("sessions",)),
    _HistoryLocation("gemini-cli", "GEMINI_CLI_HOME", "", (".gemini/tmp",)),
    _HistoryLocation("gemini-cli", "", ".gemini", ("tmp",)),
    _HistoryLocation("copilot", "COPILOT_HOME", ".copilot", ("session-state",)),
    _HistoryLocation("continue", "CONTINUE_GLOBAL_DIR", ".continue", ("sessions",)),
)

_AIDER = ".aider.chat.history.md"
"""Aider writes into the directory in which it is started, so its history is found only in that directory."""

HOSTS = (*dict.fromkeys(location.host for location in _LOCATIONS), "aider")
"""All hosts whose history can be found without a given location."""


def histories(
    variables: Mapping[str, str], hosts: Sequence[str] = (), project: Path | None = None
) -> tuple[History, ...]:
    """Return the existing histories, of the named hosts or of all, each place once.

    `project` is the working directory: one host keeps its history there.
    """
    history_by_path: dict[Path, History] = {}
    for location in _LOCATIONS:
        if hosts and location.host not in hosts:
            continue
        for path in _present(location, variables):
            history_by_path.setdefault(path, History(location.host, path, deletes_after(location.host, path)))
    if project is not None and (not hosts or "aider" in hosts):
        path = Path(variables.get("AIDER_CHAT_HISTORY_FILE") or project / _AIDER)
        if _exists(path):
            history_by_path.setdefault(path.resolve(), History("aider", path.resolve()))
    return tuple(history_by_path.values())


def _present(location: _HistoryLocation, variables: Mapping[str, str]) -> Iterator[Path]:
    home = Path(variables.get("HOME") or variables.get("USERPROFILE") or Path.home())
    override = variables.get(location.variable, "") if location.variable else ""
    if not override and not location.default:
        return
    base = (
        Path(override.replace("~", str(home), 1) if override.startswith("~") else override)
        if override
        else home / location.default
    )
    for entry in location.entries:
        for path in sorted(base.glob(entry)) if "*" in entry else [base / entry]:
            if _exists(path):
                yield path.resolve()


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a directory that may not be looked into holds no history of this person's
        return False


def deletes_after(host: str, path: Path) -> int | None:
    """Return after how many days the host deletes a session that was not continued."""
    if host != "claude-code":
        return None
    try:
        settings = json.loads((path.parent / "settings.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return _CLAUDE_CODE_DAYS
    days = settings.get("cleanupPeriodDays") if isinstance(settings, dict) else None
    return days if isinstance(days, int) and not isinstance(days, bool) and days >= 0 else _CLAUDE_CODE_DAYS


def display(path: Path, variables: Mapping[str, str]) -> str:
    """Return the path as a person would write it, with `~` for the home directory."""
    home = variables.get("HOME") or variables.get("USERPROFILE") or str(Path.home())
    text = str(path)
    return f"~{text[len(home) :]}" if text.startswith(home + os.sep) else text
