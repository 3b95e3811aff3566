"""Shared code for installing and uninstalling hosts. Each host's module names the files to change."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palazzo import paths
from palazzo.client import rpc
from palazzo.errors import UsageError
from palazzo.frozen_class import frozen
from palazzo.hosts import entry_matcher, host_files, host_settings, predecessors
from palazzo.hosts.edited_files import Edit
from palazzo.hosts.hook_wiring import PROGRAM, HostHooks, entries, server
from palazzo.hosts.memory_block import BODY
from palazzo.hosts.own_program import found_on_path, is_same_program, own_program
from palazzo.hosts.predecessors import Predecessor

if TYPE_CHECKING:
    from palazzo.hosts.host_files import HostFiles
    from palazzo.hosts.install_plan import InstallPlace

Change = Callable[[str | None], str | None]
HOOKS, SERVER, INSTRUCTIONS = "hooks", "MCP server", "instructions for agents"


@frozen
class Format:
    """How a host stores its MCP servers: as JSON or as TOML."""

    with_server: Callable[[str | None, dict[str, Any]], str]
    remove_servers: Callable[[str | None, Callable[[str, Any], bool]], str | None]
    servers: Callable[[str], list[tuple[str, Any]]]


EVERY_SERVER = Format(
    host_settings.with_server,
    host_settings.without_servers_everywhere,
    lambda text: [(name, entry) for _, name, entry in host_settings.servers_everywhere(text)],
)
"""JSON, with the servers that Claude Code keeps for one project each: other memories register themselves there."""
JSON = Format(
    host_settings.with_server,
    host_settings.without_servers,
    lambda text: [(name, entry) for _, name, entry in host_settings.servers(text)],
)


def scope(context: InstallPlace, project: bool, user: bool) -> Path | None:
    """Return the project's root if its files are meant; None for the person's own files."""
    if project and user:
        raise UsageError("Give --project or --user, not both.")
    if project and str(context.project_root) == paths.DELETED_DIRECTORY:
        raise UsageError(paths.NO_DIRECTORY.format(path="."))
    if project and os.path.realpath(context.project_root) == os.path.realpath(host_files.home(context.variables)):
        raise UsageError(
            "The current directory is your home, which is not a project; leave out --project to change your own files."
        )
    return context.project_root if project else None


def build_install_edits(
    context: InstallPlace, host_spec: HostHooks, files: HostFiles, form: Format, shared: bool
) -> list[Edit]:
    """Return the edits that wire a host; `shared` files name only the program, and nothing of this machine."""
    program = PROGRAM if shared else own_program(context.variables)
    more = [] if shared else palace_option(context)
    optional = ["pre-tool"] if context.settings.flag("events.pre-tool") else []
    hook_groups = entries(host_spec, program, more, optional, "nt" if sys.platform == "win32" else "posix")  # type: ignore[arg-type]
    entry = server(host_spec, program, more)
    return [
        Edit(files.hooks, HOOKS, lambda text: host_settings.with_hooks(text, hook_groups, host_spec), not shared),
        Edit(files.servers, SERVER, lambda text: form.with_server(text, entry), not shared),
        *write_instructions(host_spec.host, files, BODY, shared),
    ]


def write_instructions(host: str, files: HostFiles, body: str, shared: bool) -> list[Edit]:
    """Return the edit that tells the host's agents of the memory; none if the host has no file for that."""
    if files.instructions is None:
        return []
    return [Edit(files.instructions, INSTRUCTIONS, lambda text: host_settings.with_block(text, host, body), not shared)]


def remove_instructions(host: str, files: HostFiles) -> list[Edit]:
    """Return the edit that removes what `write_instructions` wrote."""
    if files.instructions is None:
        return []
    return [Edit(files.instructions, INSTRUCTIONS, lambda text: host_settings.without_block(text, host))]


def build_uninstall_edits(host_spec: HostHooks, files: HostFiles, form: Format) -> list[Edit]:
    """Return the edits that remove everything again."""

    def is_ours(handler: Any) -> bool:
        return entry_matcher.hook(handler, host_spec.host) is not None

    return [
        Edit(files.hooks, HOOKS, lambda text: host_settings.without_hooks(text, is_ours, host_spec.has_comments)),
        Edit(files.servers, SERVER, lambda text: form.remove_servers(text, host_settings.is_our_server)),
        *remove_instructions(host_spec.host, files),
    ]


def add_cleanup(edits: Sequence[Edit], form: Format) -> list[Edit]:
    """Return the edits, each with the removal of predecessors' entries from the same file before it."""
    removals: dict[str, Change] = {
        HOOKS: lambda text: host_settings.without_hooks(text, predecessors.is_hook, has_comments=True),
        SERVER: lambda text: form.remove_servers(text, predecessors.is_server),
        INSTRUCTIONS: predecessors.without_blocks,
    }
    return [Edit(edit.path, edit.what, both(removals[edit.what], edit.change), edit.private) for edit in edits]


def predecessors_in(files: HostFiles, form: Format) -> list[Predecessor]:
    """Return predecessors' entries in a host's files; unreadable files are reported when they are to be changed."""
    predecessor_list: list[Predecessor] = []
    looks: tuple[tuple[Path | None, Callable[[str], list[tuple[str, str]]]], ...] = (
        (files.hooks, predecessors.hooks_in),
        (files.servers, lambda text: predecessors.servers_in(form.servers(text))),
        (files.instructions, predecessors.blocks_in),
    )
    for path, look in looks:
        with contextlib.suppress(ValueError):
            text = "" if path is None else host_files.text_of(path)
            predecessor_list += [Predecessor(name, str(path), label) for name, label in look(text)]
    return predecessor_list


def palace_option(context: InstallPlace) -> list[str]:
    """Return the option for the palace, if a host that passes on few variables would use another one."""
    names = ("HOME", "USERPROFILE", "LOCALAPPDATA", "APPDATA")
    bare = {name: context.variables[name] for name in names if name in context.variables}
    palace_path = str(context.palace_path)
    return [] if palace_path == rpc.chosen_palace(None, bare) else ["--palace", palace_path]


def remarks(context: InstallPlace, shared: bool) -> list[str]:
    """Return what a person should know about the wired program."""
    if shared:
        return [f"These files name only the program '{PROGRAM}', so everyone who works here needs it on PATH."]
    own, shell_program = own_program(context.variables), found_on_path(context.variables)
    if shell_program is not None and not is_same_program(own, str(shell_program)):
        return [f"{own} is wired. Your shell finds another installation first: {shell_program}."]
    return []


def both(first: Change, second: Change) -> Change:
    """Return one change that applies two changes in order."""
    return lambda text: second(first(text))
