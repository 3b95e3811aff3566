"""Where Palazzo keeps things on each platform. Standard library only: the hook client reads this too.

Owns the four directories (data, configuration, state, cache) and nothing else. Every variable that moves them
is named here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

APPLICATION = "palazzo"


def data_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of the default palace (XDG on Linux, Library on macOS, AppData on Windows)."""
    home = _home(environment)
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / APPLICATION
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / APPLICATION
    return Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / APPLICATION


def config_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of the user's `config.toml`."""
    home = _home(environment)
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / APPLICATION
    if sys.platform == "win32":
        return Path(environment.get("APPDATA") or home / "AppData" / "Roaming") / APPLICATION
    return Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / APPLICATION


def state_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of logs and bug reports."""
    home = _home(environment)
    if sys.platform == "darwin":
        return home / "Library" / "Logs" / APPLICATION
    if sys.platform == "win32":
        return data_directory(environment) / "logs"
    return Path(environment.get("XDG_STATE_HOME") or home / ".local" / "state") / APPLICATION


def cache_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of what can be made again: deleting it costs time alone."""
    home = _home(environment)
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / APPLICATION
    if sys.platform == "win32":
        return data_directory(environment) / "cache"
    return Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / APPLICATION


def default_palace(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the palace file that is used when nobody names another."""
    return data_directory(environment) / "palace.db"


def make_private_directory(path: Path) -> None:
    """Create `path` and its parents; what is created can be entered by its owner alone (0700)."""
    missing = []
    probe = path
    while not probe.exists():
        missing.append(probe)
        probe = probe.parent
    for directory in reversed(missing):
        directory.mkdir(mode=0o700, exist_ok=True)


def _home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or Path.home())
