"""Where the hosts keep their histories on this machine, and for how long: the `histories` of their descriptions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from palazzo.frozen_class import frozen
from palazzo.hosts.host_descriptor import Host, Location
from palazzo.hosts.host_registry import find_part, hosts


@frozen
class History:
    """An existing directory or file with the sessions of one host.

    `deletes_after_days` is None if nothing is deleted.
    """

    host: str
    path: Path
    deletes_after_days: int | None = None


def histories(
    variables: Mapping[str, str], only: Sequence[str] = (), project: Path | None = None
) -> tuple[History, ...]:
    """Return the existing histories, of the hosts named in `only` or of all, each place once.

    `project` is the working directory: one host keeps its history there.
    """
    history_by_path: dict[Path, History] = {}
    wanted_hosts = [host for host in hosts() if not only or host.name in only]
    for host in wanted_hosts:
        for location in host.histories:
            for path in _present(location, variables):
                history_by_path.setdefault(path, History(host.name, path, deletes_after(host, path)))
        for path in _listed(host, variables):
            history_by_path.setdefault(path, History(host.name, path))
    for host in wanted_hosts if project is not None else ():
        if project is not None and host.project_history is not None:
            path = Path(variables.get(host.project_history.variable) or project / host.project_history.default)
            if _exists(path):
                history_by_path.setdefault(path.resolve(), History(host.name, path.resolve()))
    return tuple(history_by_path.values())


def is_history_name(host: Host, name: str) -> bool:
    """Return whether a host keeps its sessions in a directory of that name."""
    return any(name == Path(entry).name for location in host.histories for entry in location.entries)


def deletes_after(host: Host, path: Path) -> int | None:
    """Return after how many days the host deletes a session that was not continued; None if it deletes none."""
    if not host.retention_setting:
        return None
    paths = find_part(host.name, "paths")
    days: int | None = None if paths is None else paths.delete_after_days(path)
    return days


def _listed(host: Host, variables: Mapping[str, str]) -> Iterator[Path]:
    """Yield the existing histories that the host lists in a file."""
    indexes = [index for location in host.history_indexes for index in _present(location, variables)]
    paths = find_part(host.name, "paths") if indexes else None
    if paths is not None:
        for index in indexes:
            yield from (path.resolve() for path in paths.listed_histories(index) if _exists(path))


def _present(location: Location, variables: Mapping[str, str]) -> Iterator[Path]:
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


def display(path: Path, variables: Mapping[str, str]) -> str:
    """Return the path as a person would write it, with `~` for the home directory."""
    home = variables.get("HOME") or variables.get("USERPROFILE") or str(Path.home())
    text = str(path)
    return f"~{text[len(home) :]}" if text.startswith(home + os.sep) else text
