"""The files of opencode, and of a program that is built on it: Palazzo's plugin, settings, instructions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from palazzo.hosts import host_files
from palazzo.hosts.host_files import HostFiles
from palazzo.hosts.opencode import opencode_settings


def files_of(variables: Mapping[str, str], project: Path | None = None) -> HostFiles:
    """Return opencode's files, with the plugin for its hooks; those of the project if one is given."""
    return files_named("opencode", variables, project)


def files_named(name: str, variables: Mapping[str, str], project: Path | None) -> HostFiles:
    """Return the same of the program whose directories and settings have this name."""
    home = Path(variables.get("HOME") or Path.home())
    own = Path(variables.get("XDG_CONFIG_HOME") or home / ".config") / name
    directory = project / f".{name}" if project is not None else own
    settings = project if project is not None else own
    return HostFiles(own, directory / "plugin" / "palazzo.ts", _settings_in(settings, name), settings / "AGENTS.md")


def _settings_in(directory: Path, name: str) -> Path:
    """Return the settings file that has our server; else the existing one that the program reads last."""
    usual, jsonc_file = directory / f"{name}.json", directory / f"{name}.jsonc"
    for path in (jsonc_file, usual):
        try:
            if any(
                opencode_settings.is_our_server(*entry) for entry in opencode_settings.entries(host_files.text_of(path))
            ):
                return path
        except ValueError:
            continue  # whoever is to change it says why it cannot be
    return jsonc_file if jsonc_file.exists() else usual
