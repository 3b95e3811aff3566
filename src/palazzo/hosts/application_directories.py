"""Where desktop programs keep their files on each system, as Electron's `app.getPath('appData')` says."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Location


def in_application_directories(*entries: str) -> tuple[Location, ...]:
    """Return the locations of these entries on Linux, macOS and Windows."""
    return (
        Location("XDG_CONFIG_HOME", ".config", entries),
        Location("", "Library/Application Support", entries),
        Location("", "AppData/Roaming", entries),
    )
