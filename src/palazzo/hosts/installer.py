"""How Palazzo is wired into a host, and how its entries are found again: the `INSTALLER` of a folder's `install`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from palazzo.frozen_class import frozen
from palazzo.hosts.edited_files import Edit
from palazzo.hosts.entry_matcher import Ours
from palazzo.hosts.hook_wiring import HostHooks
from palazzo.hosts.host_files import HostFiles
from palazzo.hosts.host_settings import Handler
from palazzo.hosts.install_plan import InstallOptions, InstallPlace, Plan


@frozen
class Finding:
    """Something wrong with an installation that only this host can have.

    `scope` is where installing again mends it (`user`, `project`). It is empty if `mend` says what to do, or if the
    installation of Palazzo itself is broken.
    """

    kind: Literal["incomplete", "silent", "off"]
    detail: str
    scope: str = ""
    mend: str = ""


def _one_file(files: HostFiles) -> Sequence[Path]:
    return (files.hooks,)


Findings = Callable[[Mapping[str, str], HostFiles, HostFiles], Iterator[Finding]]
"""Returns what is wrong, for the environment, a person's own files and a project's."""


def no_findings(variables: Mapping[str, str], own: HostFiles, project: HostFiles) -> Iterator[Finding]:
    """Return nothing, for hosts whose installation can have no fault of their own."""
    return iter(())


@frozen
class Installer:
    """The functions that wire one host; `plan` and `removal` only return edits.

    `files_of` returns a person's files, or a project's. `our_hooks` and `servers` read the text of a file of hooks and
    of servers. `handlers` returns all command lines of the file of hooks, if other programs have some there.
    `hook_files` returns the files of hooks, if a host has one for each event.
    `runs_twice` says that hooks in two files both run; `starts_server` that the wired hooks also start the MCP server,
    so that an entry among the servers is the person's own. `has_plugin` returns whether the host has Palazzo as a
    plugin, `has_instructions` whether a host that has neither hooks nor MCP servers is told of the file of
    instructions. `is_trusted` returns whether the host runs our hooks, None if it needs no trust.
    """

    wiring: HostHooks
    files_of: Callable[[Mapping[str, str], Path | None], HostFiles]
    plan: Callable[[InstallPlace, InstallOptions], Plan]
    removal: Callable[[InstallPlace, bool, bool], list[Edit]]
    our_hooks: Callable[[str], Sequence[tuple[Handler, Ours]]]
    servers: Callable[[str], Sequence[tuple[str, Any]]]
    handlers: Callable[[str], Sequence[Any]] = lambda text: ()
    hook_files: Callable[[HostFiles], Sequence[Path]] = _one_file
    has_plugin: Callable[[HostFiles, HostFiles], bool] = lambda own, project: False
    has_instructions: Callable[[HostFiles], bool] = lambda own: False
    is_trusted: Callable[[HostFiles, Collection[str]], bool | None] = lambda own, scopes: None
    trust_step: str = ""
    findings: Findings = no_findings
    runs_twice: bool = True
    starts_server: bool = False
