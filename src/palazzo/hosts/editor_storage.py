"""Where editors that are built on VS Code keep the files of an extension: its "global storage". Data only.

The directories are those of VS Code and its servers for remote work, of their previews, and of VSCodium, Cursor and
Windsurf, which keep VS Code's layout below a name of their own.
"""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Location

_EDITORS = ("Code*", "VSCodium*", "Cursor", "Windsurf*")
"""Names of editors' directories: `Code*` is VS Code, "Code - Insiders" and "Code - OSS"."""


def extension_storage(extension: str, entry: str) -> tuple[Location, ...]:
    """Return the locations of a file or directory in the global storage of an extension, in every editor."""
    path = f"User/globalStorage/{extension}/{entry}"
    in_editors = tuple(f"{editor}/{path}" for editor in _EDITORS)
    return (
        Location("XDG_CONFIG_HOME", ".config", in_editors),
        Location("", "Library/Application Support", in_editors),
        Location("", "AppData/Roaming", in_editors),
        Location("", ".", (f".*-server*/data/{path}",)),
    )
