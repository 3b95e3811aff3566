"""Sources that the user declares as trusted: the setting `trust.own`. Pure.

Its entries are names of tools or MCP servers (`mcp__mytracker`), of programs (`kubectl`), of hosts
(`wiki.acme.example`), of git remotes (`origin`) and paths (`~/work/shared-docs`), and of memories under whose names
Palazzo serves (`mempalace`, `shodh`), however a host changes the names of their tools.
"""

from __future__ import annotations

from collections.abc import Iterable

from palazzo.security.memory_tools import memory_of
from palazzo.security.project_paths import Project


class OwnSources(frozenset[str]):
    """The entries of the setting for own sources."""

    def __new__(cls, entries: Iterable[str] = ()) -> OwnSources:
        return super().__new__(cls, (entry.strip() for entry in entries if entry.strip()))

    def has_tool(self, name: str) -> bool:
        """Whether a tool, its MCP server, or the memory that it queries is listed."""
        return bool(self) and (
            memory_of(name) in self
            or any(
                name == entry or (entry.startswith("mcp") and name.startswith((f"{entry}__", f"{entry}_", f"{entry}.")))
                for entry in self
            )
        )

    def has_host(self, host: str) -> bool:
        """Whether a host is listed."""
        return (
            bool(self)
            and bool(host)
            and host.lower().rstrip(".") in {entry.lower() for entry in self if "/" not in entry}
        )

    def has_path(self, plain: str, project: Project) -> bool:
        """Whether a path in plain form, or a directory above it, is listed."""
        if not plain:
            return False
        for entry in self:
            if "/" in entry and "://" not in entry:
                place = project.resolve(entry, project.root)
                if place and (plain == place or plain.startswith(f"{place.rstrip('/')}/")):
                    return True
        return False
