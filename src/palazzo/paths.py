"""Palazzo's directories on each platform. Standard library only, because the service's client reads this too.

Owns the directories (data, configuration, state, cache, runtime) and nothing else. Every variable that moves them is
named here. Some directories are also available as text (`…_place`), because a client that starts for every call of a
host has no time to import pathlib.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

APPLICATION = "palazzo"
_RUNTIME_PLACES = "/run/user"
"""The directory in which systemd and elogind create a directory for each logged-in user, by number."""


DELETED_DIRECTORY = os.path.join(os.sep, "(deleted)")
"""Stands for the working directory of a process if that was deleted: no project contains it, and it holds no file."""

NO_DIRECTORY = (
    "The current directory was deleted, so the path '{path}' leads nowhere. Change to another directory, or give an "
    "absolute path."
)


def working_directory() -> str:
    """Return the process's working directory, or DELETED_DIRECTORY."""
    try:
        return os.getcwd()
    except OSError:
        return DELETED_DIRECTORY


def can_be_entered(directory: str | Path) -> bool:
    """Return whether the system lets this user look into a directory; there is no obstacle if it does not exist."""
    try:
        os.stat(os.path.join(directory, os.curdir))
    except PermissionError:
        return False
    except OSError:
        return True
    return True


def home_place(environment: Mapping[str, str]) -> str:
    """Return the user's home directory."""
    return environment.get("HOME") or os.path.expanduser("~")


def data_place(environment: Mapping[str, str] = os.environ) -> str:
    """Return the path of `data_directory`."""
    home = home_place(environment)
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", APPLICATION)
    if sys.platform == "win32":
        return os.path.join(environment.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local"), APPLICATION)
    return os.path.join(environment.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share"), APPLICATION)


def import_root() -> str:
    """Return the directory that contains this package, as an import path."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def has_packages(directory: str) -> bool:
    """Return whether this interpreter, also in another process, finds packages in a directory by default.

    A path below the interpreter's own prefix proves nothing: `--prefix /usr/local`, an environment within another.
    """
    bin_or_prefix = os.path.dirname(os.path.abspath(sys.executable))
    prefix = os.path.dirname(bin_or_prefix)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    if sys.platform == "win32":
        places = [os.path.join(base, "Lib", "site-packages") for base in (prefix, bin_or_prefix)]
    else:
        places = [os.path.join(prefix, lib, version, "site-packages") for lib in ("lib", "lib64")]
        places += [os.path.join(prefix, "lib", "python3", "dist-packages")]  # Debian's
        places += [os.path.join(prefix, "local", "lib", version, "dist-packages")]
    return os.path.realpath(directory) in [os.path.realpath(place) for place in places]


def find_packages() -> None:
    """Make this package and its dependencies importable in an interpreter that was started without them (`-S`)."""
    prefix = os.path.dirname(os.path.dirname(sys.executable))
    own = ("Lib",) if sys.platform == "win32" else ("lib", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    for place in (import_root(), os.path.join(prefix, *own, "site-packages")):
        if place not in sys.path and os.path.isdir(place):
            sys.path.append(place)


def config_place(environment: Mapping[str, str] = os.environ) -> str:
    """Return the path of `config_directory`."""
    home = home_place(environment)
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", APPLICATION)
    if sys.platform == "win32":
        return os.path.join(environment.get("APPDATA") or os.path.join(home, "AppData", "Roaming"), APPLICATION)
    return os.path.join(environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), APPLICATION)


def state_place(environment: Mapping[str, str] = os.environ) -> str:
    """Return the path of `state_directory`."""
    home = home_place(environment)
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Logs", APPLICATION)
    if sys.platform == "win32":
        return os.path.join(data_place(environment), "logs")
    return os.path.join(environment.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state"), APPLICATION)


def cache_place(environment: Mapping[str, str] = os.environ) -> str:
    """Return the path of `cache_directory`."""
    home = home_place(environment)
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", APPLICATION)
    if sys.platform == "win32":
        return os.path.join(data_place(environment), "cache")
    return os.path.join(environment.get("XDG_CACHE_HOME") or os.path.join(home, ".cache"), APPLICATION)


def runtime_place() -> str:
    """Return the directory that systemd creates for the logged-in user; empty if there is none."""
    if sys.platform == "win32":
        return ""
    usual = os.path.join(_RUNTIME_PLACES, str(os.getuid()))
    try:
        return usual if os.stat(usual).st_uid == os.getuid() else ""
    except OSError:
        return ""


def data_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of the default palace (XDG on Linux, Library on macOS, AppData on Windows)."""
    return _path(data_place(environment))


def config_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of the user's `config.toml`."""
    return _path(config_place(environment))


def state_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of logs and bug reports."""
    return _path(state_place(environment))


def cache_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of reproducible data: deleting it only costs time."""
    return _path(cache_place(environment))


def make_private_directory(path: Path) -> None:
    """Create `path` and its parents; only the owner can enter created directories (0700)."""
    missing = []
    probe = path
    while not probe.exists():
        missing.append(probe)
        probe = probe.parent
    for directory in reversed(missing):
        directory.mkdir(mode=0o700, exist_ok=True)


def _path(path: str | Path) -> Path:
    from pathlib import Path

    return Path(path)
